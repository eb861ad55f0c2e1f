"""Compares Optuna samplers, study against study, on tabular benchmarks."""
