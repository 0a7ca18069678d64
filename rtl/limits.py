"""What the datapaths can hold: a part of what golden's parameter objects admit."""

from golden.checks import check_int
from golden.operations import TFDPA

L_RANGE = (1, 64)
"""Products of one step."""

F_RANGE = (6, 40)
"""Fractional bits of an aligned term."""


def check_range(operation: TFDPA) -> None:
    """Raise ValueError, naming key, rule and value, for parameters that no datapath is made for."""
    check_int("L of a datapath", operation.L, *L_RANGE)
    check_int("F of a datapath", operation.F, *F_RANGE)
