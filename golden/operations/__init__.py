"""The eight elementary operations, one file each, and their names (paper 000, table 1)."""

from golden.operations.base import Operation
from golden.operations.e_fdpa import EFDPA
from golden.operations.fma import FMA
from golden.operations.ftz_addmul import FTZAddMul
from golden.operations.gst_fdpa import GSTFDPA
from golden.operations.gtr_fdpa import GTRFDPA
from golden.operations.st_fdpa import STFDPA
from golden.operations.t_fdpa import TFDPA
from golden.operations.tr_fdpa import TRFDPA

OPERATIONS: dict[str, type[Operation]] = {
    cls.name: cls for cls in (FMA, FTZAddMul, EFDPA, TFDPA, STFDPA, GSTFDPA, TRFDPA, GTRFDPA)
}

__all__ = [
    "EFDPA",
    "FMA",
    "GSTFDPA",
    "GTRFDPA",
    "OPERATIONS",
    "STFDPA",
    "TFDPA",
    "TRFDPA",
    "FTZAddMul",
    "Operation",
]
