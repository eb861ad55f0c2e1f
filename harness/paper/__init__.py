"""Experiments of the paper: its published numbers, ours, and the claims that hold."""
