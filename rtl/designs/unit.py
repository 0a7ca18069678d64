"""The datapath of each operation."""

from collections.abc import Callable
from typing import Any

from golden import Implementation, Operation, Unit
from golden.operations import (
    EFDPA,
    FMA,
    FTZEOFMA,
    FTZFMA,
    GSTFDPA,
    GTRFDPA,
    IDPA,
    OCFDPA,
    PSFDPA,
    STFDPA,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)  # fmt: skip
from rtl.datapath.base import Datapath, check_placed
from rtl.operations.e_fdpa import EFDPADatapath
from rtl.operations.fma import FMADatapath
from rtl.operations.ftz_addmul import FTZAddMulDatapath
from rtl.operations.ftz_eo_fma import FTZEOFMADatapath
from rtl.operations.ftz_fma import FTZFMADatapath
from rtl.operations.gst_fdpa import GSTFDPADatapath
from rtl.operations.gtr_fdpa import GTRFDPADatapath
from rtl.operations.idpa import IDPADatapath
from rtl.operations.lengths import check_range
from rtl.operations.oc_fdpa import OCFDPADatapath
from rtl.operations.ps_fdpa import PSFDPADatapath
from rtl.operations.st_fdpa import STFDPADatapath
from rtl.operations.t_fdpa import TFDPADatapath
from rtl.operations.tr_fdpa import TRFDPADatapath

DATAPATHS: dict[type[Operation], Callable[[Any, Implementation], Datapath]] = {
    FMA: FMADatapath,
    FTZAddMul: FTZAddMulDatapath,
    EFDPA: EFDPADatapath,
    TFDPA: TFDPADatapath,
    STFDPA: STFDPADatapath,
    GSTFDPA: GSTFDPADatapath,
    TRFDPA: TRFDPADatapath,
    GTRFDPA: GTRFDPADatapath,
    OCFDPA: OCFDPADatapath,
    PSFDPA: PSFDPADatapath,
    FTZFMA: FTZFMADatapath,
    FTZEOFMA: FTZEOFMADatapath,
    IDPA: IDPADatapath,
}
"""Operation to component."""


def unit_datapath(unit: Unit) -> Datapath:
    """The unit's component.

    Raises:
        ValueError: parameters that the datapath cannot hold, or a clock whose stages are still to be found.
    """
    check_placed(unit.implementation)
    check_range(unit.operation)
    return DATAPATHS[type(unit.operation)](unit.operation, unit.implementation)
