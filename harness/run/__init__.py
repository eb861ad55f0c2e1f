"""Run cells in processes or on a cluster, and keep each result the moment it is there."""
