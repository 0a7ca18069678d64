"""Sends the vectors of `mmau cosim` to one mutant after another: a single program for all mutants of a design."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cosim.bench.operand_widths import THE_UNITS
from cosim.bench.schedule import schedule
from cosim.bench.scoreboard import Selection
from cosim.bench.stimulus import Specification, specification_of
from cosim.build.errors import SimulationError
from cosim.build.power_up import power_ups
from cosim.build.sources import Sources
from cosim.dut.description import Dut
from cosim.volume.design_plan import write_plan
from cosim.volume.simulation_program import Broken, build_program, run_program
from cosim.volume.vector_files import write_rows
from mmau.mutation.schemata import SELECT
from rtl.designs.design import Design

KILLED, SURVIVED, CRASHED, ENDLESS, NOT_BUILT = "killed", "survived", "crashed", "never ended", "not built"

STANDSTILL = 20
"""Seconds without a step of simulation after which the program reports a standstill."""

PATIENCE = 60.0
"""Seconds after which a run is stopped: a thousand times its usual duration, and long after a standstill is reported."""

STATUS_OF_STOP = {"bench": KILLED, "design": CRASHED, "standstill": ENDLESS}
"""Verdicts on a mutant whose run stopped before its last vector, by cause (native/bench.hpp)."""


@dataclass(frozen=True)
class Verdict:
    """The result of sending the vectors to one mutant.

    Attributes:
        status: `KILLED`: results or the protocol are wrong; `SURVIVED`; `CRASHED`, `ENDLESS`: no result is wrong, but the
            simulation crashed or was ended by the design, or did not end; `NOT_BUILT`: the mutant is no valid Verilog,
            and was not run.
        mismatches: number of differing results; the run continues after them. With few of them, the kill is narrow.
        reason: why a run stopped early, or why a mutant was not built.
    """

    status: str
    mismatches: int = 0
    reason: str = ""


class MutantBench:
    """The program of a design with its mutants, and the vectors.

    Args:
        design: the design of the golden model.
        sources: the sources of the simulator; the top module has the input `mutant`.
        folder: for the program and the vectors.
        vectors, seed, selection: number, seed and selection of the vectors, as for `mmau cosim`.

    Attributes:
        program: the executable. simulations: the simulations of a run; the first one has nearly all vectors.

    Raises:
        SimulationError: Verilator or the compiler fails.
    """

    def __init__(
        self,
        design: Design,
        sources: Sources,
        folder: Path,
        vectors: int,
        seed: int,
        dut: Dut | None = None,
        selection: Selection | None = None,
    ) -> None:
        self.program = build_program(sources, folder)
        results = dut.results if dut else 1
        self._design, self._folder = design, folder
        self._plan = write_plan(design, sources.timing, folder, results, dut.compare if dut else None)
        specification = specification_of(design, results, dut.widths if dut else THE_UNITS)
        self._runs: list[tuple[int, list[str]]] = []
        chosen = selection or Selection()
        self.simulations = power_ups("verilator", sources.timing, vectors, seed)
        for number, part in enumerate(self.simulations):
            rows = write_rows(
                design,
                specification,
                part.vectors,
                part.seed,
                folder / f"rows{number}.bin",
                results=results,
                first=part.first,
                selection=chosen,
            )
            times = schedule(part.seed).write(folder / f"schedule{number}.txt")
            options = ["--rows", str(rows.path), "--schedule", str(times), "--keep", "1", *part.plusargs]
            self._runs += [(rows.vectors, options)] if rows.vectors else []

    def run(self, mutant: int) -> Verdict:
        """All vectors through one mutant; 0 is the design itself."""
        verdicts = [self._simulated(mutant, vectors, options) for vectors, options in self._runs]
        failed = [verdict for verdict in verdicts if verdict.status != SURVIVED]
        killed = [verdict for verdict in failed if verdict.status == KILLED]
        found = next(iter(killed or failed), Verdict(SURVIVED))
        return replace(found, mismatches=sum(verdict.mismatches for verdict in failed))

    def mismatching(self, specification: Specification) -> set[int]:
        """Numbers of the vectors of a specification on which the design itself gives other results."""
        rows = write_rows(self._design, specification, 1, 0, self._folder / "chosen.bin")
        times = self._folder / "schedule0.txt"
        options = [
            "--rows",
            str(rows.path),
            "--schedule",
            str(times),
            "--keep",
            str(rows.vectors),
            *self.simulations[0].plusargs,
        ]
        outcome = run_program(self.program, self._plan, options)
        if isinstance(outcome, Broken):
            raise SimulationError(f"the simulation of chosen vectors broke off: {outcome.how}")
        return {row["vector"] for row in outcome["rows"] if not row["agrees"]}

    def _simulated(self, mutant: int, vectors: int, options: Sequence[str]) -> Verdict:
        limit = _Limit()
        options = [*options, "--standstill", str(STANDSTILL), "--set", f"{SELECT}={mutant:x}"]
        outcome = run_program(self.program, self._plan, options, limit)
        if isinstance(outcome, Broken):
            return Verdict(ENDLESS if limit.reached else CRASHED, reason=outcome.how)
        stopped = outcome["stopped"] or ""
        if stopped and not outcome["mismatches"]:
            return Verdict(STATUS_OF_STOP[outcome["stopped_by"]], reason=stopped)
        faults = outcome["mismatches"] or outcome["surplus"] or outcome["waiting"]
        if faults or outcome["sent"] != vectors or outcome["received"] != vectors:
            return Verdict(KILLED, outcome["mismatches"], stopped)
        return Verdict(SURVIVED)


class _Limit:
    """The time limit of a run."""

    def __init__(self) -> None:
        self._end = time.monotonic() + PATIENCE
        self.reached = False

    def __call__(self) -> bool:
        self.reached = self.reached or time.monotonic() > self._end
        return self.reached
