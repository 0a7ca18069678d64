"""The command line `mmau`, and jobs, proofs, mutants, probing and exploration above models, datapaths and co-simulation."""

OK, DIFFERED, WRONG_REQUEST, UNDECIDED = 0, 1, 2, 3
"""Exit status: all agreed, or is proved; something differed; the request was wrong, or a tool is missing or failed; no
difference was found, and nothing is proved."""
