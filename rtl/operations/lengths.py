"""The number of products of a datapath. Golden's parameter objects admit more; this is their only restriction here."""

from golden.checks import check_int
from golden.operations import Operation

L_RANGE = (1, 64)
"""Range of the number of products of one step: the longest published step has 64, and nothing longer has been built and
tested."""


def check_range(operation: Operation) -> None:
    """Raise ValueError, naming key, rule and value, for parameters that no datapath is made for."""
    parameters = operation.parameters()
    for key, lengths in (("L", L_RANGE), ("P", L_RANGE)):
        if key in parameters:
            check_int(f"{key} of a datapath", parameters[key], *lengths)
