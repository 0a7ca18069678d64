"""Whether two circuits compute the same, decided by a solver.

Both read the same inputs. Where they have a sub-module of one name at one place, its outputs are compared first; those that
are equal whatever comes in are one wire from there on. So a small difference is proved where it is, and not through all that
follows it. Where it is known in which kind of sub-module the circuits differ, each question says so of the outputs on which
it depends; those behind a wire that is one are not among them. So one adder of a chain is settled by itself.

Registers are compared in one of two ways. Cut: from every state that both may be in, they give the same outputs and the
same next state; then they do so for ever. Transparent: registers are wires, and a pipeline computes in no time; registers
named in `held` (those that tell valid from empty) hold a value, and those that wait for them take what comes.
"""

import gc
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

import bitwuzla
from bitwuzla import Kind, Term, TermManager

from rtl.verilog.causes import Causes
from rtl.verilog.circuit import Circuit, Setting
from rtl.verilog.expressions import NoTerm
from rtl.verilog.syntax import Choice, Module
from rtl.verilog.terms import Bits, Terms

EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"

SWEEP_SECONDS = 2.0
"""Longest search for a difference of one wire inside (seconds of this process); where it is too short the wires count as
different."""

Same = Callable[[Terms, Bits, Bits], Term]
"""When two results are as good as equal, as a Boolean term."""


@dataclass(frozen=True)
class Side:
    """One of two circuits: modules of a file, the top module, and inputs that are held at a number."""

    modules: Mapping[str, Module]
    top: str
    settings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """What came of it.

    Attributes:
        verdict: `EQUAL`, `DIFFERENT` or `UNDECIDED`.
        inputs: where they differ, inputs for which they do, by port. outputs: of both sides for these.
    """

    verdict: str
    inputs: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def compare(
    first: Side,
    second: Side,
    seconds: float,
    *,
    transparent: bool = False,
    held: Mapping[str, int] | None = None,
    outputs: Collection[str] | None = None,
    states: Collection[str] | None = None,
    same: Mapping[str, Same] | None = None,
    within: str | None = None,
) -> Comparison:
    """Compare two circuits.

    Args:
        seconds: of this process, for the last question: whether the outputs may differ.
        transparent: whether registers are wires; else they are cut.
        held: registers of the top modules that are held at a value, where they have them.
        outputs: the outputs, or other wires of the top modules, that count; None for all outputs.
        states: the registers whose next state counts, where registers are cut; None for all.
        same: when codes of an output are as good as equal, where that is not bit for bit.
        within: the one sub-module in which the circuits differ, where that is known: the solver need only look at inputs for
            which an output of it differs (rtl/verilog/causes.py). It has no registers that are cut.

    Raises:
        NoTerm: a statement that has no term.
    """
    manager, refusal = TermManager(), ""
    try:
        question = _Question(transparent, held or {}, outputs, states, same or {}, within)
        return _compared(Terms(manager), (first, second), seconds, question)
    except NoTerm as error:
        refusal = str(error)
    finally:
        gc.collect()  # circuits refer to themselves; their terms must be gone before the manager that holds them
    raise NoTerm(refusal)


@dataclass(frozen=True)
class _Question:
    """The keyword arguments of `compare`."""

    transparent: bool
    held: Mapping[str, int]
    outputs: Collection[str] | None
    states: Collection[str] | None
    same: Mapping[str, Same]
    within: str | None


def _compared(terms: Terms, sides: tuple[Side, Side], seconds: float, question: _Question) -> Comparison:
    pair = _Pair(terms, sides, question)
    found = _counted(pair.circuits[0], pair.circuits[1], question)
    differences = [
        terms.manager.mk_term(Kind.NOT, [question.same[name](terms, a, b)]) if name in question.same else terms.differs(a, b)
        for name, a, b in found
        if a.term != b.term
    ]
    if not differences:
        return Comparison(EQUAL)
    formula = pair.causes.explained(terms.any_of(differences))
    if pair.never_beyond_cuts(formula):
        return Comparison(EQUAL)
    solver = _solver(terms, seconds)
    solver.assert_formula(formula)
    answer = solver.check_sat()
    if answer == bitwuzla.Result.UNSAT:
        return Comparison(EQUAL)
    if answer == bitwuzla.Result.UNKNOWN:
        return Comparison(UNDECIDED)

    def number(bits: Bits) -> int:
        return int(solver.get_value(bits.term).value(10))

    differing = {name: (number(a), number(b)) for name, a, b in found}
    return Comparison(DIFFERENT, {name: number(bits) for name, bits in pair.inputs.items()}, differing)


def _counted(left: Circuit, right: Circuit, question: _Question) -> list[tuple[str, Bits, Bits]]:
    """The wires that count, of both circuits, and what their registers hold next."""
    found = [(name, left.wire(name), right.wire(name)) for name in question.outputs or left.outputs()]
    if question.transparent:
        return found
    after, states = right.next_states(), question.states
    counted = [(name, bits) for name, bits in left.next_states().items() if states is None or name in states]
    return found + [(f"next {name}", bits, after[name]) for name, bits in counted]


class _Pair:
    """Both circuits, with the same inputs, the second one swept.

    Attributes:
        circuits: both. inputs: their inputs, as far as they are free.
        causes: the outputs that differ of the sub-module in which the circuits differ.
    """

    def __init__(self, terms: Terms, sides: tuple[Side, Side], question: _Question) -> None:
        self._terms, self._known = terms, dict[str, Bits]()
        self._whole = {name for name, module in sides[0].modules.items() if _has_one_output(module)}
        self._cuts: dict[Term, Term] = {}
        self.causes = Causes(terms, question.within)
        self.inputs: dict[str, Bits] = {}
        states: dict[str, Bits] = {}
        self.circuits = [self._circuit(side, question.transparent, question.held, states) for side in sides]
        first = self.circuits[0]
        first.outputs()  # so that everything is known before the other side is swept
        if not question.transparent:
            first.next_states()

    def _circuit(self, side: Side, transparent: bool, held: Mapping[str, int], states: dict[str, Bits]) -> Circuit:
        terms, module = self._terms, side.modules[side.top]
        given = {name: terms.number(value, module.width(name)) for name, value in side.settings.items()}
        for name, direction in module.directions.items():
            if direction == "input" and name not in given:
                given[name] = self.inputs.setdefault(name, terms.free(name, module.width(name)))
        values = {name: terms.number(value, module.width(name)) for name, value in held.items() if name in module.ranges}
        setting = Setting(terms, side.modules, transparent, values, states, self._sweep)
        return Circuit(setting, module, {name: partial(_itself, bits) for name, bits in given.items()})

    def never_beyond_cuts(self, formula: Term) -> bool:
        """Whether a formula is never true even if every wire that is one on both sides, and all that its module gives, could
        hold anything: a question without the circuits before these wires, their multipliers for instance. Where it can be
        true the question is open, for such a wire may never hold what makes it so."""
        beyond = self._terms.manager.substitute_term(formula, self._cuts) if self._cuts else formula
        return beyond != formula and self._is_never(beyond)

    def _sweep(self, module: str, name: str, bits: Bits) -> Bits:
        """Of the first side, as it is; of the second one, the first one's wire where it is equal."""
        if name not in self._known:
            self._known[name] = bits
            return bits
        other = self._known[name]
        if other.width == bits.width and (other.term == bits.term or self._never_differ(module, name, other, bits)):
            if module in self._whole and other.value is None:
                self._cuts.setdefault(other.term, self._terms.free(f"cut {name}", other.width).term)
            return other
        return self.causes.noted(module, name, other, bits)

    def _never_differ(self, module: str, name: str, first: Bits, second: Bits) -> bool:
        differs = self.causes.explained_output(module, name, self._terms.differs(first, second))
        return self.never_beyond_cuts(differs) or self._is_never(differs)

    def _is_never(self, formula: Term) -> bool:
        solver = _solver(self._terms, SWEEP_SECONDS)
        solver.assert_formula(formula)
        return bool(solver.check_sat() == bitwuzla.Result.UNSAT)


def _has_one_output(module: Module) -> bool:
    return list(module.directions.values()).count("output") == 1


def _itself(bits: Bits) -> Bits:
    return bits


def _solver(terms: Terms, seconds: float) -> bitwuzla.Bitwuzla:
    """A solver that gives up after so many seconds of this process: on a busy machine it comes as far as on an idle one."""
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    solver = bitwuzla.Bitwuzla(terms.manager, options)
    end = time.process_time() + seconds
    solver.configure_terminator(lambda: time.process_time() > end)
    return solver


def either_nan(nan_above: int, mask: int) -> Same:
    """Codes are as good as equal where they are equal, or both NaN: above infinity without the sign.

    Args:
        nan_above: the code of infinity. mask: all bits of a code but the sign.
    """

    def same(terms: Terms, a: Bits, b: Bits) -> Term:
        make = terms.manager.mk_term

        def is_nan(bits: Bits) -> Term:
            unsigned = make(Kind.BV_AND, [bits.term, terms.number(mask, bits.width).term])
            return make(Kind.BV_UGT, [unsigned, terms.number(nan_above, bits.width).term])

        both = make(Kind.AND, [is_nan(a), is_nan(b)])
        return make(Kind.OR, [make(Kind.EQUAL, [a.term, b.term]), both])

    return same


def reset_registers(module: Module) -> dict[str, int]:
    """The registers that `rst` resets, with 1 for each: those that tell a valid stage from an empty one."""
    reset = {
        assignment.target.text.strip()
        for assignment in module.assignments
        if isinstance(assignment.expression, Choice) and assignment.expression.condition.text.strip() == "rst"
    }
    return {
        register.target.text.strip(): 1
        for register in module.registers
        if register.expression.text.strip() in reset and register.target.width == 1
    }
