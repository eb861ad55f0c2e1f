"""The method on arrays: labels in, the next candidate out. Nothing here imports Optuna."""
