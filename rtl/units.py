"""Which datapath a unit gets."""

from collections.abc import Callable
from typing import Any

from golden import Implementation, Operation, Unit
from golden.operations import EFDPA, FMA, GSTFDPA, GTRFDPA, STFDPA, TFDPA, TRFDPA, FTZAddMul
from rtl.datapath import Datapath
from rtl.e_fdpa import EFDPADatapath
from rtl.fma import FMADatapath
from rtl.ftz_addmul import FTZAddMulDatapath
from rtl.gst_fdpa import GSTFDPADatapath
from rtl.gtr_fdpa import GTRFDPADatapath
from rtl.limits import check_range
from rtl.st_fdpa import STFDPADatapath
from rtl.t_fdpa import TFDPADatapath
from rtl.tr_fdpa import TRFDPADatapath

DATAPATHS: dict[type[Operation], Callable[[Any, Implementation], Datapath]] = {
    FMA: FMADatapath,
    FTZAddMul: FTZAddMulDatapath,
    EFDPA: EFDPADatapath,
    TFDPA: TFDPADatapath,
    STFDPA: STFDPADatapath,
    GSTFDPA: GSTFDPADatapath,
    TRFDPA: TRFDPADatapath,
    GTRFDPA: GTRFDPADatapath,
}
"""Operation to component."""


def datapath(unit: Unit) -> Datapath:
    """The unit's component.

    Raises:
        ValueError: parameters that the datapath cannot hold.
    """
    check_range(unit.operation)
    return DATAPATHS[type(unit.operation)](unit.operation, unit.implementation)
