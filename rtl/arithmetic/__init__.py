"""Integer arithmetic below the steps: carry-save trees, reductions, leading zeros."""
