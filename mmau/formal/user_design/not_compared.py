"""The reason why nothing is decided about a design."""


class NotCompared(Exception):
    """A design that cannot be compared; the message says why."""
