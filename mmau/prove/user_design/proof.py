"""The proof that a user design equals the operation of a unit for every input.

Verilator preprocesses the sources and reads the ports, as for co-simulation; Yosys translates the design into a circuit of
words and registers (reading.py). Its result becomes a term of the operands, by unrolling or by exploring all states of the
handshake (transfers.py). That term is compared with the specification of the operation case by case (deciding.py), along
the wires that hold values of the specification (sweeping.py).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from random import Random
from typing import Any

import numpy as np
from bitwuzla import Kind, Term, TermManager

from cosim.bench.comparison_rules import Compare, is_hexadecimal
from cosim.bench.stimulus import UnitSpecification
from cosim.dut.connection import Operand, operands_of
from cosim.dut.description import Dut
from golden import Operation, Unit
from golden.arrays import bits_dtype
from mmau.prove.datapath.unit_questions import SPECIFICATIONS, unspecified
from mmau.prove.deadline import Report, ignored
from mmau.prove.decision import DATAPATH, OPEN, PROVED, REFUTED, SPECIFICATION, UserDesignDecision, WrongResult
from mmau.prove.evaluation import variables, width
from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.replay import replayed
from mmau.prove.smtlib import question
from mmau.prove.user_design.asking import Limits, NotCompared
from mmau.prove.user_design.deciding import Comparison, Decision, Differs
from mmau.prove.user_design.handshake import RESET, Explored, Handshake
from mmau.prove.user_design.machine import Machine
from mmau.prove.user_design.operand_cases import Case, CaseParts, cases_of
from mmau.prove.user_design.reading import Reading, read_design
from mmau.prove.user_design.row_evaluation import Column
from mmau.prove.user_design.samples import CHANGED, first_wrong, is_of, sampled
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from rtl.verilog.emit import to_verilog


@dataclass(frozen=True)
class Transfers:
    """The result of one transfer.

    Attributes:
        operands: variables of the operand ports. results: the terms of port d for them, without repetition.
        how: the protocol that relates results to operands, for a report.
    """

    operands: Mapping[str, Bits]
    results: Sequence[Bits]
    how: str


def transfers_of(terms: Terms, module: Module, dut: Dut, operands: Sequence[Operand], limits: Limits) -> Transfers:
    """The results of a design for all operands.

    Raises:
        NoTerm: a statement that has no term, or a loop.
        NotCompared: an enable that does not stop the design, a handshake that breaks its protocol, or one with too many
            states for the time limit.
    """
    anything = list[Bits]()
    circuit = FlatNetlist(terms, {module.name: module}, module.name, undefined=anything)
    machine = Machine(terms, circuit, anything)
    ports = [operand.name for operand in operands if operand.direction == "input"]
    given = {port: circuit.inputs[port] for port in ports}
    controls = {"rst": terms.number(0, 1), "en": terms.number(1, 1)}
    if dut.enable is not None:
        _check_stops(terms, machine, controls, dut.enable)
    if dut.protocol in ("combinational", "fixed-latency"):
        state, inputs = machine.start, {**given, **controls}
        for number in range(dut.latency):
            if limits.over:
                raise NotCompared(f"{number} of {dut.latency} cycles were unrolled in time")
            state, inputs = machine.cycle(state, inputs).after(), controls
        how = f"{dut.latency} cycles unrolled" if dut.latency else ""
        last = {"rst": controls["rst"]} if dut.latency else inputs
        return Transfers(given, [machine.cycle(state, last).output("d")], how)
    explored = Handshake(terms, machine, circuit, dut.protocol, given, controls).explored(limits)
    return Transfers(given, explored.results, exploration_text(explored))


def _check_stops(terms: Terms, machine: Machine, controls: Mapping[str, Bits], enable: str) -> None:
    """Check that no register changes while the enable is low, so that such cycles have no effect.

    Raises:
        NotCompared: a register may change.
    """
    after = machine.cycle(machine.start, {**controls, "en": terms.number(0, 1)}).after()
    if any(after[name] != held for name, held in machine.start.items()):
        raise NotCompared(f"registers may change while {enable} is 0")


def exploration_text(explored: Explored) -> str:
    """The result of an exploration, as a text."""
    return f"handshake: all {explored.states} states after reset, at most {explored.waiting} operands under way"


class Agreement:
    """Agreement of results of an operation.

    Raises:
        NotCompared: NaNs that propagate. ValueError: the NaN of `compare` is none of the result's format.
    """

    def __init__(self, terms: Terms, operation: Operation, compare: Compare) -> None:
        compare.check(operation.d)
        if compare.nan == "propagate":
            raise NotCompared('nan = "propagate" of [compare] is not compared yet')
        self._terms, self._make = terms, terms.manager.mk_term
        self._d, self._compare, self._nan_is_fixed = operation.d, compare, operation.nan_is_fixed()

    def differs(self, got: Bits, expected: Bits) -> Term:
        """The condition that a code does not count as equal to the expected one."""
        equal = self._make(Kind.EQUAL, [got.term, expected.term])
        if self._d.infinity is not None:
            if is_hexadecimal(self._compare.nan):
                code = self._terms.number(int(self._compare.nan, 16), self._d.width)
                equal = self._make(Kind.ITE, [self._is_nan(expected), self._make(Kind.EQUAL, [got.term, code.term]), equal])
            elif self._compare.nan == "any" or not self._nan_is_fixed:
                equal = self._make(Kind.ITE, [self._is_nan(expected), self._is_nan(got), equal])
            if self._compare.zero_sign == "ignore":
                zeros = self._make(Kind.AND, [self._is_zero(got), self._is_zero(expected)])
                equal = self._make(Kind.OR, [equal, zeros])
        return self._make(Kind.NOT, [equal])

    def _magnitude(self, code: Bits) -> Bits:
        return self._terms.part(code, self._d.width - 2, 0)

    def _is_nan(self, code: Bits) -> Term:
        infinity = self._d.infinity
        assert infinity is not None
        return self._make(Kind.BV_UGT, [self._magnitude(code).term, self._terms.number(infinity, self._d.width - 1).term])

    def _is_zero(self, code: Bits) -> Term:
        magnitude = self._magnitude(code)
        return self._make(Kind.EQUAL, [magnitude.term, self._terms.number(0, magnitude.width).term])


ROWS = 2048
"""Rows of operands for guesses about the values on wires."""

SEED = 1

SIMULATED = 15.0
"""Least remaining time (s) in which many vectors are simulated."""

QUESTION = 5.0
"""Seconds of this process for the proof of one guess about a wire."""


def prove_user_design(unit: Unit, dut: Dut, seconds: float, report: Report = ignored) -> UserDesignDecision:
    """Prove that a user design computes the operation of a unit for every input, or find operands for which it does not.

    Args:
        seconds: for the solvers; the last question may take a second longer. Sample vectors are simulated after it.
        report: takes what is known of the decision, as its keys, as soon as it is known; `decided` has what is new.

    Raises:
        MissingTool: a program is not installed. ElaborationError: Verilator cannot read the design.
        PortMismatch: its ports do not fit its description. SimulationError: a counter-example cannot be replayed.
    """
    found = decided_by_solvers(unit, dut, seconds, report)
    return found if found.verdict == REFUTED or found.waivable else sampled(unit, dut, found)


def decided_by_solvers(unit: Unit, dut: Dut, seconds: float, report: Report = ignored) -> UserDesignDecision:
    """The decision of `prove_user_design` by solvers alone; arguments and errors as there."""
    unit = replace(unit, implementation=unit.implementation.combinational)
    use_packaged_verilator()
    limits = Limits(time.monotonic() + seconds, QUESTION)
    equal_to = SPECIFICATION if unspecified(unit.operation) is None else DATAPATH
    undecided = UserDesignDecision(verdict=OPEN, assumed=tuple(_assumed(dut)), equal_to=equal_to)
    report({"assumed": list(undecided.assumed), "equal_to": equal_to})
    if dut.widths.d is not None:
        return replace(undecided, reason="a fixed-point d has no specification here; mmau cosim compares it")
    try:
        readings = read_design(unit, dut, limits.remaining)
        assumed, sources = (*undecided.assumed, *readings[0].assumed), readings[0].sources
        undecided = replace(undecided, assumed=assumed, sources=sources)
        report({"assumed": list(assumed), "sources": dict(sources)})
        asked, tried = dict[Asked, str](), cache(partial(first_wrong, unit, dut))
        for reading in readings:
            named = f"{reading.name}: " if reading.name else ""
            with deep_stack() as manager:  # no term may outlive its manager
                found = _found(manager, unit, dut, reading, limits, asked, tried, partial(_report_named, report, named))
            undecided = replace(undecided, decided=(*undecided.decided, *(f"{named}{each}" for each in found.decided)))
            if found.verdict == "sometimes":
                seen = replace(dut, verilator_args=(*dut.verilator_args, *reading.arguments))
                return _replayed(unit, seen, found.inputs, undecided)
            if found.verdict == "unknown":
                reason = f"no difference was found in {seconds:g} s, and it is not proved that there is none: {found.open}"
                return replace(undecided, reason=f"{named}{reason}")
    except NotCompared as error:
        return replace(undecided, reason=str(error), waivable=error.waivable)
    return replace(undecided, verdict=PROVED, decided_by="bitwuzla")


def _assumed(dut: Dut) -> list[str]:
    found, marked = [], dut.protocol in ("valid", "valid-ready")
    if dut.reset is not None:
        first = f" but for {RESET} cycles or more at the start" if marked else ""
        found.append(f"{dut.reset.name} is not active{first}")
    if dut.enable is not None and marked:
        found.append(f"{dut.enable} is 1")
    return [*found, *(f"{name} is {value}" for name, value in dut.tie.items())]


Asked = tuple[str, tuple[str, ...]]
"""A question, and the port of an operand that each of its variables is, or nothing."""


@dataclass(frozen=True)
class _Found:
    """A decision without terms, which must not outlive their manager. `inputs`: codes of the operand ports, if results
    differ."""

    verdict: str
    decided: tuple[str, ...]
    open: str = ""
    inputs: Mapping[str, int] = field(default_factory=dict)


def _found(
    manager: TermManager,
    unit: Unit,
    dut: Dut,
    reading: Reading,
    limits: Limits,
    asked: dict[Asked, str],
    tried: Callable[[], Mapping[str, int] | None],
    report: Report,
) -> _Found:
    """The decision on one reading of a design.

    Args:
        asked: the questions that are proved, each with its reading.
        tried: operands for which a simulation of many vectors shows a wrong result, if it does.
    """
    terms, problem = Terms(manager), ""
    try:
        operands = operands_of(UnitDesign(unit), dut.widths)
        differs = Agreement(terms, unit.operation, dut.compare).differs
        transfers = transfers_of(terms, reading.module, dut, operands, limits)
        decided = [transfers.how] if transfers.how else []
        report({"decided": decided})
        for number, got in enumerate(transfers.results):
            for place in range(dut.results):
                one = _comparison(terms, unit, dut, operands, transfers.operands, got, place, differs)
                name = _named(number, len(transfers.results), place, dut.results)
                same = asked_by(one, transfers)
                if same in asked:
                    decided.append(f"{name}the same question as {asked[same]}")
                    report({"decided": decided[-1:]})
                    continue
                values = partial(_values, tried, transfers, limits)
                decision = one.decision(limits, partial(_report_case, report, name), values)
                decided += [f"{name}{each}" for each in decision.decided]
                if decision.verdict == "sometimes":
                    return _Found("sometimes", tuple(decided), inputs=_inputs(unit, dut, decision, transfers))
                if decision.verdict == "unknown":
                    count = f"{len(decision.decided)} of {decision.count} cases are proved; not decided: "
                    return _Found("unknown", tuple(decided), f"{name}{count}{decision.open}")
                asked[same] = reading.name or "the text"
        return _Found("never", tuple(decided))
    except NoTerm as error:
        problem = str(error)
    raise NotCompared(problem)


def _values(tried: Callable[[], Mapping[str, int] | None], transfers: Transfers, limits: Limits) -> dict[Term, int]:
    """The operands that a simulation shows, as values of variables; none where the time is short."""
    found = tried() if limits.remaining > SIMULATED else None
    return {} if found is None else {transfers.operands[port].term: code for port, code in found.items()}


def asked_by(comparison: Comparison, transfers: Transfers) -> Asked:
    """The question whether two results ever differ: equal for all texts of a design that mean the same circuit."""
    text, free = question(comparison.differs(comparison.got, comparison.specified))
    ports = {bits.term: port for port, bits in transfers.operands.items()}
    return text, tuple(ports.get(term, "") for term in free)


def _report_named(report: Report, named: str, found: Mapping[str, Any]) -> None:
    report({"decided": [f"{named}{each}" for each in found["decided"]]})


def _report_case(report: Report, name: str, case: str) -> None:
    report({"decided": [f"{name}{case}"]})


def _named(number: int, transfers: int, place: int, results: int) -> str:
    parts = [f"term {number} of d"] * (transfers > 1) + [f"result {place}"] * (results > 1)
    return f"{', '.join(parts)}: " if parts else ""


def _inputs(unit: Unit, dut: Dut, decision: Decision, transfers: Transfers) -> dict[str, int]:
    found = {port: decision.values.get(bits.term, 0) for port, bits in transfers.operands.items()}
    c = unit.operation.c
    if "c" not in found:
        return found
    codes = np.array([found["c"] >> k * c.width & (c.codes - 1) for k in range(dut.results)], bits_dtype(c))
    taken = dut.widths.restricted(codes, unit.operation).tolist()
    return found | {"c": sum(code << k * c.width for k, code in enumerate(taken))}


# 1. the two sides


def _comparison(
    terms: Terms,
    unit: Unit,
    dut: Dut,
    operands: Sequence[Operand],
    ports: Mapping[str, Bits],
    got: Bits,
    place: int,
    differs: Differs,
) -> Comparison:
    """The comparison of one of the simultaneous results."""
    widths = {operand.name: operand.count * operand.pitch for operand in operands}
    mine = {
        port: terms.part(bits, (place + 1) * widths[port] - 1, place * widths[port]) for port, bits in ports.items()
    }  # fmt: skip
    if "c" in mine:
        mine["c"] = _c_of(terms, mine["c"], dut.widths.c_bits, unit.operation.no_c)
    part = terms.part(got, (place + 1) * widths["d"] - 1, place * widths["d"])
    specified, cases = _specified(terms, unit, mine)
    rows = _rows(unit, dut, ports, variables([part.term, specified.term]))
    return Comparison(terms, part, specified, differs, cases, rows)


def _c_of(terms: Terms, c: Bits, c_bits: int | None, no_c: int) -> Bits:
    """The c that the design takes: all of it, its low bits extended by their sign, or the code of none."""
    if c_bits is None:
        return c
    return terms.extended(terms.part(c, c_bits - 1, 0), c.width, signed=True) if c_bits else terms.number(no_c, c.width)


def _specified(terms: Terms, unit: Unit, ports: Mapping[str, Bits]) -> tuple[Bits, list[Case]]:
    """The specified result and its cases; for an operation without specification, the result of the generated datapath."""
    if unspecified(unit.operation) is None:
        parts = CaseParts()
        specified = SPECIFICATIONS[type(unit.operation)](terms, unit.operation, ports, parts)
        return specified, cases_of(terms, parts)
    modules = read_netlist(to_verilog(unit, "unit"))
    return Circuit.of_top(Setting(terms, modules), modules["unit"], ports).outputs()["d"], [Case("all operands")]


def _rows(unit: Unit, dut: Dut, ports: Mapping[str, Bits], free: Sequence[Term]) -> dict[Term, Column]:
    """Rows of operands from co-simulation's stimulus; other variables have random values."""
    transfers = [
        vector.transfers[0]
        for chunk in UnitSpecification(unit, dut.results, dut.widths).chunks(ROWS, SEED)
        for vector in chunk.vectors
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


# 2. counter-examples


def _replayed(unit: Unit, dut: Dut, inputs: Mapping[str, int], undecided: UserDesignDecision) -> UserDesignDecision:
    """The counter-example, if a simulation confirms it: the state from which results differ may be unreachable."""
    report = replayed(unit, inputs, dut)
    if not is_of(report, undecided):
        return replace(undecided, reason=CHANGED)
    if not report.differing and report.stopped is not None:
        reason = f"operands were found for which d differs; a simulation that sends them ends before: {report.stopped}"
        return replace(undecided, reason=reason)
    if not report.differing:
        reason = (
            "operands were found for which d differs, but d is right in a simulation that sends them alone after a "
            "reset: the difference depends on the state before them, on other operands, or on an undefined value"
        )
        return replace(undecided, reason=reason)
    row = report.differing[0]
    explanation = () if report.explanation is None else report.explanation.lines()
    shown = WrongResult(inputs, row.got, row.expected, explanation)
    return replace(undecided, verdict=REFUTED, decided_by="simulation", counterexample=shown)
