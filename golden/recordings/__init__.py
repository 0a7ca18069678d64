"""Recorded rows: the .npz files of operands and results, and the index of a folder of them."""
