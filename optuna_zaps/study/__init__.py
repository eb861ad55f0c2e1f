"""Between Optuna and arrays: trials in, observations out; a candidate in, parameters out."""
