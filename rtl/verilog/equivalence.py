"""Whether two circuits compute the same, decided by a solver.

Both read the same inputs. Where they have a sub-module of one name at one place, its outputs are compared first; those that are
equal whatever comes in are one wire from there on. So a small difference is proved where it is, and not through all that
follows it.

Registers are compared in one of two ways. `cut`: from every state that both may be in, they give the same outputs and the same
next state; then they do so for ever. `transparent`: registers are wires, and a pipeline computes in no time; registers named in
`held` (those that tell valid from empty) are held at a value, and those that wait for them take what comes.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import bitwuzla
from bitwuzla import Kind, Term

from rtl.verilog.netlist import Choice, Module, Slice
from rtl.verilog.terms import Bits, Circuit, Terms

EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"

SWEEP_SECONDS = 2.0
"""Longest search for a difference of one wire inside; where it is too short the wires count as different."""

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
) -> Comparison:
    """Compare two circuits.

    Args:
        seconds: for the last question, whether the outputs may differ.
        transparent: whether registers are wires; else they are cut.
        held: registers of the top modules that are held at a value.
        outputs: the outputs, or other wires of the top modules, that count; None for all outputs.
        states: the registers whose next state counts, where registers are cut; None for all.
        same: when codes of an output are as good as equal, where that is not bit for bit.

    Raises:
        NoTerm: a statement that has no term.
    """
    terms = Terms()
    pair = _Pair(terms, first, second, transparent, dict(held or {}))
    left, right = pair.circuits
    names = outputs or tuple(left.outputs())
    found = [(name, left.wire(name), right.wire(name)) for name in names]
    if not transparent:
        after = right.next_states()
        counted = [(name, bits) for name, bits in left.next_states().items() if states is None or name in states]
        found += [(f"next {name}", bits, after[name]) for name, bits in counted]
    rules = same or {}
    questions = [
        terms.manager.mk_term(Kind.NOT, [rules[name](terms, a, b)]) if name in rules else _differs(terms, a, b)
        for name, a, b in found
        if a.term != b.term
    ]
    if not questions:
        return Comparison(EQUAL)
    solver = _solver(terms, seconds)
    solver.assert_formula(questions[0] if len(questions) == 1 else terms.manager.mk_term(Kind.OR, questions))
    answer = solver.check_sat()
    if answer == bitwuzla.Result.UNSAT:
        return Comparison(EQUAL)
    if answer == bitwuzla.Result.UNKNOWN:
        return Comparison(UNDECIDED)

    def number(bits: Bits) -> int:
        return int(solver.get_value(bits.term).value(10))

    differing = {name: (number(a), number(b)) for name, a, b in found}
    return Comparison(DIFFERENT, {name: number(bits) for name, bits in pair.inputs.items()}, differing)


class _Pair:
    """Both circuits, with the same inputs, the second one swept."""

    def __init__(self, terms: Terms, first: Side, second: Side, transparent: bool, held: dict[str, int]) -> None:
        self._terms, self._known = terms, dict[str, Bits]()
        self.inputs: dict[str, Bits] = {}
        states: dict[str, Bits] = {}
        sides = []
        for side, seen in ((first, self._keep), (second, self._sweep)):
            module = side.modules[side.top]
            given = {name: terms.number(value, module.width(name)) for name, value in side.settings.items()}
            for name, direction in module.directions.items():
                if direction == "input" and name not in given:
                    given[name] = self.inputs.setdefault(name, terms.free(name, module.width(name)))
            values = {name: terms.number(value, module.width(name)) for name, value in held.items()}
            sides.append(Circuit(terms, side.modules, module, given, transparent, values, "", states, seen))
        self.circuits = sides[0], sides[1]
        for name in sides[0].outputs():  # so that everything is known before the other side is swept
            sides[0].wire(name)
        if not transparent:
            sides[0].next_states()

    def _keep(self, name: str, bits: Bits) -> Bits:
        self._known[name] = bits
        return bits

    def _sweep(self, name: str, bits: Bits) -> Bits:
        other = self._known.get(name)
        if other is None or other.term == bits.term or other.width != bits.width:
            return bits
        solver = _solver(self._terms, SWEEP_SECONDS)
        solver.assert_formula(_differs(self._terms, other, bits))
        return other if solver.check_sat() == bitwuzla.Result.UNSAT else bits


def _differs(terms: Terms, a: Bits, b: Bits) -> Term:
    return terms.manager.mk_term(Kind.DISTINCT, [a.term, b.term])


def _solver(terms: Terms, seconds: float) -> bitwuzla.Bitwuzla:
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.TIME_LIMIT_PER, int(1000 * seconds))
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    return bitwuzla.Bitwuzla(terms.manager, options)


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


def enables(module: Module) -> set[str]:
    """The wires that say which registers take what comes: conditions of a choice between that and what a register holds."""
    registers = {register.target.text.strip() for register in module.registers}
    return {
        assignment.expression.condition.name
        for assignment in module.assignments
        if isinstance(assignment.expression, Choice)
        and isinstance(assignment.expression.condition, Slice)
        and assignment.expression.no.text.strip() in registers
    }
