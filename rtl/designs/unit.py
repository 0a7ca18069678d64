"""The datapath component of each operation."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from golden import OPERATIONS, Implementation, Operation, Unit
from rtl.datapath.base import Datapath, check_placed
from rtl.operations.lengths import check_range


def _datapath(operation: type[Operation]) -> Callable[[Any, Implementation], Datapath]:
    """The datapath class of an operation: its file has the name of the operation's file, and its name begins with the
    operation's class name."""
    module = import_module(f"rtl.operations.{operation.__module__.rpartition('.')[2]}")
    component: Callable[[Any, Implementation], Datapath] = getattr(module, f"{operation.__name__}Datapath")
    return component


DATAPATHS = {operation: _datapath(operation) for operation in OPERATIONS.values()}
"""Operation class to datapath class."""


def unit_datapath(unit: Unit) -> Datapath:
    """The datapath component of a unit.

    Raises:
        ValueError: parameters that the datapath cannot hold, or a clock for which no stages have been found yet.
    """
    check_placed(unit.implementation)
    check_range(unit.operation)
    return DATAPATHS[type(unit.operation)](unit.operation, unit.implementation)
