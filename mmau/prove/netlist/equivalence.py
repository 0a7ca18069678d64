"""Equivalence of two circuits, decided by a solver.

Both read the same inputs. If both have a sub-module of the same name at the same place, its outputs are compared first;
outputs that are equal for all inputs become one wire. So a small difference is decided where it occurs, and not through the
logic behind it. If it is known in which kind of sub-module the circuits differ, each question assumes a difference in one of
the outputs on which it depends; outputs behind an equal wire are not among them. So each adder of a chain is decided alone.

Registers are compared in one of two modes. Cut: from every common state, both circuits give the same outputs and the same
next state; by induction they always do. Transparent: registers are wires, and a pipeline computes without delay; registers
named in `held` (the valid bits) hold a constant, and the registers that they enable take their inputs.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import bitwuzla
from bitwuzla import Kind, Term

from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.syntax import Choice, Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack


class Causes:
    """The differing outputs of all instances of the sub-module.

    Behind the instance each such output is a variable, defined by its term. So the variables of a formula show which outputs
    it depends on: a wire that was replaced by the equal wire of the other circuit hides the outputs before it.

    Args:
        terms: makes terms. module: the sub-module; None if it is not known, and nothing is a cause.
    """

    def __init__(self, terms: Terms, module: str | None) -> None:
        self._terms, self._module = terms, module
        self._differs: list[Term] = []
        self._definitions: list[Term] = []
        self._depends: dict[Term, frozenset[int]] = {}

    def noted(self, module: str, name: str, first: Bits, second: Bits) -> Bits:
        """The second circuit's output of an instance, as the logic behind it sees it, if it differs from the first
        circuit's.

        Raises:
            NoTerm: an output of the sub-module has another width.
        """
        if module != self._module:
            return second
        if first.width != second.width:
            raise NoTerm(f"{name} has {first.width} bits and {second.width}")
        number, variable = len(self._differs), self._terms.free(f"cause {name}", second.width)
        self._differs.append(self._terms.differs(first, variable))
        self._definitions.append(self._terms.manager.mk_term(Kind.EQUAL, [variable.term, second.term]))
        self._depends[variable.term] = frozenset({number}) | self._before(second.term)
        return variable

    def explained(self, formula: Term) -> Term:
        """A formula about a difference behind the sub-modules, together with the definitions of its variables and the
        necessary condition that one of them differs."""
        numbers = self._before(formula)
        if not numbers:
            return formula
        any_differs = self._terms.any_of([self._differs[number] for number in sorted(numbers)])
        return self._terms.manager.mk_term(Kind.AND, [self._defined(formula), any_differs])

    def explained_output(self, module: str, name: str, formula: Term) -> Term:
        """A formula about the output of an instance, with the definitions and the condition that `explained` adds. The
        condition is left out for instances of the sub-module and for instances that may be inside one (all but those of
        the top module), because their outputs may differ by themselves."""
        if module == self._module or name.count(".") > 1:
            return self._defined(formula)
        return self.explained(formula)

    def _defined(self, formula: Term) -> Term:
        """A formula together with the definitions of its variables."""
        definitions = [self._definitions[number] for number in sorted(self._before(formula))]
        return self._terms.manager.mk_term(Kind.AND, [formula, *definitions]) if definitions else formula

    def _before(self, term: Term) -> frozenset[int]:
        """The numbers of the variables that a term depends on, through their definitions too."""
        depends, waiting = self._depends, [term]
        while waiting:
            latest = waiting[-1]
            if latest not in depends:
                children = latest.children()
                unknown = [child for child in children if child not in depends]
                if unknown:
                    waiting += unknown
                    continue
                depends[latest] = frozenset().union(*(depends[child] for child in children))
            waiting.pop()
        return depends[term]


EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"

SWEEP_SECONDS = 2.0
"""Longest search for a difference of one inner wire (seconds of this process); wires without an answer count as
different."""

Same = Callable[[Terms, Bits, Bits], Term]
"""The condition that two results count as equal, as a Boolean term."""


@dataclass(frozen=True)
class Side:
    """One of two circuits: modules of a file, the top module, and inputs with a constant value."""

    modules: Mapping[str, Module]
    top: str
    settings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two circuits.

    Attributes:
        verdict: `EQUAL`, `DIFFERENT` or `UNDECIDED`.
        inputs: inputs for which they differ, by port. outputs: the outputs of both sides for these inputs.
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
        seconds: CPU time of this process for the last question: whether the outputs may differ.
        transparent: whether registers are wires; else they are cut.
        held: registers of the top modules that hold a constant, with its value.
        outputs: the outputs, or other wires of the top modules, to compare; None for all outputs.
        states: the registers whose next state is compared in mode cut; None for all.
        same: the condition that codes of an output count as equal, if that is not bit for bit.
        within: the one sub-module in which the circuits differ, if known: the solver considers only inputs for which one of
            its outputs differs (mmau/prove/netlist/equivalence.py). It has no registers that are cut.

    Raises:
        NoTerm: a statement that has no term.
    """
    question = _Question(transparent, held or {}, outputs, states, same or {}, within)
    with deep_stack() as manager:
        try:
            return _compared(Terms(manager), (first, second), seconds, question)
        except NoTerm as error:  # its traceback holds terms, which no one may hold once their manager is gone
            refusal = str(error)
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
    """The compared wires of both circuits, and the next states of their registers."""
    found = [(name, left.wire(name), right.wire(name)) for name in question.outputs or left.outputs()]
    if question.transparent:
        return found
    after, states = right.next_states(), question.states
    counted = [(name, bits) for name, bits in left.next_states().items() if states is None or name in states]
    return found + [(f"next {name}", bits, after[name]) for name, bits in counted]


class _Pair:
    """Both circuits, with the same inputs, the second one swept.

    Attributes:
        circuits: both. inputs: their free inputs.
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
        first.outputs()  # every wire must be known before the other side is swept
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
        return Circuit.of_top(setting, module, given)

    def never_beyond_cuts(self, formula: Term) -> bool:
        """Whether a formula is never true even if every wire that both sides share, and every output of its module, could
        have any value: a question without the logic before these wires, their multipliers for instance. If it can be true,
        nothing is decided, because such a wire may never have the value that makes it true."""
        beyond = self._terms.manager.substitute_term(formula, self._cuts) if self._cuts else formula
        return beyond != formula and self._is_never(beyond)

    def _sweep(self, module: str, name: str, bits: Bits) -> Bits:
        """Record a wire of the first side; replace a wire of the second side by the first one's if both are equal."""
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


def _solver(terms: Terms, seconds: float) -> bitwuzla.Bitwuzla:
    """A solver limited by CPU time of this process, in seconds, so that a busy machine does not change its answers."""
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    solver = bitwuzla.Bitwuzla(terms.manager, options)
    end = time.process_time() + seconds
    solver.configure_terminator(lambda: time.process_time() > end)
    return solver


def either_nan(nan_above: int, mask: int) -> Same:
    """The condition that two codes count as equal: they are equal, or both NaN (above infinity without the sign).

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
    """The registers that `rst` resets, each with the value 1: the valid bits of the stages."""
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
