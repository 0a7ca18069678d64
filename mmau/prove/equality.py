"""Decides by solvers whether two arithmetics give equal results for all inputs, from their specifications.

Both specifications are terms of the same operands. Step by step, each value of the second specification is compared with the
value of the same name in the first one, as it is or shifted by the difference of their numbers of fraction bits. A value
that is equal for every input is replaced by the first one's. So common parts become one term, and a small difference is
decided where it occurs. One question about d remains. It is asked first with every common value as a free variable within
its bounds, which may prove equality where the whole question is too hard, and then in full: an input that the solver then
finds is valid for both operations.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import bitwuzla
from bitwuzla import Kind
from bitwuzla import Term as Formula

from golden import Operation
from mmau.prove.datapath.unit_questions import SPECIFICATIONS, unspecified
from mmau.prove.decision import DIFFERENT, EQUAL, UNDECIDED, Equality
from mmau.prove.netlist.equivalence import either_nan
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.smtlib import question
from mmau.prove.solvers.answer import Answer
from mmau.prove.solvers.installed import PACKAGES, MissingSolver, solver
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.step_results import Code, Integer, Special, Term, Total, Value, Word

SWEEP_SECONDS = 2.0
"""Longest search for a difference of one value (seconds of this process)."""

LEAST = 1.0
"""Least time for the question about d (seconds)."""

V = TypeVar("V", bound=Value)

Part = Flag | Number | Code


def equality(x: Sequence[Operation], y: Sequence[Operation], seconds: float) -> Equality:
    """Compare two chains over the same products: d of each step is c of the next one.

    Args:
        x, y: the steps. seconds: for all questions; the last question may take a second longer.
    """
    for operation in (*x, *y):
        problem = unspecified(operation)
        if problem is not None:
            return Equality(UNDECIDED, reason=problem)
    with deep_stack() as manager:  # no term may outlive its manager
        return _Comparison(Terms(manager), time.monotonic() + seconds).of(x, y)


class _Comparison:
    """The comparison of two chains.

    Args:
        end: its deadline, by the monotonic clock.
    """

    def __init__(self, terms: Terms, end: float) -> None:
        self._terms, self._end = terms, end
        self._cuts: dict[Formula, Formula] = {}
        self._bounds: list[Formula] = []

    def of(self, x: Sequence[Operation], y: Sequence[Operation]) -> Equality:
        """The verdict."""
        ports = {name: self._terms.free(name, width) for name, width in _widths(x).items()}
        recorded: dict[str, Part] = {}
        shifts = {0, *(_fraction(b, key) - _fraction(a, key) for a, b in zip(x, y, strict=False) for key in ("F", "F2"))}
        began = time.monotonic()
        first = _chained(self._terms, x, ports, lambda step: _Recording(step, recorded))
        sweep_end = began + (self._end - began) / 2
        second = _chained(
            self._terms, y, ports, lambda step: _Sweeping(step, recorded, sorted(shifts, key=abs), self, sweep_end)
        )
        if first.term == second.term:
            return Equality(EQUAL)
        differs = self._differs(x[-1], y[-1], first, second)
        beyond = self._beyond_cuts(differs)
        if beyond != differs and self._answer(beyond, share=3).verdict == "never":
            return Equality(EQUAL)
        answer = self._answer(differs, share=1)
        if answer.verdict == "never":
            return Equality(EQUAL)
        if answer.verdict == "sometimes":
            return Equality(DIFFERENT, {name: answer.values.get(name, 0) for name in ports})
        return Equality(UNDECIDED, reason=answer.reason)

    def is_never_other(self, first: Bits, second: Bits) -> bool:
        """Whether two values of one width are proved equal for every input; False if no answer comes soon."""
        if first.term == second.term:
            return True
        differs = self._terms.differs(first, second)
        return self._is_never(self._beyond_cuts(differs)) or self._is_never(differs)

    def cut(self, name: str, part: Part) -> None:
        """Note a value that both share: a question may replace it by a variable, bounded if it never exceeds its bounds."""
        bits = part.bits
        if bits.value is not None or bits.term.is_const() or bits.term in self._cuts:
            return
        variable = self._terms.free(f"any {name}", bits.width)
        if isinstance(part, Number):
            outside = self._outside(part)
            if outside is not None and self._is_never(self._beyond_cuts(outside)):
                within = self._outside(replace(part, bits=variable))
                assert within is not None
                self._bounds.append(self._terms.manager.mk_term(Kind.NOT, [within]))
        self._cuts[bits.term] = variable.term

    def _outside(self, number: Number) -> Formula | None:
        """The condition that a number exceeds its bounds; None if its bits cannot hold such a number."""
        below, above = (Kind.BV_SLT, Kind.BV_SGT) if number.is_signed else (Kind.BV_ULT, Kind.BV_UGT)
        width = number.bits.width
        least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if number.is_signed else (0, (1 << width) - 1)
        make, found = self._terms.manager.mk_term, []
        for kind, bound, limit in ((below, number.low, least), (above, number.high, most)):
            if bound != limit:
                found.append(make(kind, [number.bits.term, self._terms.number(bound & ((1 << width) - 1), width).term]))
        return self._terms.any_of(found) if found else None

    def _beyond_cuts(self, formula: Formula) -> Formula:
        if not self._cuts:
            return formula
        substituted = self._terms.manager.substitute_term(formula, self._cuts)
        if substituted == formula:
            return formula
        return self._terms.manager.mk_term(Kind.AND, [*self._bounds, substituted]) if self._bounds else substituted

    def _differs(self, x: Operation, y: Operation, first: Bits, second: Bits) -> Formula:
        d = x.d
        if x.nan_is_fixed() or y.nan_is_fixed() or d.infinity is None:
            return self._terms.differs(first, second)
        same = either_nan(d.infinity, (d.codes >> 1) - 1)(self._terms, first, second)
        return self._terms.manager.mk_term(Kind.NOT, [same])

    def _is_never(self, formula: Formula) -> bool:
        limit = min(SWEEP_SECONDS, self._end - time.monotonic())
        if limit <= 0:
            return False
        found = bitwuzla.Bitwuzla(self._terms.manager, bitwuzla.Options())
        end = time.process_time() + limit
        found.configure_terminator(lambda: time.process_time() > end)
        found.assert_formula(formula)
        return bool(found.check_sat() == bitwuzla.Result.UNSAT)

    def _answer(self, formula: Formula, share: int) -> Answer:
        """The answer of the first solver that decides the question; the solvers share the time in equal parts."""
        text, variables = question(formula)
        end = time.monotonic() + max(0.0, self._end - time.monotonic()) / share
        reason = "there is no solver"
        for number, name in enumerate(PACKAGES):
            try:
                remaining = (end - time.monotonic()) / (len(PACKAGES) - number)
                answer = solver(name)(text, max(LEAST, remaining))
            except MissingSolver:
                continue
            if answer.verdict != "unknown":
                named = {str(variable.symbol()): answer.values.get(f"v{k}", 0) for k, variable in enumerate(variables)}
                return Answer(answer.verdict, named)
            reason = f"no solver finished in time; {name}: {answer.reason}"
        return Answer("unknown", reason=reason)


class _ByPart(Observer):
    """Maps every part of a value by name, and builds the value from the results."""

    def __init__(self, step: int) -> None:
        self._step = step

    def part(self, name: str, part: Part) -> Part:
        """The status of a part."""
        raise NotImplementedError

    def value(self, name: str, value: V) -> V:
        changed = {key: self.part(f"{self._step} {name} {key}", part) for key, part in value.parts()}
        return replace(value, **changed)  # type: ignore[type-var]  # every value is a dataclass

    def term(self, name: str, term: Term, special: Special, special_name: str = "") -> tuple[Term, Special]:
        return self.value(name, term), self.value(special_name or f"{name} special", special)

    def total(self, name: str, aligned: Sequence[object], total: Total) -> Total:
        return self.value(name, total)

    def integer(self, name: str, product: Number) -> Number:
        return self.value(name, Integer(product)).number

    def word(self, name: str, summed: Sequence[Number], word: Word) -> Word:
        return self.value(name, word)


class _Recording(_ByPart):
    """Records every part of the first specification."""

    def __init__(self, step: int, recorded: dict[str, Part]) -> None:
        super().__init__(step)
        self._recorded = recorded

    def part(self, name: str, part: Part) -> Part:
        self._recorded[name] = part
        return part


class _Sweeping(_ByPart):
    """Replaces each part of the second specification by the first one's part if both are equal for every input."""

    def __init__(
        self, step: int, recorded: Mapping[str, Part], shifts: Sequence[int], comparison: _Comparison, end: float
    ) -> None:
        super().__init__(step)
        self._recorded, self._shifts, self._comparison, self._end = recorded, shifts, comparison, end

    def part(self, name: str, part: Part) -> Part:
        other = self._recorded.get(name)
        if other is None or type(other) is not type(part):
            return part
        for candidate in candidates(other, part, self._shifts):
            if candidate.term == part.bits.term:
                self._comparison.cut(name, other)
                return part
            if time.monotonic() < self._end and self._comparison.is_never_other(candidate, part.bits):
                self._comparison.cut(name, other)
                return replace(part, bits=candidate)
        return part


def candidates(other: Part, part: Part, shifts: Sequence[int]) -> list[Bits]:
    """The bit vectors that `part` may equal: `other`, or `other` shifted, in the width of `part`."""
    if not isinstance(other, Number) or not isinstance(part, Number):
        return [other.bits] if other.bits.width == part.bits.width else []
    found = []
    for shift in shifts:
        if shift < 0 and other.low < 0:
            continue
        shifted = other.times_two_to(shift) if shift >= 0 else other.shifted_right(-shift)
        found.append(shifted.held_in(part.bits.width))
    return found


def _chained(
    terms: Terms, steps: Sequence[Operation], ports: Mapping[str, Bits], observer: Callable[[int], Observer]
) -> Bits:
    """d of a chain (golden: `Chain`)."""
    d, start = ports["c"], 0
    for number, operation in enumerate(steps):
        given, end = {"c": d}, start + operation.length
        for port, fmt in (("a", operation.a), ("b", operation.b)):
            given[port] = terms.part(ports[port], end * fmt.width - 1, start * fmt.width)
        if operation.scale_format is not None and operation.block_size is not None:
            width, low = operation.scale_format.width, start // operation.block_size
            high = low + operation.scales_per_step
            given |= {port: terms.part(ports[port], high * width - 1, low * width) for port in operation.scale_operands}
        d = SPECIFICATIONS[type(operation)](terms, operation, given, observer(number))
        start = end
    return d


def _widths(steps: Sequence[Operation]) -> dict[str, int]:
    """The operand ports of a chain, and their bits."""
    first, K = steps[0], sum(operation.length for operation in steps)
    found = {"a": K * first.a.width, "b": K * first.b.width, "c": first.c.width}
    if first.scale_format is not None and first.block_size is not None:
        scales = -(-K // first.block_size) * first.scale_format.width
        found |= dict.fromkeys(first.scale_operands, scales)
    return found


def _fraction(operation: Operation, key: str) -> int:
    """The fraction bits of that name, 0 of an operation without."""
    return int(getattr(operation, key, 0))
