"""How a rule of the handshake comes to be broken: cycles from a reset on, the fewest there are."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import bitwuzla
from bitwuzla import Term

from formal.pipelines.handshake import Handshake, Rule
from rtl.verilog.terms import Bits

INPUTS = ("rst", "in_valid", "out_ready")


@dataclass(frozen=True)
class Cycle:
    """What a pipeline is given in a cycle, but for operands."""

    rst: int
    in_valid: int
    out_ready: int


@dataclass(frozen=True)
class Trace:
    """Cycles from a reset on, in the last of which a rule is broken.

    Attributes:
        rule: its name. cycles: what is given. The state before the first one may be any.
    """

    rule: str
    cycles: tuple[Cycle, ...]


def shortest_trace(handshake: Handshake, seconds: float) -> Trace | None:
    """Cycles that break a rule, one that is seen from outside where there is one; None where there are none in about the
    time that three results take, or none is found in time.

    Args:
        seconds: of this process.
    """
    rules = handshake.rules()
    for is_told in (True, False):
        found = broken_by(handshake, [rule for rule in rules if rule.is_told == is_told], seconds / 2)
        if found is not None:
            return found
    return None


def broken_by(handshake: Handshake, rules: Sequence[Rule], seconds: float) -> Trace | None:
    """The fewest cycles that break one of some rules; None as `shortest_trace`."""
    logic, end = handshake.logic, time.process_time() + seconds
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    solver = bitwuzla.Bitwuzla(logic.terms.manager, options)
    solver.configure_terminator(lambda: time.process_time() > end)
    inputs = list[dict[str, Bits]]()
    holds = [(rule.name, logic.any([handshake.reset, rule.holds])) for rule in rules]
    for number, given in enumerate(_unrolled(handshake, inputs)):
        if number == 0:
            solver.assert_formula(logic.bit(inputs[0]["rst"]))
        broken = [(name, logic.no(logic.terms.manager.substitute_term(term, dict(given)))) for name, term in holds]
        solver.push(1)
        solver.assert_formula(logic.any(term for _, term in broken))
        result = solver.check_sat()
        if result == bitwuzla.Result.SAT:
            name = next(name for name, term in broken if solver.get_value(term).is_true())
            cycles = [{key: int(solver.get_value(bits.term).value(2), 2) for key, bits in cycle.items()} for cycle in inputs]
            return Trace(name, tuple(Cycle(**cycle) for cycle in cycles))
        if result == bitwuzla.Result.UNKNOWN or number > 3 * handshake.stages * handshake.steps + 4:
            break
        solver.pop(1)
    return None


def _unrolled(handshake: Handshake, inputs: list[dict[str, Bits]]) -> Iterator[Mapping[Term, Term]]:
    """For each cycle what stands for the variables; its inputs are noted."""
    terms, netlist = handshake.logic.terms, handshake.registers.netlist
    state = {variable: terms.number(0, variable.sort().bv_size()).term for variable in handshake.after}
    for name, bits in handshake.registers.control.items():
        state[bits.term] = terms.free(f"{name} at first", bits.width).term
    while True:
        cycle = {name: terms.free(f"{name} in cycle {len(inputs)}", 1) for name in INPUTS}
        inputs.append(cycle)
        choose = terms.free(f"followed from cycle {len(inputs) - 1}", 1)
        given = {**state, handshake.choose.term: choose.term}
        given |= {netlist.inputs[name].term: bits.term for name, bits in cycle.items()}
        yield given
        state = {variable: terms.manager.substitute_term(after, given) for variable, after in handshake.after.items()}
