"""The items of the list, in their order."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hwtests.nvidia.cupy_device import CudaDevice
from studies.lent_minutes import conversions, instructions, products, timed_again
from studies.lent_minutes.work import Work


class Item(NamedTuple):
    """An item of the list.

    Attributes:
        share: weight of the item when the time is divided among the open items.
        units: the names of its units, in their order. work: opens the item on a device.
    """

    name: str
    share: float
    units: Callable[[], Sequence[str]]
    work: Callable[[CudaDevice], Work]


ITEMS = (
    Item("instructions", 10.0, instructions.units, instructions.Instructions),
    Item("products", 6.0, products.units, products.Products),
    Item("conversions", 1.0, conversions.units, conversions.Conversions),
    Item("timed again", 3.0, timed_again.units, timed_again.TimedAgain),
)
"""The items of the list. A further item needs a line here and the module that it names."""
