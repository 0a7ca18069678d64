"""Registers in groups, so that a state of a large array is a few numbers, and the next one a few look-ups in tables.

An array has hundreds of registers. From cycle to cycle a group of them seldom comes to values that it never had beside
those that it reads: what follows is looked up, and only else computed. Which registers go together changes the time alone.
"""

from collections.abc import Callable, Mapping, Sequence

from bitwuzla import Term

from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.pipeline.symbols import Values

State = tuple[int, ...]
"""Values of the ports, then of the registers; or in place of the registers a number for each group."""


class Remembered:
    """A function of some places of a state, which is computed once for each of their values."""

    def __init__(self, compute: Callable[[State], int], places: Sequence[int]) -> None:
        self.places, self._compute, self._found = places, compute, dict[State, int]()

    def __call__(self, state: State) -> int:
        key = tuple([state[place] for place in self.places])
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._compute(state)
        return found


def value_of(values: Values, netlist: FlatNetlist, term: Term, places: Mapping[Term, int]) -> Remembered:
    """The value of a term as a function of ports and registers.

    Args:
        places: of each port and register in a state.
    """
    leaves = sorted(netlist.reached(term), key=lambda leaf: places[leaf])
    at, function = [places[leaf] for leaf in leaves], values.function(term, leaves)
    return Remembered(lambda state: function([state[place] for place in at]), at)


class RegisterGroups:
    """All registers of a netlist, and their next values.

    Args:
        ports: number of ports. after: the next value of each register. entrances: the ports that count as such: registers
            that are as many cycles away from the nearest go together, for they read one another and little else.
    """

    def __init__(self, ports: int, after: Sequence[Remembered], entrances: Sequence[int]) -> None:
        self._ports, self._groups = ports, _by_distance(ports, after, entrances)
        self._of = {register: place for place, group in enumerate(self._groups) for register in group}
        order = [register for group in self._groups for register in group]
        self._order = sorted(range(len(order)), key=order.__getitem__)
        self._numbers: list[dict[State, int]] = [{} for _ in self._groups]
        self._values: list[list[State]] = [[] for _ in self._groups]
        self._after = [
            self._next(place, [after[register] for register in group]) for place, group in enumerate(self._groups)
        ]

    def of(self, registers: Sequence[int]) -> State:
        """The number of each group where the registers have these values."""
        groups = (tuple([registers[register] for register in group]) for group in self._groups)
        return tuple([self._number(place, values) for place, values in enumerate(groups)])

    def after(self, state: State) -> State:
        """The number of each group after a cycle."""
        return tuple([each(state) for each in self._after])

    def function(self, compute: Callable[[State], int], reads: Sequence[Remembered]) -> Remembered:
        """A function of ports and registers as one of ports and groups.

        Args:
            reads: functions that together read all that it does.
        """
        places = {place for each in reads for place in each.places}
        whole = {place if place < self._ports else self._ports + self._of[place - self._ports] for place in places}
        return Remembered(lambda state: compute(self._opened(state)), sorted(whole))

    def _next(self, place: int, after: Sequence[Remembered]) -> Remembered:
        return self.function(lambda state: self._number(place, tuple([each(state) for each in after])), after)

    def _number(self, place: int, values: State) -> int:
        number = self._numbers[place].setdefault(values, len(self._values[place]))
        if number == len(self._values[place]):
            self._values[place].append(values)
        return number

    def _opened(self, state: State) -> State:
        numbers = zip(self._values, state[self._ports :], strict=True)
        found = [value for values, number in numbers for value in values[number]]
        return state[: self._ports] + tuple([found[place] for place in self._order])


def _by_distance(ports: int, after: Sequence[Remembered], entrances: Sequence[int]) -> list[list[int]]:
    """The registers by the fewest cycles that a value takes from an entrance; last those that none reaches."""
    left, reached, groups = dict(enumerate(after)), set(entrances), list[list[int]]()
    while group := [register for register, each in left.items() if not reached.isdisjoint(each.places)]:
        groups.append(group)
        reached = {ports + register for register in group}
        for register in group:
            del left[register]
    return [*groups, *([list(left)] if left else [])]
