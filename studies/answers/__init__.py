"""Tables of the pages in docs/guides/answers, each computed from the models or counted in results that the project holds.

`python -m studies.answers docs/guides/answers` writes every table between its marks; the text around them is
written by hand.
"""
