"""The elementary operations, one file each, and their names.

Eight are those of GPUs (paper 000, table 1), two of RDNA (numerics.md, section 5), three of processors (section 11); MUL,
ADD and CVT are for designs of your own (section 13).
"""

from golden.operations.base import Operation
from golden.operations.cvt import CVT
from golden.operations.e_fdpa import EFDPA
from golden.operations.fma import ADD, FMA, MUL
from golden.operations.ftz_addmul import FTZAddMul
from golden.operations.ftz_eo_fma import FTZEOFMA
from golden.operations.ftz_fma import FTZFMA
from golden.operations.gst_fdpa import GSTFDPA
from golden.operations.gtr_fdpa import GTRFDPA
from golden.operations.idpa import IDPA
from golden.operations.oc_fdpa import OCFDPA
from golden.operations.ps_fdpa import PSFDPA
from golden.operations.st_fdpa import STFDPA
from golden.operations.t_fdpa import TFDPA
from golden.operations.tr_fdpa import TRFDPA

OPERATIONS: dict[str, type[Operation]] = {
    cls.name: cls
    for cls in (
        FMA,
        FTZAddMul,
        EFDPA,
        TFDPA,
        STFDPA,
        GSTFDPA,
        TRFDPA,
        GTRFDPA,
        OCFDPA,
        PSFDPA,
        FTZFMA,
        FTZEOFMA,
        IDPA,
        MUL,
        ADD,
        CVT,
    )
}

__all__ = [
    "ADD",
    "CVT",
    "EFDPA",
    "FMA",
    "FTZEOFMA",
    "FTZFMA",
    "GSTFDPA",
    "GTRFDPA",
    "IDPA",
    "MUL",
    "OCFDPA",
    "OPERATIONS",
    "PSFDPA",
    "STFDPA",
    "TFDPA",
    "TRFDPA",
    "FTZAddMul",
    "Operation",
]
