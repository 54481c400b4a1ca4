"""The `turnfold` command: one module per group of commands, loaded quickly and on top of all else."""
