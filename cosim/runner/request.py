"""What is asked of a run, and whether it can be done."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cosim.bench.comparison import Compare
from cosim.bench.selection import Selection
from cosim.bench.stimulus import specification_of
from cosim.dut.description import Dut
from cosim.runner.build import SIMULATORS
from golden.checks import check_choice
from golden.files import check_output
from rtl.designs.design import Design

CLASSES_OF = 64
"""Vectors that are generated to know the names of the classes: as many as a datapath has formats at most."""

MODES = ("cocotb", "volume")
"""How vectors are sent: by a testbench in Python, or in native code, many more in the same time."""

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a run, beside the design: the arguments of `run`."""

    vectors: int
    seed: int
    simulator: str
    mode: str
    selection: Selection
    fail_fast: bool
    work_dir: Path | None
    waves: Path | None
    dut: Dut | None
    progress: Progress
    processes: int
    rtl_coverage: bool

    @property
    def results(self) -> int:
        """Dot products that go in and come out at once."""
        return 1 if self.dut is None else self.dut.results

    @property
    def compare(self) -> Compare:
        """What may differ on purpose."""
        return Compare() if self.dut is None else self.dut.compare

    def __post_init__(self) -> None:
        check_choice("simulator", self.simulator, SIMULATORS)
        check_choice("mode", self.mode, MODES)
        if self.mode == "volume" and self.simulator != "verilator":
            raise ValueError(
                f"mode 'volume' runs what Verilator compiles, got simulator {self.simulator!r}: leave --sim out"
            )
        if self.rtl_coverage and (self.mode, self.simulator) != ("cocotb", "verilator"):
            raise ValueError(
                "coverage of the RTL is counted by Verilator in mode 'cocotb', "
                f"got mode {self.mode!r} and simulator {self.simulator!r}: leave --mode and --sim out"
            )
        if self.vectors < 1:
            raise ValueError(f"vectors must be at least 1, got {self.vectors}")
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")
        if self.waves is not None and not self.waves.absolute().parent.is_dir():
            raise ValueError(f"waves must go into an existing folder, got {self.waves}")
        if self.waves is not None:
            check_output(self.waves)
        if self.work_dir is not None and self.work_dir.exists() and not self.work_dir.is_dir():
            raise ValueError(f"the work directory must be a folder, got {self.work_dir}")

    def check(self, design: Design) -> None:
        """Raise ValueError for a request that the design cannot be run with."""
        specification = specification_of(design, self.results)
        specification.check_count(self.vectors)
        if self.dut is not None:
            self.dut.compare.check(design.operation.d)
        if not self.selection.is_everything:
            first = next(specification.chunks(min(self.vectors, CLASSES_OF), self.seed))
            self.selection.check([name for rows in first.products for name in rows.classes()], self.vectors)
