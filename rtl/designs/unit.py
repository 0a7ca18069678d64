"""The datapath component of each operation."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from golden import OPERATIONS, Operation, Unit
from rtl.datapath.base import Datapath, check_placed
from rtl.operations.lengths import check_range


class _Datapaths(Mapping[type[Operation], Callable[..., Datapath]]):
    """Operation class to datapath class. The datapath's file has the name of the operation's file, and its name begins with
    the operation's class name; it is imported when it is looked up."""

    def __getitem__(self, operation: type[Operation]) -> Callable[..., Datapath]:
        if operation not in OPERATIONS.values():
            raise KeyError(operation)
        module = import_module(f"rtl.operations.{operation.__module__.rpartition('.')[2]}")
        component: Callable[..., Datapath] = getattr(module, f"{operation.__name__}Datapath")
        return component

    def __iter__(self) -> Iterator[type[Operation]]:
        return iter(OPERATIONS.values())

    def __len__(self) -> int:
        return len(OPERATIONS)


DATAPATHS = _Datapaths()
"""Operation class to datapath class."""


def unit_datapath(unit: Unit) -> Datapath:
    """The datapath component of a unit.

    Raises:
        ValueError: parameters that the datapath cannot hold, or a clock for which no stages have been found yet.
    """
    check_placed(unit.implementation)
    if unit.sums is not None:
        from rtl.operations.sums import SumsDatapath  # an operation does without

        return SumsDatapath(unit.operation, unit.sums, unit.usual_K, unit.implementation)
    check_range(unit.operation)
    return DATAPATHS[type(unit.operation)](unit.operation, unit.implementation)
