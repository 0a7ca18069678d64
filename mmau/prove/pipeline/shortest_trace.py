"""The shortest sequence of cycles from a reset on that breaks a rule of the handshake."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import bitwuzla
from bitwuzla import Term

from mmau.prove.netlist.terms import Bits
from mmau.prove.pipeline.handshake_rules import Handshake, Rule
from rtl.designs.ports import CONTROL_INPUTS


@dataclass(frozen=True)
class Cycle:
    """The inputs of a pipeline in one cycle, without operands."""

    rst: int
    in_valid: int
    out_ready: int


@dataclass(frozen=True)
class Trace:
    """Cycles from a reset on, in the last of which a rule is broken.

    Attributes:
        rule: its name. cycles: the inputs. The state before the first cycle may be any.
    """

    rule: str
    cycles: tuple[Cycle, ...]


def shortest_trace(handshake: Handshake, seconds: float) -> Trace | None:
    """Cycles that break a rule, preferably one whose violation is seen from outside; None if there are none within about the
    time of three results, or none is found in time.

    Args:
        seconds: CPU time of this process.
    """
    rules = handshake.rules()
    for is_observable in (True, False):
        found = broken_by(handshake, [rule for rule in rules if rule.is_observable == is_observable], seconds / 2)
        if found is not None:
            return found
    return None


def broken_by(handshake: Handshake, rules: Sequence[Rule], seconds: float) -> Trace | None:
    """The fewest cycles that break one of some rules; None as for `shortest_trace`."""
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
    """For each cycle the terms of the variables; records its inputs."""
    terms, netlist = handshake.logic.terms, handshake.registers.netlist
    state = {variable: terms.number(0, variable.sort().bv_size()).term for variable in handshake.after}
    for name, bits in handshake.registers.control.items():
        state[bits.term] = terms.free(f"{name} at first", bits.width).term
    while True:
        cycle = {name: terms.free(f"{name} in cycle {len(inputs)}", 1) for name in CONTROL_INPUTS}
        inputs.append(cycle)
        choose = terms.free(f"followed from cycle {len(inputs) - 1}", 1)
        given = {**state, handshake.choose.term: choose.term}
        given |= {netlist.inputs[name].term: bits.term for name, bits in cycle.items()}
        yield given
        state = {variable: terms.manager.substitute_term(after, given) for variable, after in handshake.after.items()}
