"""Pages of docs/evidence/explore that answer a question from the results of an example space.

`make answers-round-down` and its like run `mmau explore` on a space of examples/spaces, then `python -m studies.answers`.
"""
