"""The request for a co-simulation: every option beside the design, with the checks of their values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cosim.bench.comparison_rules import Compare
from cosim.bench.operand_widths import THE_UNITS, OperandWidths
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Selection
from cosim.bench.stimulus import specification_of
from cosim.dut.description import Dut
from golden.checks import check_choice
from golden.files import check_output
from rtl.designs.design import Design
from rtl.designs.product_design import ProductDesign

CLASSES_OF = 256
"""Vectors that are generated to find the names of the classes: the largest number of combinations of controls."""

SIMULATORS = ("verilator", "icarus")
"""The simulators of Verilog. VHDL is simulated by `ghdl`."""

MODES = ("cocotb", "volume")
"""How vectors are sent: by a testbench in Python, or by native code, which sends many more in the same time."""


MOST_VECTORS = 10**12
"""Vectors of one run: more would take months even in volume mode."""

MOST_SEED = 2**63
"""Largest seed of native code, which adds the number of a vector to it in 64 bits."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of a co-simulation: stimulus, simulator, files.

    Attributes:
        vectors, seed: number of vectors and seed of the stimulus (golden.stimulus); equal values give equal runs.
        selection: the vectors that are sent; by default all.
        fail_fast: whether the first mismatch ends the run, and in `run_many` all runs.
        simulator: one of `SIMULATORS`.
        mode: "cocotb", or "volume": vectors are generated, sent and compared in native code. The first 20,000 vectors are
            those of a run in cocotb; libmmau generates the others.
        processes: number of processes that send vectors, in volume mode. The report does not depend on it.
        dut: a user design, Verilog that replaces the generated design; None for the generated design.
        work_dir: folder of the build, which remains; `run_many` makes a folder for each design in it, by the design's name.
            None builds in a temporary folder and leaves only the log of a failure.
        waves: path for a waveform (VCD from Verilator, else FST), with a save file for GTKWave beside it; or None.
        strict: whether an output of a user design that is not compared fails the run, unless its description says so.
        rtl_coverage: whether the report contains the executed lines of the Verilog and the bits that changed; with Verilator
            in cocotb only. Verilator's files coverage-0.dat, coverage-1.dat … remain in `work_dir`.
        progress: called with a line of text at every step, or None.

    Raises:
        ValueError: a value out of range, or two that exclude each other.
    """

    vectors: int = 20_000
    seed: int = 0
    selection: Selection = field(default_factory=Selection)
    fail_fast: bool = False
    simulator: str = "verilator"
    mode: str = "cocotb"
    processes: int = 1
    dut: Dut | None = None
    work_dir: Path | None = None
    waves: Path | None = None
    strict: bool = False
    rtl_coverage: bool = False
    progress: Callable[[str], None] | None = None

    @property
    def in_cocotb(self) -> str:
        """The simulator that runs cocotb: GHDL for VHDL, else that of the request."""
        return "ghdl" if self.dut is not None and self.dut.is_vhdl else self.simulator

    @property
    def runs_in(self) -> str:
        """The simulator of the run. Volume mode runs the circuit that GHDL makes of VHDL in Verilator."""
        return self.in_cocotb if self.mode == "cocotb" else self.simulator

    @property
    def results(self) -> int:
        """The number of dot products in a vector."""
        return 1 if self.dut is None else self.dut.results

    @property
    def widths(self) -> OperandWidths:
        """The widths of c and d, where they are not the unit's."""
        return THE_UNITS if self.dut is None else self.dut.widths

    @property
    def compare(self) -> Compare:
        """The permitted differences of results; for a generated design the defaults of `Compare`."""
        return Compare() if self.dut is None else self.dut.compare

    def timing(self, design: Design) -> Timing:
        """How the design is driven: as the description of the user design says, else as a generated one."""
        return Timing.of_design(design) if self.dut is None else self.dut.timing

    def __post_init__(self) -> None:
        check_choice("simulator", self.simulator, SIMULATORS)
        check_choice("mode", self.mode, MODES)
        if self.mode == "volume" and self.simulator != "verilator":
            raise ValueError(
                f"mode 'volume' runs what Verilator compiles, got simulator {self.simulator!r}: leave --sim out"
            )
        if self.dut is not None and self.dut.is_vhdl:
            self._check_vhdl()
        if self.rtl_coverage and (self.mode, self.simulator) != ("cocotb", "verilator"):
            raise ValueError(
                "coverage of the RTL is counted by Verilator in mode 'cocotb', "
                f"got mode {self.mode!r} and simulator {self.simulator!r}: leave --mode and --sim out"
            )
        if self.vectors < 1:
            raise ValueError(f"vectors must be at least 1, got {self.vectors}")
        if self.vectors > MOST_VECTORS:
            raise ValueError(f"vectors must be at most {MOST_VECTORS:,}, got {self.vectors:.3g}")
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")
        if self.mode == "volume" and self.seed > MOST_SEED:
            raise ValueError(f"seed in mode 'volume' must be at most {MOST_SEED}, got {self.seed}")
        if self.waves is not None and not self.waves.absolute().parent.is_dir():
            raise ValueError(f"waves must go into an existing folder, got {self.waves}")
        if self.waves is not None:
            check_output(self.waves)
        if self.work_dir is not None and self.work_dir.exists() and not self.work_dir.is_dir():
            raise ValueError(f"the work directory must be a folder, got {self.work_dir}")
        if self.work_dir is not None and self.dut is not None:
            self._check_sources_outside(self.work_dir.resolve(), self.dut)

    def _check_vhdl(self) -> None:
        if self.simulator != "verilator":
            raise ValueError(f"VHDL is simulated by GHDL, got simulator {self.simulator!r}: leave --sim out")
        if self.rtl_coverage:
            raise ValueError(
                "coverage of the RTL is counted by Verilator, and this design is VHDL: leave --rtl-coverage out"
            )

    @staticmethod
    def _check_sources_outside(work_dir: Path, dut: Dut) -> None:
        """The build writes files of many names (lint.sv, tree.sv …) into its folder."""
        if work_dir in (*(each.resolve() for each in dut.include), *(source.resolve().parent for source in dut.sources)):
            raise ValueError(
                f"the work directory must not be a folder of the design's sources, nor one of include, got {work_dir}: "
                "name another folder"
            )

    def report_progress(self, line: str) -> None:
        """Report a line of progress."""
        if self.progress is not None:
            self.progress(line)

    def check(self, design: Design) -> None:
        """Raise ValueError for a request that does not fit the design."""
        if self.mode == "volume" and self.widths.d is not None:
            raise ValueError("mode 'volume' compares codes of the unit's d, not fixed-point numbers: leave --mode out")
        if self.mode == "volume" and isinstance(design, ProductDesign) and design.unit.sums is not None:
            raise ValueError(
                "mode 'volume' computes steps of an operation, not a program of additions, [sums]: leave --mode out"
            )
        specification = specification_of(design, self.results, self.widths)
        specification.check_count(self.vectors)
        if self.dut is not None:
            for choice in design.choices:
                self.dut.compare.check(choice.unit.operation.d)
            if not design.choices:
                self.dut.compare.check(design.operation.d)
        if not self.selection.is_everything:
            first = next(specification.chunks(min(self.vectors, CLASSES_OF), self.seed))
            self.selection.check([name for rows in first.products for name in rows.classes()], self.vectors)
