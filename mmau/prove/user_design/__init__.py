"""Designs of one's own, proved equal to the operation that they should compute."""
