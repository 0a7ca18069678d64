"""What computes rows of dot products: the Python reference, the native library or a GPU, chosen by name."""
