"""Which datapath a unit gets."""

from collections.abc import Callable
from typing import Any

from golden import Implementation, Operation, Unit
from golden.checks import listed
from golden.operations import TFDPA
from rtl.limits import check_range
from rtl.t_fdpa import TFDPADatapath

DATAPATHS: dict[type[Operation], Callable[[Any, Implementation], TFDPADatapath]] = {TFDPA: TFDPADatapath}
"""Operation to component."""


def datapath(unit: Unit) -> TFDPADatapath:
    """The unit's component.

    Raises:
        ValueError: no datapath for the operation, or parameters that it cannot hold.
    """
    component = DATAPATHS.get(type(unit.operation))
    if component is None:
        raise ValueError(
            f"no datapath for operation {unit.operation.name}; there is one for {listed(op.name for op in DATAPATHS)}"
        )
    check_range(unit.operation)
    return component(unit.operation, unit.implementation)
