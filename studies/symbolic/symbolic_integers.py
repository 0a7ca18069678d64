"""Symbolic integers: numbers with Python's operators whose value is a solver's term; and the branches of a program on them:
which way a run takes, and the condition under which it takes it.

A condition on them is 0 or 1. Where Python asks for its truth, `decide` chooses a branch. An operation whose result follows
from the bounds of its operands gives a plain integer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Union

from bitwuzla import Kind, Term

from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.numbers import Flag, Number, all_of, bounded, choose, width_of


@dataclass
class Run:
    """One run of a function on symbolic values.

    Attributes:
        prescribed: the first decisions, to be repeated. taken: all decisions so far, each with its flag.
        known: the outcome of every flag that has been decided, without its inversions.
    """

    prescribed: list[bool]
    taken: list[tuple[Flag, bool]] = field(default_factory=list)
    known: dict[Term, bool] = field(default_factory=dict)

    @property
    def conditions(self) -> list[Flag]:
        """The conditions that hold in this run."""
        return [flag if outcome else ~flag for flag, outcome in self.taken]

    def outcome(self, flag: Flag) -> bool | None:
        """The decision of this run about a flag; None if it has made none."""
        term, inverted = _uninverted(flag)
        return None if term not in self.known else self.known[term] != inverted


@dataclass
class Errors:
    """The conditions under which the program raises an error."""

    flags: list[Flag] = field(default_factory=list)


_runs: list[Run] = []
_errors: list[Errors] = []


def decide(flag: Flag) -> bool:
    """The truth of a flag in this run. A flag that is not decided yet is true first, and false in a later run."""
    if flag.bits.value is not None:
        return bool(flag.bits.value)
    for run in _runs:
        outcome = run.outcome(flag)
        if outcome is not None:
            return outcome
    run, (term, inverted) = _runs[-1], _uninverted(flag)
    outcome = run.prescribed[len(run.taken)] if len(run.taken) < len(run.prescribed) else True
    run.taken.append((flag, outcome))
    run.known[term] = outcome != inverted
    return outcome


def _uninverted(flag: Flag) -> tuple[Term, bool]:
    """A flag without its inversions, and whether their number is odd."""
    term, inverted = flag.bits.term, False
    while term.kind() == Kind.BV_NOT:
        term, inverted = term.children()[0], not inverted
    return term, inverted


def refuse(flag: Flag) -> None:
    """Say that the program would raise an error here where a flag is set."""
    conditions = [condition for run in _runs for condition in run.conditions]
    _errors[-1].flags.append(all_of([*conditions, flag]))


def collected(function: Callable[[], Any]) -> tuple[Any, list[Flag]]:
    """The value that a function returns, and the conditions of its errors."""
    _errors.append(Errors())
    try:
        return function(), _errors[-1].flags
    finally:
        _errors.pop()


def runs(function: Callable[[], Any]) -> list[tuple[Run, Any]]:
    """Every run of a function, and what it returns.

    A run that raises ValueError is left out, and its conditions are noted; if every run does, the error is raised. Any other
    error is none of the program's.
    """
    found, remaining, raised = [], [list[bool]()], None
    while remaining:
        run = Run(remaining.pop())
        _runs.append(run)
        try:
            value = function()
        except ValueError as error:
            raised = error
            if run.taken:
                *_, (flag, outcome) = run.taken
                refuse(flag if outcome else ~flag)
        else:
            found.append((run, value))
        finally:
            _runs.pop()
        outcomes = [outcome for _, outcome in run.taken]
        remaining += [[*outcomes[:place], False] for place in range(len(run.prescribed), len(outcomes))]
    if not found and raised is not None:
        raise raised
    return found


Integer = Union[int, "SymbolicInt"]


def integer(number: Number) -> Integer:
    """A number, as a plain integer if its bounds leave only one."""
    return number.low if number.low == number.high else SymbolicInt(number)


def condition(flag: Flag) -> Integer:
    """A flag as 0 or 1."""
    value = flag.bits.value
    return SymbolicInt(Number(flag.terms, flag.bits, 0, 1)) if value is None else value


def number_of(terms: Terms, value: Integer) -> Number:
    """The number of an integer."""
    return value.number if isinstance(value, SymbolicInt) else Number.constant(terms, int(value))


class SymbolicInt:
    """An integer whose value is a term, with the operators of `int`, exact as theirs."""

    __slots__ = ("number",)
    __hash__ = None  # type: ignore[assignment]  # its value is not known

    def __init__(self, number: Number) -> None:
        self.number = number

    @property
    def flag(self) -> Flag:
        """Whether the integer is not 0."""
        number = self.number
        return Flag(number.terms, number.bits) if (number.low, number.high) == (0, 1) else ~number.is_zero()

    def __bool__(self) -> bool:
        return decide(self.flag)

    def __format__(self, spec: str) -> str:
        return "a symbolic integer"  # in the message of an error

    def __add__(self, other: Integer) -> Integer:
        return integer(self.number + self._number(other))

    __radd__ = __add__

    def __sub__(self, other: Integer) -> Integer:
        return integer(self.number - self._number(other))

    def __rsub__(self, other: int) -> Integer:
        return integer(self._number(other) - self.number)

    def __mul__(self, other: Integer) -> Integer:
        return integer(self.number * self._number(other))

    __rmul__ = __mul__

    def __neg__(self) -> Integer:
        return integer(-self.number)

    def __invert__(self) -> Integer:
        return integer(Number.constant(self.number.terms, -1) - self.number)

    def __abs__(self) -> Integer:
        number = self.number
        if number.low >= 0:
            return self
        return integer(choose(number < 0, -number, number).within(0, max(-number.low, number.high)))

    def __lshift__(self, places: Integer) -> Integer:
        return _shifted(Kind.BV_SHL, self.number, _places(self._number(places)))

    def __rlshift__(self, value: int) -> Integer:
        return _shifted(Kind.BV_SHL, self._number(value), _places(self.number))

    def __rshift__(self, places: Integer) -> Integer:
        return _shifted(Kind.BV_ASHR, self.number, _places(self._number(places)))

    def __rrshift__(self, value: int) -> Integer:
        return _shifted(Kind.BV_ASHR, self._number(value), _places(self.number))

    def __and__(self, other: Integer) -> Integer:
        return _bitwise(Kind.BV_AND, self.number, self._number(other))

    __rand__ = __and__

    def __or__(self, other: Integer) -> Integer:
        return _bitwise(Kind.BV_OR, self.number, self._number(other))

    __ror__ = __or__

    def __xor__(self, other: Integer) -> Integer:
        return _bitwise(Kind.BV_XOR, self.number, self._number(other))

    __rxor__ = __xor__

    def __mod__(self, other: Integer) -> Integer:
        """Compute the remainder by a power of two; a program that divides by another number is refused."""
        mask = other - 1
        is_other = (other & mask) != 0
        if isinstance(is_other, SymbolicInt):
            refuse(is_other.flag)
        elif is_other:
            raise ValueError(f"a symbolic integer is divided by powers of two alone, got {other}")
        return self & mask

    def __lt__(self, other: Integer) -> Integer:
        x, y = self.number, self._number(other)
        return 1 if x.high < y.low else 0 if x.low >= y.high else condition(x < y)

    def __le__(self, other: Integer) -> Integer:
        x, y = self.number, self._number(other)
        return 1 if x.high <= y.low else 0 if x.low > y.high else condition(x <= y)

    def __gt__(self, other: Integer) -> Integer:
        return SymbolicInt(self._number(other)) < self

    def __ge__(self, other: Integer) -> Integer:
        return SymbolicInt(self._number(other)) <= self

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, int | SymbolicInt):
            return NotImplemented
        x, y = self.number, self._number(other)
        return 0 if x.high < y.low or y.high < x.low else condition(x.equals(y))

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return condition(~equal.flag) if isinstance(equal, SymbolicInt) else not equal

    def bit_length(self) -> Integer:
        """The number of bits, as `int.bit_length` counts them."""
        magnitude = number_of(self.number.terms, abs(self))
        found = Number.constant(magnitude.terms, 0)
        for place in range(magnitude.high.bit_length()):
            found = choose(magnitude.bit(place), Number.constant(magnitude.terms, place + 1), found)
        return integer(found)

    def _number(self, other: Integer) -> Number:
        return number_of(self.number.terms, other)


def _places(places: Number) -> Number:
    """A number of places to shift by, for which Python refuses a negative one."""
    if places.low >= 0:
        return places
    refuse(places < 0)
    if places.high < 0:
        raise ValueError("negative shift count")
    return places.within(0, places.high)


def _shifted(kind: Kind, value: Number, places: Number) -> Integer:
    terms = value.terms
    ends = [
        (end << by) if kind == Kind.BV_SHL else (end >> by)
        for end in (value.low, value.high) for by in (places.low, places.high)
    ]  # fmt: skip
    low, high = min(ends), max(ends)
    width = max(width_of(min(low, value.low, -1), max(high, value.high)), places.bits.width + 1)
    bits = terms.apply(kind, [value.held_in(width), places.held_in(width)], width)
    return integer(bounded(terms, bits, low, high, signed=True))


def _bitwise(kind: Kind, x: Number, y: Number) -> Integer:
    width = max(width_of(min(n.low, -1), n.high) for n in (x, y))
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    is_positive = [n.low >= 0 for n in (x, y)]
    if kind == Kind.BV_AND and any(is_positive):
        low, high = 0, min(n.high for n, positive in zip((x, y), is_positive, strict=True) if positive)
    elif all(is_positive):
        low = 0
    bits = x.terms.apply(kind, [x.held_in(width), y.held_in(width)], width)
    return integer(bounded(x.terms, bits, low, high, signed=True))
