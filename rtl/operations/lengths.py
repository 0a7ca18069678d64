"""What a datapath cannot be: of more products, or of E-FDPA with flags. Golden's parameter objects admit more."""

from golden.checks import check_int
from golden.operations import EFDPA, Operation

L_RANGE = (1, 256)
"""Range of the number of products of one step. The longest published step has 64; 128 is proved and co-simulated too."""


def check_range(operation: Operation) -> None:
    """Raise ValueError, naming key, rule and value, for parameters that no datapath is made for."""
    if isinstance(operation, EFDPA) and operation.flags:
        raise ValueError(f"a datapath has flags for FMA, MUL, ADD and CVT; of {operation.name} flags must be false")
    parameters = operation.parameters()
    for key, lengths in (("L", L_RANGE), ("P", L_RANGE)):
        if key in parameters:
            check_int(f"{key} of a datapath", parameters[key], *lengths)
