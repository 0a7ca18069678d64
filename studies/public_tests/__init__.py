"""An audit of eight public tests of matrix products; `make public-tests` writes the page."""
