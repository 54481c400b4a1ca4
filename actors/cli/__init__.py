"""The `turnfold` command: a module for each group of commands, on top of everything else."""
