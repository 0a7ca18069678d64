"""What a datapath cannot be: of more products, or with flags of a sum of few bits. Golden's parameter objects admit more."""

from golden.checks import check_int
from golden.operations import EFDPA, Operation

L_RANGE = (1, 256)
"""Range of the number of products of one step. The longest published step has 64; 128 is proved and co-simulated too."""


def check_range(operation: Operation) -> None:
    """Raise ValueError, naming key, rule and value, for parameters that no datapath is made for."""
    if isinstance(operation, EFDPA) and operation.flags:
        bits, least = operation.sum_bits, operation.conversion.rounding_format.man_bits + 3
        if bits < least:
            raise ValueError(f"flags of a datapath of E-FDPA need a sum of at least {least} bits, got {bits}")
    parameters = operation.parameters()
    for key, lengths in (("L", L_RANGE), ("P", L_RANGE)):
        if key in parameters:
            check_int(f"{key} of a datapath", parameters[key], *lengths)
