"""Values that a run of a program may have: one of several, a set of some, and what the runs of a function give together."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from mmau.formal.specification.numbers import Flag, all_of, any_of, choose
from studies.symbolic.decisions import Run, decide, runs
from studies.symbolic.symbolic_integers import Integer, SymbolicInt, condition, integer, number_of


class Choice:
    """One of several values that are no numbers, or a number: None, a word, the member of an enumeration.

    Attributes:
        alternatives: each value with the flag that selects it. One flag is set.
    """

    __slots__ = ("alternatives",)
    __hash__ = None  # type: ignore[assignment]  # its value is not known

    def __init__(self, alternatives: Sequence[tuple[Flag, Any]]) -> None:
        self.alternatives = alternatives

    def __bool__(self) -> bool:
        return decide(self._flag(bool))

    def __eq__(self, other: object) -> Any:
        return condition(self._flag(lambda value: value == other))

    def __ne__(self, other: object) -> Any:
        return condition(self._flag(lambda value: value != other))

    def __lt__(self, other: Any) -> Any:
        return condition(self._flag(lambda value: value < other))

    def is_(self, other: Any) -> Integer:
        """Whether the choice is that value."""
        return condition(self._flag(lambda value: value is other))

    def _flag(self, holds: Callable[[Any], Any]) -> Flag:
        flags = [flag for flag, value in self.alternatives if holds(value)]
        if len(flags) in (0, len(self.alternatives)):
            terms = self.alternatives[0][0].terms
            return Flag(terms, terms.number(int(bool(flags)), 1))
        return any_of(flags)


class SymbolicSet:
    """A set of known values, each in it or not.

    Attributes:
        members: value to the flag of its membership.
    """

    def __init__(self, members: dict[Any, Flag]) -> None:
        self.members = members

    def __bool__(self) -> bool:
        return bool(self.members) and decide(any_of(list(self.members.values())))

    def size(self) -> Integer:
        """How many values are in it."""
        total: Integer = 0
        for flag in self.members.values():
            total = total + condition(flag)
        return total

    def has(self, value: Any) -> Integer:
        """Whether a value is in it."""
        return condition(self.members[value]) if value in self.members else 0

    def pop(self) -> Any:
        """The single value in the set."""
        return together([([flag], value) for value, flag in self.members.items()])


def merged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns what all its runs give together."""

    def all_runs(*arguments: Any, **named: Any) -> Any:
        given = [list(item) if _is_iterator(item) else item for item in arguments]
        return together([(run.conditions, _known(value, run)) for run, value in runs(lambda: function(*given, **named))])

    return all_runs


def _is_iterator(item: Any) -> bool:
    return hasattr(item, "__next__")


def _known(value: Any, run: Run) -> Any:
    """A value without the alternatives that this run has excluded."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_known(part, run) for part in value))
    if not isinstance(value, Choice):
        return value
    left = [(flag, each) for flag, each in value.alternatives if run.outcome(flag) is not False]
    return left[0][1] if len(left) == 1 else Choice(left)


def together(cases: Sequence[tuple[list[Flag], Any]]) -> Any:
    """One value that equals the value of a case where all flags of the case are set, and that of the last case where no
    other's are."""
    first = cases[0][1]
    values = [value for _, value in cases]
    if len(cases) == 1 or all(value is first for value in values):
        return first
    if all(isinstance(value, tuple | list) and type(value) is type(first) and len(value) == len(first) for value in values):
        parts = [together([(flags, value[place]) for flags, value in cases]) for place in range(len(first))]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if all(_is_number(value) for value in values):
        return _number(cases)
    return _choice(cases)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | SymbolicInt) and not isinstance(value, Enum)


def _number(cases: Sequence[tuple[list[Flag], Any]]) -> Integer:
    flags = [all_of(flags) for flags, _ in cases]
    *others, last = [number_of(flags[0].terms, value) for _, value in cases]
    for flag, number in zip(reversed(flags[:-1]), reversed(others), strict=True):
        last = choose(flag, number, last)
    return integer(last)


def _choice(cases: Sequence[tuple[list[Flag], Any]]) -> Choice:
    """The alternatives of all cases; numbers are one alternative, and so are equal words."""
    found: list[tuple[Flag, Any]] = []
    for flags, value in cases:
        alternatives = value.alternatives if isinstance(value, Choice) else [(None, value)]
        found += [(all_of([*flags, *([] if flag is None else [flag])]), each) for flag, each in alternatives]
    grouped: dict[Any, Flag] = {}
    numbers = [(flag, each) for flag, each in found if _is_number(each)]
    is_symbolic = any(isinstance(each, SymbolicInt) for _, each in numbers)
    for flag, each in found:
        if not (is_symbolic and _is_number(each)):
            grouped[each] = grouped[each] | flag if each in grouped else flag
    choices = [(flag, each) for each, flag in grouped.items()]
    if is_symbolic:
        choices.append((any_of([flag for flag, _ in numbers]), _number([([flag], each) for flag, each in numbers])))
    return Choice(choices)


def largest(values: Iterable[Any], less: bool = False) -> Any:
    """Python's `max`; `min` with `less`."""
    first, *rest = list(values)
    for value in rest:
        is_taken = value < first if less else value > first
        if isinstance(is_taken, SymbolicInt):
            x, y = (number_of(is_taken.number.terms, each) for each in (value, first))
            ends = min if less else max
            first = integer(choose(is_taken.flag, x, y).within(ends(x.low, y.low), ends(x.high, y.high)))
        elif is_taken:
            first = value
    return first
