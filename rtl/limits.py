"""What the datapaths can hold: a part of what golden's parameter objects admit."""

from golden.checks import check_int
from golden.operations import Operation

L_RANGE = (1, 64)
"""Products of one step."""

F_RANGE = (6, 40)
"""Fractional bits of an aligned term."""


def check_range(operation: Operation) -> None:
    """Raise ValueError, naming key, rule and value, for parameters that no datapath is made for."""
    parameters = operation.parameters()
    for key, limits in (("L", L_RANGE), ("P", L_RANGE), ("F", F_RANGE), ("F2", F_RANGE)):
        if key in parameters:
            check_int(f"{key} of a datapath", parameters[key], *limits)
