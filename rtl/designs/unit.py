"""The datapath of each operation."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from golden import OPERATIONS, Implementation, Operation, Unit
from rtl.datapath.base import Datapath, check_placed
from rtl.operations.lengths import check_range


def _datapath(operation: type[Operation]) -> Callable[[Any, Implementation], Datapath]:
    """The component of an operation, whose file has the name of the operation's and whose class that of its class."""
    module = import_module(f"rtl.operations.{operation.__module__.rpartition('.')[2]}")
    component: Callable[[Any, Implementation], Datapath] = getattr(module, f"{operation.__name__}Datapath")
    return component


DATAPATHS = {operation: _datapath(operation) for operation in OPERATIONS.values()}
"""Operation to component."""


def unit_datapath(unit: Unit) -> Datapath:
    """The unit's component.

    Raises:
        ValueError: parameters that the datapath cannot hold, or a clock whose stages are still to be found.
    """
    check_placed(unit.implementation)
    check_range(unit.operation)
    return DATAPATHS[type(unit.operation)](unit.operation, unit.implementation)
