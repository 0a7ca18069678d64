"""The items of the list, in their order."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from hwtests.nvidia.cupy_device import CudaDevice
from studies.lent_minutes import conversions, instructions, models, products
from studies.lent_minutes.work import ARCH, Entry, Progress, Work
from studies.microbenchmarks.run import Measured, benchmarks, measure, timer_on
from studies.microbenchmarks.timed_loops import Benchmark


@cache
def _benchmarks() -> dict[str, Benchmark]:
    """The loops, loads first: a figure of these was above what the banks of shared memory can give."""
    return {b.name: b for b in sorted(benchmarks(ARCH), key=lambda b: b.unit != "bytes")}


def timed_units() -> Sequence[str]:
    """The names of all timed loops."""
    return list(_benchmarks())


class TimedAgain:
    """The item on a device."""

    def __init__(self, device: CudaDevice) -> None:
        self._timer = timer_on(device)

    def do(self, unit: str, entry: Entry, progress: Progress) -> Entry:
        """Measure every point of a loop that is not measured yet."""
        points = [Measured(*point) for point in entry.get("points", [])]
        benchmark = _benchmarks()[unit]
        for point in measure(benchmark, self._timer, points):
            points.append(point)
            if point.warps == benchmark.warps[-1]:
                progress.report({"status": "running", "points": points})
        return {"status": "done", "points": points}


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
    Item("models", 4.0, models.units, models.Models),
    Item("timed again", 3.0, timed_units, TimedAgain),
)
"""The items of the list. A further item needs a line here and the module that it names."""
