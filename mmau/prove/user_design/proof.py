"""The proof that a user design equals the operation of a unit for every input.

Verilator preprocesses the sources and reads the ports, as for co-simulation; Yosys translates the design into a circuit of
words and registers (reading.py). Its result becomes a term of the operands, by unrolling or by exploring all states of the
handshake (handshake.py). That term is compared with what the operation specifies (comparisons.py), case by case
(deciding.py), along the wires that hold values of the specification (sweeping.py).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
from bitwuzla import Term, TermManager

from cosim.dut.connection import Operand, operands_of
from cosim.dut.description import Dut
from cosim.dut.reference import reference_of
from golden import Unit
from golden.arrays import bits_dtype
from mmau.prove.counterexample import replayed
from mmau.prove.datapath.unit_questions import unspecified
from mmau.prove.deadline import Report, ignored
from mmau.prove.decision import DATAPATH, OPEN, PROVED, REFUTED, SPECIFICATION, UserDesignDecision, WrongResult
from mmau.prove.evaluation import width
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.smtlib import question
from mmau.prove.user_design.asking import Asking, Limits, NotCompared, ask, directly
from mmau.prove.user_design.comparisons import comparisons_of, operand_rows
from mmau.prove.user_design.deciding import Comparison, Decision
from mmau.prove.user_design.handshake import RESET, Explored, Handshake, Machine
from mmau.prove.user_design.master import master_of
from mmau.prove.user_design.reading import Reading, read_design
from mmau.prove.user_design.samples import CHANGED, first_wrong, is_of, sampled
from rtl.designs.design import Design
from rtl.designs.unit_design import as_design
from rtl.tools import use_packaged_verilator


@dataclass(frozen=True)
class Transfers:
    """The result of one transfer.

    Attributes:
        operands: variables of the operand ports. results: the terms of port d for them, without repetition.
        how: the protocol that relates results to operands, for a report. cycles: most cycles of a run whose control depends
            on data; 1 if there is none.
    """

    operands: Mapping[str, Bits]
    results: Sequence[Bits]
    how: str
    cycles: int = 1


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
        _check_stops(terms, machine, controls, dut.enable, limits)
    timing = dut.timing
    if timing.protocol in ("combinational", "fixed-latency"):
        state, inputs = machine.start, {**given, **controls}
        for number in range(timing.latency):
            if limits.over:
                raise NotCompared(f"{number} of {timing.latency} cycles were unrolled in time")
            state, inputs = machine.cycle(state, inputs).after(), controls
        how = f"{timing.latency} cycles unrolled" if timing.latency else ""
        last = {"rst": controls["rst"]} if timing.latency else inputs
        return Transfers(given, [machine.cycle(state, last).output("d")], how)
    explored = Handshake(terms, machine, circuit, master_of(dut, operands), given, controls).explored(limits)
    return Transfers(given, explored.results, exploration_text(explored), max(1, explored.run))


def _check_stops(terms: Terms, machine: Machine, controls: Mapping[str, Bits], enable: str, limits: Limits) -> None:
    """Check that no register changes while the enable is low, so that such cycles have no effect.

    Raises:
        NotCompared: a register may change.
    """
    after = machine.cycle(machine.start, {**controls, "en": terms.number(0, 1)}).after()
    pairs = [(after[name], held) for name, held in machine.start.items() if after[name] != held]
    changes = [terms.differs(Bits(new, width(new)), Bits(held, width(held))) for new, held in pairs]
    if changes and ask(terms.manager, [terms.any_of(changes)], limits).verdict != "never":
        raise NotCompared(f"registers may change while {enable} is 0")


def exploration_text(explored: Explored) -> str:
    """The result of an exploration, as a text."""
    run = f", runs of at most {explored.run:,} cycles whose control depends on data" if explored.run else ""
    return f"handshake: all {explored.states} states after reset, at most {explored.waiting} operands under way{run}"


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


def decided_by_solvers(
    unit: Unit, dut: Dut, seconds: float, report: Report = ignored, answers: Asking = directly
) -> UserDesignDecision:
    """The decision of `prove_user_design` by solvers alone; arguments and errors as there.

    Args:
        answers: answers the questions about cases.
    """
    unit = replace(unit, implementation=unit.implementation.combinational)
    use_packaged_verilator()
    limits = Limits(time.monotonic() + seconds, QUESTION)
    design = reference_of(as_design(unit), dut)
    operations = [choice.unit.operation for choice in design.choices] or [design.operation]
    specified = all(unspecified(operation) is None for operation in operations)
    equal_to = SPECIFICATION if specified else DATAPATH
    undecided = UserDesignDecision(
        verdict=OPEN, assumed=tuple(_assumed(dut, operands_of(design, dut.widths))), equal_to=equal_to
    )
    report({"assumed": list(undecided.assumed), "equal_to": equal_to})
    if dut.widths.d is not None:
        return replace(undecided, reason="a fixed-point d has no specification here; mmau cosim compares it")
    try:
        readings = read_design(design, dut, limits.remaining)
        assumed, sources = (*undecided.assumed, *readings[0].assumed), readings[0].sources
        undecided = replace(undecided, assumed=assumed, sources=sources)
        report({"assumed": list(assumed), "sources": dict(sources)})
        asked, tried = dict[Asked, str](), cache(partial(first_wrong, unit, dut))
        for reading in readings:
            named = f"{reading.name}: " if reading.name else ""
            with deep_stack() as manager:  # no term may outlive its manager
                found = _found(
                    manager, design, dut, reading, limits, asked, tried, partial(_report_named, report, named), answers
                )
            undecided = replace(undecided, decided=(*undecided.decided, *(f"{named}{each}" for each in found.decided)))
            if found.verdict == "sometimes":
                seen = replace(dut, verilator_args=(*dut.verilator_args, *reading.arguments))
                return _replayed(unit, seen, found.inputs, undecided)
            if found.verdict == "unknown":
                reason = f"no difference was found in {seconds:g} s, and it is not proved that there is none: {found.reason}"
                return replace(undecided, reason=f"{named}{reason}", open=found.open, distances=found.distances)
    except NotCompared as error:
        return replace(undecided, reason=str(error), waivable=error.waivable, no_circuit=error.no_circuit)
    return replace(undecided, verdict=PROVED, decided_by="bitwuzla")


def _assumed(dut: Dut, operands: Sequence[Operand]) -> list[str]:
    found, marked = [], "out_valid" in dut.timing.controls
    if dut.reset is not None:
        first = f" but for {RESET} cycles or more at the start" if marked else ""
        found.append(f"{dut.reset.name} is not active{first}")
    if dut.enable is not None and marked:
        found.append(f"{dut.enable} is 1")
    if marked:
        found += master_of(dut, operands).assumed()
    return [*found, *(f"{name} is {value}" for name, value in dut.tie.items()), *dut.widths.assumed.lines()]


Asked = tuple[str, tuple[str, ...]]
"""A question, and the port of an operand that each of its variables is, or nothing."""


@dataclass(frozen=True)
class _Found:
    """A decision without terms, which must not outlive their manager. `inputs`: codes of the operand ports, if results
    differ. `reason`: what is not decided, with the cases `open` and `distances` of a `Decision`."""

    verdict: str
    decided: tuple[str, ...]
    reason: str = ""
    open: tuple[str, ...] = ()
    distances: tuple[int, int] | None = None
    inputs: Mapping[str, int] = field(default_factory=dict)


def _found(
    manager: TermManager,
    design: Design,
    dut: Dut,
    reading: Reading,
    limits: Limits,
    asked: dict[Asked, str],
    tried: Callable[[int], Mapping[str, int] | None],
    report: Report,
    answers: Asking,
) -> _Found:
    """The decision on one reading of a design.

    Args:
        asked: the questions that are proved, each with its reading.
        tried: operands for which a simulation of many vectors shows a wrong result, if it does; of most cycles of a result.
        answers: answers the questions about cases.
    """
    terms, problem = Terms(manager), ""
    try:
        operands = operands_of(design, dut.widths)
        transfers = transfers_of(terms, reading.module, dut, operands, limits)
        decided = [transfers.how] if transfers.how else []
        report({"decided": decided})
        rows = operand_rows(design, dut, transfers.operands)
        for number, got in enumerate(transfers.results):
            for part, one in comparisons_of(terms, design, dut, operands, transfers.operands, got, rows):
                one = replace(one, ask=answers, unrolled=transfers.cycles > 1)
                name = _named(number, len(transfers.results), part)
                same = asked_by(one, transfers)
                if same in asked:
                    decided.append(f"{name}the same question as {asked[same]}")
                    report({"decided": decided[-1:]})
                    continue
                values = partial(_values, tried, transfers, limits)
                decision = one.decision(limits, partial(_report_case, report, name), values)
                decided += [f"{name}{each}" for each in decision.decided]
                if decision.verdict == "sometimes":
                    return _Found("sometimes", tuple(decided), inputs=_inputs(design, dut, decision, transfers))
                if decision.verdict == "unknown":
                    reason = f"{name}{_counts(decision)}; not decided: {'; '.join(decision.open)}"
                    return _Found("unknown", tuple(decided), reason, decision.open, decision.distances)
                asked[same] = ": ".join(each for each in (reading.name, name.removesuffix(": ")) if each) or "the text"
        return _Found("never", tuple(decided))
    except NoTerm as error:
        problem = str(error)
    raise NotCompared(problem)


def _counts(decision: Decision) -> str:
    """How much of a comparison is proved."""
    cases = f"{len(decision.decided)} of {decision.count} cases are proved"
    if decision.distances is None:
        return cases
    proved, count = decision.distances
    return f"{cases}, with them {proved} of {count} distances of the exponents"


def _values(tried: Callable[[int], Mapping[str, int] | None], transfers: Transfers, limits: Limits) -> dict[Term, int]:
    """The operands that a simulation shows, as values of variables; none where the time is short."""
    found = tried(transfers.cycles) if limits.remaining > SIMULATED else None
    return {} if found is None else {transfers.operands[port].term: code for port, code in found.items()}


def asked_by(comparison: Comparison, transfers: Transfers) -> Asked:
    """The question whether two results ever differ: equal for all texts of a design that mean the same circuit."""
    text, free = question(comparison.differs(comparison.got, comparison.specified))
    ports = {bits.term: port for port, bits in transfers.operands.items()}
    return text, tuple(ports.get(term, "") for term in free)


def _report_named(report: Report, named: str, found: Mapping[str, Any]) -> None:
    report({**found, "decided": [f"{named}{each}" for each in found["decided"]]})


def _report_case(report: Report, name: str, case: str, decided: int, left: Sequence[str]) -> None:
    cases = {"name": name, "decided": decided, "open": list(left)}
    report({"decided": [f"{name}{case}"] if case else [], "cases": cases})


def _named(number: int, transfers: int, part: Sequence[str]) -> str:
    parts = [f"term {number} of d"] * (transfers > 1) + [each for each in part if each]
    return f"{', '.join(parts)}: " if parts else ""


def _inputs(design: Design, dut: Dut, decision: Decision, transfers: Transfers) -> dict[str, int]:
    found = {port: decision.values.get(bits.term, 0) for port, bits in transfers.operands.items()}
    c = design.operation.c
    if "c" not in found or dut.widths.c_bits is None:
        return found
    count = dut.results * next(port.count for port in design.ports if port.name == "c")
    codes = np.array([found["c"] >> k * c.width & (c.codes - 1) for k in range(count)], bits_dtype(c))
    taken = dut.widths.restricted(codes, design.operation).tolist()
    return found | {"c": sum(code << k * c.width for k, code in enumerate(taken))}


# counter-examples


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
