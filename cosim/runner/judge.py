"""Finds the parts of a report beside its outcome: what was simulated, what other tools may read from it, and, by simulations
with another reset, whether the description of a user design's reset is wrong."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosim.bench.operand_widths import THE_UNITS, OperandWidths
from cosim.bench.scoreboard import Outcome, Selection
from cosim.build.errors import SimulationError
from cosim.build.sources import sources_of
from cosim.dut.generated import GENERATED
from cosim.dut.tool_log import ElaborationError
from cosim.runner.job import Simulated
from cosim.runner.request import Request
from golden.files import temporary_folder
from golden.units.controls import OPERANDS
from rtl.designs.design import Design, operand_names
from rtl.designs.identity import design_key, verilog_digest
from rtl.designs.tile_design import TileDesign

if TYPE_CHECKING:
    from cosim.diagnosis.explain import Explanation
    from cosim.dut.description import Dut, Reset

VECTORS = 1000
"""Number of vectors of a trial. The first reset in the middle of the stream comes within a hundred cycles."""

FEW = 90
"""Vectors of a run without resets: so few that there is one simulation, whose registers begin with random bits."""

SEEDS = 12
"""Number of seeds that are tried without resets: with one of them a register that must begin with 0 does so by chance."""

Send = Callable[[Design, Request, Path], Simulated]
"""Runs a design: `run_in_cocotb` or `run_in_volume`."""


def judged(
    design: Design, request: Request, folder: Path, simulated: Simulated, explanation: "Explanation | None", send: Send
) -> dict[str, Any]:
    """The fields of a report beside the outcome. The files of a user design are read a second time, to check that they still
    say what was simulated, also after they have been read for other readings.

    Raises:
        SimulationError: the files of a user design changed meanwhile.
    """
    found: dict[str, Any] = {"input_bits": input_bits(design, request.results, request.widths)}
    if request.dut is None:
        text = (folder / GENERATED).read_text(encoding="utf-8")
        return found | {"design": design_key(design.as_table()), "verilog": verilog_digest(text)}
    from cosim.lint.lint import other_readings  # a generated design does without

    has_cause = explanation is not None and explanation.has_one_cause
    reset = reset_finding(design, request, simulated.outcome, has_cause, send)
    sources = sources_of(design, request.dut, folder, is_simulated=False)
    if sources.digests != simulated.sources:
        raise SimulationError("the design's files changed while it was simulated: run again")
    found |= {"not_compared": sources.not_compared, "held": dict(sources.held)}
    found |= {"steady": steady_inputs(design, request.dut), "assumed": request.widths.assumed.lines()}
    if request.strict:
        ignored = request.dut.ignore_outputs
        found["required"] = tuple(
            name for name in sources.not_compared if not {name, name.partition("[")[0]} & {*map(str, ignored)}
        )
    found |= {"reset": reset, "other_readings": other_readings(sources, folder, request.runs_in)}
    sources.check_unchanged()
    return found


def steady_inputs(design: Design, dut: "Dut") -> tuple[str, ...]:
    """The inputs that choose the arithmetic and have one value for all transfers of a result, of which there are several."""
    unit = getattr(design, "unit", None)
    if unit is None or dut.beats is None or max(dut.beats.counts) == 1:
        return ()
    return tuple(control.port for control in unit.controls if control.key not in OPERANDS)


def input_bits(design: Design, results: int, widths: OperandWidths = THE_UNITS) -> int:
    """The bits of the operands of one vector, of all transfers of a tile."""
    if not isinstance(design, TileDesign):
        shared = design.shared_inputs
        known = {*operand_names(design)} - {*shared}
        inputs = {port.name: port.width for port in design.ports if port.name in known and port.direction == "input"}
        if "c" in inputs and widths.c_bits is not None:
            inputs["c"] = widths.c_bits
        return results * sum(inputs.values()) + sum(shared.values())
    i = design.instruction
    scales = 0 if i.scale is None or i.block_size is None else (i.m + i.n) * -(-i.k // i.block_size) * i.scale.width
    return i.k * (i.m * i.a.width + i.n * i.b.width) + i.m * i.n * i.c.width + scales


# the reset of a user design


def reset_finding(design: Design, request: Request, outcome: Outcome, has_cause: bool, send: Send) -> str | None:
    """A sentence that names the reset of a user design where its description gives another one; else None.

    A run that failed in a way that a reset can cause is repeated briefly as described, which must fail, and then with each
    other reset; the first that passes is named. A run that passed with a synchronous reset is repeated with an asynchronous
    one, which passes only if the reset acts without a clock edge, where out_valid shows it.

    Args:
        has_cause: whether something else explains the mismatches.
    """
    dut = request.dut
    if dut is None or dut.reset is None or request.vectors < VECTORS or not request.selection.is_everything:
        return None
    trial = _Trial(design, request, send)
    if outcome.passed:
        shows = "out_valid" in dut.timing.controls and not dut.is_adapted and not dut.reset.asynchronous
        if shows and trial.passes(replace(dut, reset=replace(dut.reset, asynchronous=True))):
            return f"{dut.reset.name} acts without a clock edge too: the reset is asynchronous, not synchronous as described"
        return None
    if not _may_be_a_reset(outcome, has_cause) or trial.passes(dut):
        return None
    for words, other in _others(dut, dut.reset):
        if trial.passes(other):
            return f"{words}: with that reset {VECTORS:,} vectors pass, but as described they fail"
    inside = outcome.surplus or "during a reset" in (outcome.stopped or "")
    return _without_resets(trial, request.seed, dut, dut.reset) if inside else None


def _without_resets(trial: "_Trial", seed: int, dut: "Dut", reset: "Reset") -> str | None:
    """A sentence if the design passes only when it is never reset, with the same bits at power-up; else None."""
    never = replace(dut, reset=None, tie={**dut.tie, reset.name: int(reset.active == "low")})
    for number in random.Random(seed).sample(range(1 << 30), SEEDS):  # neighbours give registers much the same bits
        if trial.passes(never, FEW, number) and not trial.passes(dut, FEW, number):
            passes = f"as long as {reset.name} is never asserted, {FEW} vectors pass, but as described they fail"
            return f"{passes}: a reset does not empty it"
    return None


def _may_be_a_reset(outcome: Outcome, has_cause: bool) -> bool:
    """Whether results are missing, surplus or undefined, or the run broke off, or most results differ without a cause."""
    counts = outcome.stopped is not None or outcome.surplus or outcome.waiting or outcome.received != outcome.sent
    undefined = any(isinstance(row.got, str) for row in outcome.differing)
    return bool(counts or undefined or (2 * outcome.mismatches > outcome.received and not has_cause))


def _others(dut: "Dut", reset: "Reset") -> "Iterator[tuple[str, Dut]]":
    """Each other description of the reset that is tried, with what it says."""
    name, active = reset.name, "low" if reset.active == "high" else "high"
    kinds = ("synchronous", "asynchronous")
    kind, own = kinds[not reset.asynchronous], kinds[reset.asynchronous]
    polarity = replace(reset, active=active)
    yield f"{name} is active {active}, not {reset.active}", replace(dut, reset=polarity)
    other_kind = replace(reset, asynchronous=not reset.asynchronous)
    yield f"{name} is {kind}, not {own}", replace(dut, reset=other_kind)
    both = replace(polarity, asynchronous=not reset.asynchronous)
    yield f"{name} is active {active} and {kind}, not {reset.active} and {own}", replace(dut, reset=both)


class _Trial:
    """Short simulations of a design, which report no progress and leave no files."""

    def __init__(self, design: Design, request: Request, send: Send) -> None:
        self._design, self._send = design, send
        self._request = replace(
            request, vectors=VECTORS, selection=Selection(), fail_fast=True, work_dir=None, waves=None, rtl_coverage=False,
            progress=None, processes=1,
        )  # fmt: skip

    def passes(self, dut: "Dut", vectors: int = VECTORS, seed: int | None = None) -> bool:
        """Whether a short run passes with this description; None for the seed of the request."""
        changes: dict[str, Any] = {"dut": dut, "vectors": vectors, "seed": self._request.seed if seed is None else seed}
        try:
            with temporary_folder("mmau-cosim-") as folder:
                return self._send(self._design, replace(self._request, **changes), Path(folder)).outcome.passed
        except (ElaborationError, SimulationError):
            return False
