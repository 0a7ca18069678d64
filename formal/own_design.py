"""Verilog of one's own equal to the operation of a unit, for every input.

Verilator preprocesses the sources and reads the ports, as it does for co-simulation; Yosys makes a circuit of words and
registers of it (formal/own/reading.py). What it gives for operands becomes a term, by unrolling or by following a handshake
through all its states (transfers.py), and that is compared with the specification of the operation case by case
(deciding.py), by way of the wires that hold values of the specification (sweeping.py).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any, Literal

import numpy as np
from bitwuzla import Term, TermManager

from cosim.bench.stimulus import UnitSpecification
from cosim.dut.connection import Operand, operands_of
from cosim.dut.description import Dut
from formal.evaluation import variables, width
from formal.obligations.units import SPECIFICATIONS, deep_stack, unspecified
from formal.own.agreement import Agreement
from formal.own.asking import Limits
from formal.own.cases import Case, Kept, cases_of
from formal.own.circuit import read_circuit
from formal.own.deciding import Comparison, Decision, Differs
from formal.own.handshake import RESET
from formal.own.reading import NotCompared, read_design
from formal.own.rows import Column
from formal.own.transfers import Transfers, transfers_of
from formal.replay import replayed
from golden import Unit
from rtl.cost.flow import check_tool
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from rtl.verilog.circuit import Circuit, Setting
from rtl.verilog.emit import to_verilog
from rtl.verilog.expressions import NoTerm
from rtl.verilog.netlist import read_netlist
from rtl.verilog.terms import Bits, Terms

ROWS = 2048
"""Rows of operands from which it is guessed which wire holds what."""

SEED = 1

QUESTION = 5.0
"""Seconds of this process for the question whether one wire holds what it seems to."""

Verdict = Literal["equal", "different", "not decided"]

SPECIFICATION, DATAPATH = "the specification of the operation", "the generated datapath"


@dataclass(frozen=True)
class OwnDesign:
    """What came of a comparison.

    Attributes:
        reason: why it is not decided. assumed: of the design's control inputs, where it has any.
        equal_to: what it was compared with. decided: what is decided, and how: protocol and cases.
        decided_by: the solver that said so.
        inputs: where they differ, codes of the operand ports for which they do. got, expected: of d, from a simulation.
        explanation: the mismatch explained, lines for a terminal.
    """

    verdict: Verdict
    reason: str = ""
    assumed: tuple[str, ...] = ()
    equal_to: str = SPECIFICATION
    decided: tuple[str, ...] = ()
    decided_by: str = ""
    inputs: Mapping[str, int] = field(default_factory=dict)
    got: int | str | None = None
    expected: int | None = None
    explanation: tuple[str, ...] = ()


def compare_own(unit: Unit, dut: Dut, seconds: float) -> OwnDesign:
    """Compare a design with the operation of a unit.

    Args:
        seconds: for all of it; what is begun last may take a second longer.

    Raises:
        MissingTool: a program is not installed. ElaborationError: Verilator cannot read the design.
        PortMismatch: its ports do not fit its description. SimulationError: a counter-example cannot be replayed.
    """
    limits = Limits(time.monotonic() + seconds, QUESTION)
    unit = replace(unit, implementation=replace(unit.implementation, stages=0))
    use_packaged_verilator()
    check_tool()
    equal_to = SPECIFICATION if unspecified(unit.operation) is None else DATAPATH
    made = partial(OwnDesign, assumed=tuple(_assumed(dut)), equal_to=equal_to)
    try:
        module = read_design(unit, dut, limits.left)
        with deep_stack() as manager:  # of what is put together nothing may outlive it
            found = _found(manager, unit, dut, module, limits)
    except NotCompared as error:
        return made("not decided", str(error))
    if found.verdict == "never":
        return made("equal", decided=found.decided, decided_by="bitwuzla")
    if found.verdict == "sometimes":
        return _refuted(unit, dut, found.inputs, made)
    return made("not decided", f"not decided in {seconds:g} s: {found.open}", decided=found.decided)


def _assumed(dut: Dut) -> list[str]:
    found, marked = [], dut.protocol in ("valid", "valid-ready")
    if dut.reset is not None:
        first = f" but for {RESET} cycles or more at the start" if marked else ""
        found.append(f"{dut.reset.name} is not active{first}")
    if dut.enable is not None and marked:
        found.append(f"{dut.enable} is 1")
    return found


@dataclass(frozen=True)
class _Found:
    """A decision without terms: they do not outlive their manager. `inputs`: of the operand ports, where results differ."""

    verdict: str
    decided: tuple[str, ...]
    open: str = ""
    inputs: Mapping[str, int] = field(default_factory=dict)


def _found(manager: TermManager, unit: Unit, dut: Dut, module: Mapping[str, Any], limits: Limits) -> _Found:
    terms, problem = Terms(manager), ""
    try:
        operands = operands_of(UnitDesign(unit))
        differs = Agreement(terms, unit.operation, dut.compare).differs
        transfers = transfers_of(terms, read_circuit(terms, module), dut, operands, limits)
        decided = [transfers.how] if transfers.how else []
        for number, got in enumerate(transfers.results):
            for place in range(dut.results):
                one = _comparison(terms, unit, operands, transfers.operands, got, place, dut.results, differs)
                decision = one.decision(limits)
                name = _named(number, len(transfers.results), place, dut.results)
                decided += [f"{name}{each}" for each in decision.decided]
                if decision.verdict == "sometimes":
                    return _Found("sometimes", tuple(decided), inputs=_inputs(decision, transfers))
                if decision.verdict == "unknown":
                    count = f"{len(decision.decided)} of {decision.count} cases are decided; left: "
                    return _Found("unknown", tuple(decided), f"{name}{count}{decision.open}")
        return _Found("never", tuple(decided))
    except NoTerm as error:
        problem = str(error)
    raise NotCompared(problem)


def _named(number: int, transfers: int, place: int, results: int) -> str:
    parts = [f"way {number}"] * (transfers > 1) + [f"result {place}"] * (results > 1)
    return f"{', '.join(parts)}: " if parts else ""


def _inputs(decision: Decision, transfers: Transfers) -> dict[str, int]:
    return {port: decision.values.get(bits.term, 0) for port, bits in transfers.operands.items()}


# 1. what is compared


def _comparison(
    terms: Terms,
    unit: Unit,
    operands: Sequence[Operand],
    ports: Mapping[str, Bits],
    got: Bits,
    place: int,
    results: int,
    differs: Differs,
) -> Comparison:
    """One of the results that come at once."""
    widths = {operand.name: operand.count * operand.width for operand in operands}
    mine = {
        port: terms.part(bits, (place + 1) * widths[port] - 1, place * widths[port]) for port, bits in ports.items()
    }  # fmt: skip
    part = terms.part(got, (place + 1) * widths["d"] - 1, place * widths["d"])
    specified, cases = _specified(terms, unit, mine)
    rows = _rows(unit, results, ports, variables([part.term, specified.term]))
    return Comparison(terms, part, specified, differs, cases, rows)


def _specified(terms: Terms, unit: Unit, ports: Mapping[str, Bits]) -> tuple[Bits, list[Case]]:
    """The specification's result and its cases; of an operation that has none, what the generated datapath gives."""
    if unspecified(unit.operation) is None:
        kept = Kept()
        specified = SPECIFICATIONS[type(unit.operation)](terms, unit.operation, ports, kept)
        return specified, cases_of(terms, kept)
    modules = read_netlist(to_verilog(unit, "unit"))
    inputs = {port: partial(_itself, bits) for port, bits in ports.items()}
    return Circuit(Setting(terms, modules), modules["unit"], inputs).outputs()["d"], [Case("all operands")]


def _itself(bits: Bits) -> Bits:
    return bits


def _rows(unit: Unit, results: int, ports: Mapping[str, Bits], free: Sequence[Term]) -> dict[Term, Column]:
    """Rows of operands as co-simulation makes them; other variables hold anything."""
    transfers = [
        vector.transfers[0] for chunk in UnitSpecification(unit, results).chunks(ROWS, SEED) for vector in chunk.vectors
    ]
    found = {bits.term: _column(transfer[port] for transfer in transfers) for port, bits in ports.items()}
    random = Random(SEED)
    for term in free:
        if term not in found:
            found[term] = _column(random.getrandbits(width(term)) for _ in transfers)
    return found


def _column(values: Any) -> Column:
    listed = list(values)
    column = np.empty(len(listed), dtype=object)
    column[:] = listed
    return column


# 2. what refutes it


def _refuted(unit: Unit, dut: Dut, inputs: Mapping[str, int], made: partial[OwnDesign]) -> OwnDesign:
    """The counter-example, if a simulation shows it: a state from which results differ may be one that is never reached."""
    report = replayed(unit, inputs, dut)
    if not report.differing:
        told = "is not wrong when it is sent alone after a reset: it rests on a state or on other operands"
        return made("not decided", f"the operands that were found: a simulation of them {told}")
    row = report.differing[0]
    lines = () if report.explanation is None else tuple(report.explanation.lines())
    return made("different", decided_by="simulation", inputs=inputs, got=row.got, expected=row.expected, explanation=lines)
