"""A small transformer, its weights drawn from a seed, under several arithmetics; `make model` writes the page."""
