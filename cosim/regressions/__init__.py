"""Lists of designs for regressions."""
