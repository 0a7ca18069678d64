"""The device interface of the job, beyond conformance: instructions outside the catalogue, timed loops, compiling ahead."""

from typing import Any, Protocol

from golden.stimulus import Tiles
from hwtests.device import Device
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.nvidia.sparse_and_integer import MatrixInstruction
from studies.h200.prebuild import prebuild, sources
from studies.microbenchmarks.run import timer_on
from studies.microbenchmarks.timed_loops import Benchmark
from studies.sparse_and_integer.__main__ import Ran, run_on


class Bench(Device, Protocol):
    """A device with everything that the job does on it."""

    def prebuild(self, seconds: float) -> int:
        """Compile what the job will need, for so long at most; returns how many kernels."""

    def run(self, instruction: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        """An instruction outside the catalogue on tiles."""

    def cycles(self, benchmark: Benchmark, ilp: int, warps: int) -> list[int]:
        """Cycles of each warp for the turns of a timed loop. Raises ValueError (PointError) where it cannot run."""


class CudaBench(CudaDevice):
    """The CUDA device of this machine."""

    def __init__(self) -> None:
        super().__init__()
        self.run = run_on(self)
        self.cycles = timer_on(self)

    def prebuild(self, seconds: float) -> int:
        """On all cores, into the folder that MMAU_CUBINS names."""
        return prebuild(sources(self.arch), seconds)
