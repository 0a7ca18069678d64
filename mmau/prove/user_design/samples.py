"""Sample vectors in a simulation: before a proof gives up on a design, and before it says that one is right.

The simulation reads the design by itself. So a text that Yosys and Verilator read differently is not called right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cosim.bench.mismatch import ComparedRow
from cosim.bench.stimulus import specification_of
from cosim.build.errors import SimulationError
from cosim.build.power_up import power_ups
from cosim.dut.connection import operands_of
from cosim.dut.description import Dut
from cosim.dut.reference import reference_of
from cosim.runner.report import Report
from cosim.runner.run import run
from cosim.volume.decoded_vectors import Decoder
from golden import Unit
from mmau.prove.counterexample import replayed, row_of
from mmau.prove.decision import OPEN, PROVED, REFUTED, UserDesignDecision, WrongCycles, WrongResult
from rtl.designs.design import Design
from rtl.designs.ports import step_operands
from rtl.designs.unit_design import as_design

VECTORS = 400
"""Number of sample vectors, which have seed 0."""

MANY = 1_000_000
"""Number of vectors that are simulated in native code before a hard question goes to a solver: a second or two."""

CHANGED = "the design's files changed: what was simulated is not what was read; prove it again"

Transfer = Mapping[str, int]
"""The codes of the operand ports, packed."""


def sampled(unit: Unit, dut: Dut, found: UserDesignDecision) -> UserDesignDecision:
    """A decision that is not refuted, after a simulation of sample vectors: refuted if one of them shows a fault.

    Raises:
        MissingTool: a program is not installed.
    """
    unit = replace(unit, implementation=unit.implementation.combinational)
    try:
        report = run(unit, vectors=VECTORS, dut=dut)
    except SimulationError as error:
        reason = f"{found.reason}; " if found.reason else ""
        return replace(found, verdict=OPEN, reason=f"{reason}it cannot be simulated: {error}")
    if found.sources and not is_of(report, found):
        return replace(found, verdict=OPEN, reason=CHANGED)
    found = replace(found, sources=report.sources)
    if report.passed:
        agree = f"{VECTORS} sample vectors in simulation agree"
        if found.verdict == PROVED:
            return replace(found, decided=(*found.decided, agree))
        return replace(found, reason=f"{found.reason}; {agree}")
    if found.verdict == PROVED:
        simulator = "GHDL" if dut.is_vhdl else "Verilator"
        found = replace(
            found,
            reason=f"the circuit that Yosys reads is proved, but a simulation of the text by {simulator} shows a fault: "
            "the two read it differently, or the fault is in what the proof takes for granted",
        )
    return replace(found, verdict=REFUTED, decided_by="simulation", counterexample=_shown(unit, dut, report))


def first_wrong(unit: Unit, dut: Dut, cycles: int = 1) -> Transfer | None:
    """The operands of the first of many vectors for which a simulation in native code shows a wrong result; None if there is
    none, if it cannot be simulated, if several results come at once, or if they are more than steps.

    Args:
        cycles: most cycles between operands and result; of a design that takes more, fewer vectors are simulated.

    Raises:
        MissingTool: a program is not installed.
    """
    if dut.results > 1 or dut.has_product:
        return None
    design = reference_of(as_design(replace(unit, implementation=unit.implementation.combinational)), dut)
    try:
        report = run(design, vectors=max(VECTORS, MANY // cycles), mode="volume", dut=dut, fail_fast=True)
    except SimulationError:
        return None  # the sample vectors say so
    if not report.differing:
        return None
    row = report.differing[0]
    found = {operand.name: 0 for operand in operands_of(design, dut.widths) if operand.direction == "input"}
    widths = {port.name: port.width // port.count for port in design.ports}
    found |= {port: sum(code << k * widths[port] for k, code in enumerate(codes)) for port, codes in row.ports.items()}
    codes = {"a": row.a, "b": row.b, "c": (row.c,), "scale_a": row.scale_a or (), "scale_b": row.scale_b or ()}
    for choice in design.choices:
        if choice.name == row.products:
            found |= choice.codes
            for operand, elements in step_operands(choice.unit.operation).items():
                if operand != "d" and operand not in row.ports:
                    source, kind = choice.source(operand), elements.format
                    sent = [code ^ kind.negative_zero * source.is_negated for code in codes[operand]]
                    found[source.port] = sum(code << k * kind.width for k, code in enumerate(sent))
    return found


def is_of(report: Report, found: UserDesignDecision) -> bool:
    """Whether the files that were simulated are those that were read. Other macros may include further files."""
    both = report.sources.keys() & found.sources.keys()
    return bool(both) and all(report.sources[path] == found.sources[path] for path in both)


def _shown(unit: Unit, dut: Dut, report: Report) -> WrongResult | WrongCycles:
    """The first wrong result with its operands, and those beside them if it is right without them; or what else is wrong."""
    if not report.differing:
        return WrongCycles(report.failures)
    row = report.differing[0]
    design = reference_of(as_design(unit), dut)
    before, sent, after = _neighbours(design, dut, row)
    alone = replayed(unit, sent, dut)
    if alone.differing:
        first = alone.differing[0]
        explanation = () if alone.explanation is None else alone.explanation.lines()
        return WrongResult(sent, first.got, first.expected, explanation)
    lines = [] if row.a else [f"{row.products}, which is what differs"]
    lines += ["sent alone after a reset, these operands give the right result; among other vectors they do not"]
    for name, other in (("before", before), ("after", after)):
        if other is not None:
            is_its = dut.results == 1 and not dut.has_product and _result(design, other) == row.got
            lines.append(f"the operands {name} them{', whose result this is' if is_its else ''}: {_text(other)}")
    return WrongResult(sent, row.got, row.expected, [*lines, *_as_a_pair(unit, dut, before, sent, after)])


def _as_a_pair(unit: Unit, dut: Dut, before: Transfer | None, sent: Transfer, after: Transfer | None) -> list[str]:
    """The lines about what a simulation of two transfers alone shows; none where both results are right."""
    pairs = [(before, sent)] if before is not None else []
    for given in [*pairs, (sent, after)] if after is not None else pairs:
        report = replayed(unit, given, dut)
        if report.differing:
            row = report.differing[0]
            which = ("first", "second")[row.vector]
            got = row.got if isinstance(row.got, str) else f"{row.got:#x}"
            return [
                "a result depends on other operands than its own: these two alone, one after the other, give for the "
                f"{which} {got}, not {row.expected:#x}: {'; then '.join(map(_text, given))}"
            ]
    return []


def _result(design: Design, transfer: Transfer) -> int:
    """Golden's d for a transfer."""
    (element,) = Decoder(design, 1, {0: ""}).vector(row_of(design, 0, transfer)).elements
    return element.products.expected[element.row]


def _neighbours(design: Design, dut: Dut, row: ComparedRow) -> tuple[Transfer | None, Transfer, Transfer | None]:
    """The operands of the vector before a row's, of its own, and of the one after it."""
    parts = power_ups("ghdl" if dut.is_vhdl else "verilator", dut.timing, VECTORS, 0)
    part = next(part for part in reversed(parts) if part.first <= row.vector)
    chunks = specification_of(design, dut.results, dut.widths).chunks(part.vectors, part.seed)
    sent: Sequence[Transfer] = [vector.transfers[0] for chunk in chunks for vector in chunk.vectors]
    place = row.vector - part.first
    return sent[place - 1] if place else None, sent[place], sent[place + 1] if place + 1 < len(sent) else None


def _text(transfer: Transfer) -> str:
    return ", ".join(f"{port}={code:#x}" for port, code in transfer.items())
