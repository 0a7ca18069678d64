"""Item 5: the timed loops again, of which some were measured too fast: a block's work is divided by its slowest warp."""

from collections.abc import Sequence
from functools import cache

from hwtests.nvidia.cupy_device import CudaDevice
from studies.lent_minutes.work import ARCH, Entry, Progress
from studies.microbenchmarks.run import Measured, benchmarks, measure, timer_on
from studies.microbenchmarks.timed_loops import Benchmark


@cache
def _benchmarks() -> dict[str, Benchmark]:
    """The loops, loads first: a figure of these was above what the banks of shared memory can give."""
    return {b.name: b for b in sorted(benchmarks(ARCH), key=lambda b: b.unit != "bytes")}


def units() -> Sequence[str]:
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
