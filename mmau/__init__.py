"""The command line `mmau`, a module a command; each imports the packages that it needs when it runs."""

OK, DIFFERED, WRONG_REQUEST = 0, 1, 2
"""Exit status: all agreed; something differed; the request was wrong or a tool is missing or failed."""
