"""The measurements: vectors in a second, and seconds to the first vector."""

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import specification_of
from cosim.build.build import build
from cosim.build.cache import TIMESCALE
from cosim.build.errors import SimulationError
from cosim.build.sources import sources_of
from cosim.runner.run import run
from cosim.volume.design_plan import write_plan
from cosim.volume.simulation_program import Broken, build_program, run_program
from cosim.volume.vector_files import write_rows
from golden import Unit
from golden.processes import run_tool
from rtl.designs.unit_design import UnitDesign
from studies.cosim_speed.empty_loop import VARIABLE

NATIVE_VECTORS = 2_000_000
COCOTB_VECTORS = 20_000
TURNS = 3
"""Each is measured so often, in turns, and the best counts: others on the machine make a program slower, never faster."""


LEAST_SHARE = 0.5
"""Of the vectors in a second of the same simulator with nothing to do, what a mode must reach."""

MOST_SECONDS = {"with an empty cache": 10.0, "with the model cached": 2.0}
"""From the start of `mmau cosim` to the end of a run of one vector."""


@dataclass(frozen=True)
class Speed:
    """Vectors in a second of one unit.

    Attributes:
        bare, volume: the Verilated design alone, and volume mode on one core, stimulus and golden model included.
        empty, cocotb: a loop in cocotb that drives the operand ports and reads d, and cocotb mode, golden's share aside.
        golden: golden's share of cocotb mode: stimulus, expected results, and the coverage of their steps.
    """

    unit: str
    bare: float
    volume: float
    empty: float
    cocotb: float
    golden: float

    def lines(self) -> list[str]:
        """For a terminal."""
        return [
            self.unit,
            *(_ratio(of, bound, what, rate) for of, bound, what, rate in self._compared()),
            f"  {'golden model':<20}{self.golden:12,.0f} vectors/s",
        ]

    def missed(self) -> list[str]:
        """The bars that are missed, one a line."""
        return [
            f"{self.unit}: {what} reaches {rate / bound:.3f} of the {of}, must be at least {LEAST_SHARE}"
            for of, bound, what, rate in self._compared()
            if rate < LEAST_SHARE * bound
        ]

    def _compared(self) -> list[tuple[str, float, str, float]]:
        """The baseline of each mode, its vectors per second, the mode, and the vectors per second of the mode."""
        return [
            ("bare Verilator loop", self.bare, "volume mode", self.volume),
            ("empty cocotb loop", self.empty, "cocotb mode", self.cocotb),
        ]


@dataclass(frozen=True)
class FirstVector:
    """Seconds from the start of `mmau cosim` to the end of a run of one vector, in a mode.

    Attributes:
        cold: with an empty cache. cached: with the model cached.
    """

    mode: str
    cold: float
    cached: float

    def line(self) -> str:
        """For a terminal."""
        return f"{self.mode} mode, one vector: " + ", ".join(f"{took:.1f} s {how}" for how, took, _ in self._compared())

    def missed(self) -> list[str]:
        """The bars that are missed, one a line."""
        return [
            f"{self.mode} mode: one vector takes {took:.2f} s {how}, must be at most {most} s"
            for how, took, most in self._compared()
            if took > most
        ]

    def _compared(self) -> list[tuple[str, float, float]]:
        """The state of the cache, the measured seconds, and their limit."""
        return [(how, took, most) for (how, most), took in zip(MOST_SECONDS.items(), (self.cold, self.cached), strict=True)]


def _ratio(of: str, bound: float, what: str, rate: float) -> str:
    return f"  {of:<20}{bound:12,.0f} vectors/s    {what:<12}{rate:12,.0f} vectors/s    {rate / bound:.2f} of it"


def speed_of(unit: Unit) -> Speed:
    """All of them: what is compared takes turns.

    Raises:
        SimulationError: a simulation fails.
    """
    with tempfile.TemporaryDirectory(prefix="mmau-speed-") as temporary:
        bare, volume = _native(unit, Path(temporary))
        empty, cocotb = _cocotb(unit, Path(temporary))
    return Speed(unit.name, bare, volume, empty, cocotb, _golden(unit))


def first_vector(arguments: list[str], mode: str) -> FirstVector:
    """A run of one vector with an empty cache, and once more.

    Raises:
        SimulationError: it fails.
    """
    found = []
    with tempfile.TemporaryDirectory(prefix="mmau-speed-") as cache:
        for _ in range(2):
            started = time.perf_counter()
            command = [sys.executable, "-m", "mmau", "cosim", *arguments, "--vectors", "1", "--mode", mode]
            result = run_tool(command, env=os.environ | {"XDG_CACHE_HOME": cache})
            if result.returncode:
                raise SimulationError(f"{' '.join(command)} ended with status {result.returncode}: {result.stderr}")
            found.append(time.perf_counter() - started)
    return FirstVector(mode, *found)


def _native(unit: Unit, folder: Path) -> tuple[float, float]:
    design = UnitDesign(unit)
    sources = sources_of(design, None, folder)
    program, plan = build_program(sources, folder), write_plan(design, sources.timing, folder, seed=0)
    rows = write_rows(design, specification_of(design), COCOTB_VECTORS, 0, folder / "rows.bin").path
    at_random = "+verilator+rand+reset+2"
    bare = ["--rows", str(rows), "--bare", str(NATIVE_VECTORS), at_random]
    volume = ["--vectors", str(NATIVE_VECTORS), "--seed", "0", "--mostly-at-speed", at_random]
    best = {"bare": float("inf"), "volume": float("inf")}
    for _ in range(TURNS):
        for name, arguments in (("bare", bare), ("volume", volume)):
            outcome = run_program(program, plan, arguments)
            if isinstance(outcome, Broken) or outcome.get("mismatches") or outcome.get("stopped"):
                raise SimulationError(f"{unit.name}: the {name} loop failed: {outcome}")
            best[name] = min(best[name], outcome["seconds"])
    return NATIVE_VECTORS / best["bare"], NATIVE_VECTORS / best["volume"]


def _cocotb(unit: Unit, folder: Path) -> tuple[float, float]:
    design = UnitDesign(unit)
    built = build("verilator", sources_of(design, None, folder), folder, False, False)
    job, result = folder / "empty.json", folder / "empty.seconds"
    content = {"design": design.as_table(), "vectors": COCOTB_VECTORS, "seed": 0, "result": str(result)}
    job.write_text(json.dumps(content), encoding="utf-8")
    empty, cocotb = [], []
    for _ in range(TURNS):
        built.runner.test(
            test_module="studies.cosim_speed.empty_loop",
            hdl_toplevel=built.sources.top,
            hdl_toplevel_lang="verilog",
            build_dir=folder / "build",
            test_dir=folder,
            results_xml=str(folder / "empty.xml"),
            extra_env={VARIABLE: str(job)},
            timescale=TIMESCALE,
            log_file=folder / "empty.log",
        )
        empty.append(COCOTB_VECTORS / float(json.loads(result.read_text(encoding="utf-8"))))
        report = run(unit, vectors=COCOTB_VECTORS)
        if not report.passed:
            raise SimulationError(f"{unit.name}: {report.failures[0]}")
        cocotb.append(report.vectors_per_second)
    return max(empty), max(cocotb)


def _golden(unit: Unit) -> float:
    found = []
    for _ in range(TURNS):
        board = Scoreboard(specification_of(UnitDesign(unit)), COCOTB_VECTORS, seed=0)
        for vector in board.vectors():
            board.send(vector)
            (element,) = vector.elements
            board.receive(element.products.expected[element.row])
        if board.failures:
            raise SimulationError(f"{unit.name}: {board.failures[0]}")
        found.append(COCOTB_VECTORS / board.golden_seconds)
    return max(found)
