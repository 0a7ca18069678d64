"""What a design does by itself for as many cycles as its data ask for, as one step: symbolic execution with merging.

A *run* begins in a state whose next control depends on data, and ends where the design heeds its inputs again. Control are
the registers that take constants alone; each combination of their values is a place. From a place the netlist leads to
others, each under conditions on data. Places that reach each other form a loop, which is unrolled cycle by cycle; paths that
a solver shows to be impossible are left out. Where paths come together at the same control, they are one state again, in
which each register is a choice between its values, however many cycles each path took.

Registers that a run reads and writes are its *own*: during a run they depend on no input and on no other register, and no
other register, no output of the handshake depends on data in them. So whatever happens around a run, it gives the same.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from bitwuzla import Kind, Term

from mmau.prove.evaluation import variables, width
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.asking import Limits
from mmau.prove.user_design.conditions import first_comparison, known_where, parts_of
from mmau.prove.user_design.folding import SumFolding
from mmau.prove.user_design.possible_paths import Possible

State = Mapping[str, Term]
"""The value of each register, by name."""

Control = tuple[Term, ...]
"""The values of the control registers of a run, in the order of their names."""

CYCLES = 4096
"""Most cycles in one loop."""

PLACES = 256
"""Most places of a run."""

BRANCHES = 64
"""Most branches from a place."""

PATHS = 8
"""Most paths through a loop that are followed side by side; a loop with more is followed as one path, in which registers are
choices."""

NARROW = 16
"""Most bits of a register that is tried to be constant where a loop is left."""

TRIES = 2
"""How often a register is tried to be constant before it counts as one that is not."""


class NoRun(Exception):
    """The control of a design that is not followed; the message says why."""


@dataclass(frozen=True)
class Run:
    """A run from one state.

    Attributes:
        after: the values of its own registers at its end, as terms of those at its beginning. cycles: its most cycles.
    """

    after: State
    cycles: int


@dataclass(frozen=True, eq=False)
class Branch:
    """One of the ways that lead on from a place: `conditions` on registers, which together exclude those of all other
    branches; the registers that change, `after`; the place `to`; narrow registers on which conditions depend, `asked`."""

    conditions: tuple[Term, ...]
    after: State
    to: Control
    asked: tuple[str, ...] = ()


_Places = dict[Control, list[Branch] | None]


@dataclass(eq=False)
class _Point:
    """A place at a time: the registers are known as terms; `path` has the conditions under which it is reached from where
    the loop was entered; `ways` lead on from it, the first whose condition holds; None where the loop is left."""

    place: Control
    registers: State
    path: tuple[Term, ...]
    cycles: int
    before: "_Point | None" = None
    ways: "list[_Way] | None" = None

    def repeats(self) -> bool:
        """Whether it is a point before it once more."""
        point = self.before
        while point is not None:
            if point.place == self.place and point.registers == self.registers:
                return True
            point = point.before
        return False


@dataclass(frozen=True)
class _Way:
    """A branch as it is taken from a point, with its conditions as terms, to another point."""

    branch: Branch
    conditions: Sequence[Term]
    to: _Point


class Runs:
    """The runs of a design.

    Args:
        circuit: flat. undefined: its variables for undefined values. fresh: makes a new one of some width.
        operands: the inputs that are data. controls: those that are held meanwhile.
    """

    def __init__(
        self,
        terms: Terms,
        circuit: FlatNetlist,
        undefined: Sequence[Bits],
        fresh: Callable[[int], Bits],
        operands: Collection[str],
        controls: Mapping[str, Bits],
    ) -> None:
        self._terms, self._circuit, self._fresh = terms, circuit, fresh
        self._undefined = {bits.term: bits.width for bits in undefined}
        held = {circuit.inputs[port].term: bits.term for port, bits in controls.items() if port in circuit.inputs}
        folding = SumFolding(terms.manager, held)
        self._after = {name: folding.of(bits.term) for name, bits in circuit.after.items()}
        self._outputs = {port: folding.of(bits.term) for port, bits in circuit.outputs.items() if port != "d"}
        self.control = self._control(operands)
        self._found: dict[tuple[tuple[str, Term], ...], Run] = {}
        self._specialised: dict[frozenset[tuple[str, Term]], tuple[dict[str, Term], dict[str, Term]]] = {}
        self._led: dict[tuple[Control, tuple[str, ...], bool], list[Branch]] = {}

    @property
    def cycles(self) -> int:
        """Most cycles of a run that was followed; 0 if there was none."""
        return max((run.cycles for run in self._found.values()), default=0)

    def begins(self, state: State) -> bool:
        """Whether the next control depends on data in a state."""
        return bool(self._begun(state))

    def _begun(self, state: State) -> set[str]:
        """The control registers that depend on data in a state."""
        by = {self._circuit.registers[name].term: term for name, term in state.items() if term.is_value()}
        folding, data = (
            SumFolding(self._terms.manager, by),
            self._variables(set(state) - self.control) - set(self._undefined),
        )
        return {name for name in self.control if self._depends(folding.of(self._after[name])) & data}

    def run(self, state: State, limits: Limits) -> Run:
        """The run from a state.

        Raises:
            NoRun: what it does depends on inputs or on registers that are not known, or is too much.
        """
        places, own = self._places(state, limits)
        key = tuple((name, state[name]) for name in sorted(own))
        if key not in self._found:
            self._found[key] = self._followed(places, own, state, limits)
        return self._found[key]

    def _settled(self, state: State) -> frozenset[str]:
        """The registers that depend on themselves alone in a state, whatever their data are."""
        found = set(self._circuit.registers)
        while True:
            after, _ = self._at({name: state[name] for name in found & self.control if state[name].is_value()})
            left = {name for name in found if self._depends(after[name]) <= self._variables(found)}
            if left == found:
                return frozenset(found)
            found = left

    def _control(self, operands: Collection[str]) -> frozenset[str]:
        """The registers that only take constants, values of one another and of the handshake's inputs.

        A register of several bits may have bits that are conditions on data, for an optimised choice of constants is that.
        """
        names, inputs = set(self._circuit.registers), set(self._undefined)
        inputs |= {bits.term for port, bits in self._circuit.inputs.items() if port not in operands}
        while True:
            known = self._variables(names) | inputs
            other = {
                name
                for name in names
                if not all(
                    self._depends(part) <= known or (width(part) <= 1 < self._circuit.registers[name].width)
                    for part in parts_of(self._after[name])
                )
            }
            if not other:
                return frozenset(names)
            names -= other

    def _variables(self, names: Collection[str]) -> set[Term]:
        return {self._circuit.registers[name].term for name in names} | set(self._undefined)

    def _depends(self, term: Term) -> set[Term]:
        return set(variables([term]))

    def _at(self, constants: State) -> tuple[dict[str, Term], dict[str, Term]]:
        """The next values of all registers, and the outputs, where some registers are constant."""
        key = frozenset(constants.items())
        if key not in self._specialised:
            self._specialised[key] = self._folded(constants)
        return self._specialised[key]

    def _folded(self, constants: State) -> tuple[dict[str, Term], dict[str, Term]]:
        by = {self._circuit.registers[name].term: value for name, value in constants.items()}
        folding = SumFolding(self._terms.manager, by)
        after = {name: folding.of(term) for name, term in self._after.items()}
        return after, {port: folding.of(term) for port, term in self._outputs.items()}

    def _followed(self, places: _Places, own: frozenset[str], state: State, limits: Limits) -> Run:
        names = sorted(own & self.control)
        first = tuple(state[name] for name in names)
        order = _loops(first, {place: [each.to for each in branches or ()] for place, branches in places.items()})
        loop_of = {place: turn for turn, loop in enumerate(order) for place in loop}
        execution = _Execution(self._terms, self._circuit, self._undefined, self._fresh, limits)
        arrived: dict[Control, list[tuple[Term, State, int]]] = {place: [] for place in places}
        arrived[first].append((self._terms.manager.mk_true(), {name: state[name] for name in own}, 0))
        ends = [place for place, branches in places.items() if branches is None]
        if len(ends) != 1:
            raise NoRun(f"it heeds its inputs in {len(ends)} states")
        for turn, loop in enumerate(order):
            entries = [place for place in loop if arrived[place]]
            if loop[0] == ends[0] or not entries:
                continue
            if len(entries) > 1:
                raise NoRun("a loop is entered in several states")
            reach, registers, cycles = execution.joined(arrived[entries[0]])
            whole = {place: places[place] or [] for place in loop}
            try:
                divided = {place: self._branches(place, own, names, limits, True) for place in loop}
            except NoRun:
                divided = whole
            start = _Point(entries[0], registers, (reach,), cycles)
            points = execution.unrolled(start, divided, PATHS) or execution.unrolled(start, whole, CYCLES)
            if points is None:
                raise NoRun(f"a loop may take more than {CYCLES} cycles")
            for place in {point.place for point in points if loop_of[point.place] != turn}:
                arrived[place].append(execution.leaving(points, place, reach))
        if not arrived[ends[0]]:
            raise NoRun("it never ends")
        _, registers, cycles = execution.joined(arrived[ends[0]])
        return Run(execution.defined(registers), cycles)

    def _places(self, state: State, limits: Limits) -> tuple[_Places, frozenset[str]]:
        """The branches of each place that may be reached from a state, whatever the data are, None for one where the run
        ends; and the run's own registers.

        Its own are those whose next control depends on data, those on which they depend, and all that depend on data in them
        or do something else from place to place.
        """
        settled, own = self._settled(state), frozenset(self._begun(state))
        while True:
            grown = own
            names = sorted(own & self.control)
            if not all(state[name].is_value() for name in names):
                raise NoRun("control is not known")
            first = tuple(state[name] for name in names)
            places, left = dict[Control, list[Branch] | None](), [first]
            begin, shown = self._at(dict(zip(names, first, strict=True)))
            while left and grown == own:
                place = left.pop()
                if place in places:
                    continue
                if len(places) == PLACES or limits.over:
                    raise NoRun(f"more than {len(places)} states of control")
                after, outputs = self._at(dict(zip(names, place, strict=True)))
                data = self._variables(own - self.control) - set(self._undefined)
                also = {name for name, term in after.items() if self._depends(term) & data or term != begin[name]} | own
                also |= {name for each in own for name in self._named(after[each])}
                if outputs != shown or not all(self._depends(after[name]) <= self._variables(settled) for name in also):
                    places[place] = None
                elif also - own:
                    grown = own | also
                else:
                    places[place] = branches = self._branches(place, own, names, limits)
                    left += [each.to for each in branches]
            if grown == own:
                if places[first] is None or any(self._depends(term) & data for term in shown.values()):
                    raise NoRun("other registers, inputs or outputs have a part in it")
                return places, own
            own = grown

    def _named(self, term: Term) -> set[str]:
        """The registers on which a term depends."""
        found = self._depends(term)
        return {name for name, bits in self._circuit.registers.items() if bits.term in found}

    def _branches(
        self, place: Control, own: frozenset[str], names: Sequence[str], limits: Limits, divided: bool = False
    ) -> list[Branch]:
        """The branches from a place, which fix the next control; if it is divided, also what other registers become."""
        key = place, tuple(sorted(own)), divided
        if key not in self._led:
            self._led[key] = self._leading(place, own, names, limits, divided)
        return self._led[key]

    def _leading(
        self, place: Control, own: frozenset[str], names: Sequence[str], limits: Limits, divided: bool
    ) -> list[Branch]:
        manager, possible = self._terms.manager, Possible(self._terms, limits)
        after, _ = self._at(dict(zip(names, place, strict=True)))
        changed = {name: after[name] for name in own if after[name] != self._circuit.registers[name].term}
        changed |= {name: after[name] for name in names}
        others = [name for name in sorted(changed) if name not in names] if divided else []
        found, left = list[Branch](), [(list[Term](), changed)]
        while left:
            conditions, state = left.pop()
            if len(found) + len(left) > BRANCHES:
                raise NoRun(f"more than {BRANCHES} branches from a state of control")
            atom = next((each for name in names if (each := self._atom(state[name], name)) is not None), None)
            atom = atom or next((each for name in others if (each := self._atom(state[name])) is not None), None)
            if atom is None:
                asked = self._depends(self._terms.all_of(conditions))
                narrow = [
                    name
                    for name in sorted(own)
                    if (bits := self._circuit.registers[name]).term in asked and bits.width <= NARROW
                ]
                found.append(Branch(tuple(conditions), state, tuple(state[name] for name in names), tuple(narrow)))
                continue
            for holds in (True, False):
                literal = atom if holds else manager.mk_term(Kind.NOT, [atom])
                if possible.recent([*conditions, literal]):
                    folding = SumFolding(manager, known_where(self._terms, atom, holds))
                    left.append(([*conditions, literal], {name: folding.of(term) for name, term in state.items()}))
        return found

    def _atom(self, term: Term, control: str = "") -> Term | None:
        """The first comparison on which a choice of a term's parts depends; None if it depends on none.

        Raises:
            NoRun: a control register takes a value that is none of some constants.
        """
        left = [term]
        while left:
            part = left.pop()
            if part.kind() == Kind.ITE:
                return first_comparison(self._terms, part.children()[0])
            if part.kind() in (Kind.BV_CONCAT, Kind.BV_EXTRACT):
                left += reversed(part.children())
            elif control and not part.is_value():
                if width(part) > 1:
                    raise NoRun("control takes a value of data")
                return first_comparison(self._terms, part)
        return None


@dataclass
class _Execution:
    """Follows the paths of one run.

    Where paths come together, a register is a variable from then on, `meaning` is the choice that it stands for: terms stay
    small, and a question needs only those meanings on which it depends.
    """

    terms: Terms
    circuit: FlatNetlist
    undefined: Mapping[Term, int]
    fresh: Callable[[int], Bits]
    limits: Limits
    meaning: dict[Term, Term] = field(default_factory=dict)
    _variable: dict[Term, Term] = field(default_factory=dict)
    _failed: dict[tuple[Branch, str], int] = field(default_factory=dict)

    def unrolled(self, start: _Point, branches: Mapping[Control, Sequence[Branch]], paths: int) -> list[_Point] | None:
        """All points from a start on to those that leave some places; None if there are too many."""
        possible = Possible(self.terms, self.limits, self.meaning)
        points, level = [start], [start]
        cycles = 0
        while level:
            cycles += 1
            if len(level) > paths or cycles > CYCLES:
                return None
            if self.limits.over:
                raise NoRun(f"its loops were followed for {start.cycles + cycles} cycles in time")
            found = dict[_Point, None]()
            for point in level:
                point.ways = self._ways(start, point, branches, possible, cycles)
                found |= {way.to: None for way in point.ways}
            points += found
            level = [point for point in found if point.place in branches]
            if any(point.repeats() for point in level):
                raise NoRun("a loop may never end")
        return points

    def _ways(
        self,
        start: _Point,
        point: _Point,
        branches: Mapping[Control, Sequence[Branch]],
        possible: "Possible",
        cycles: int,
    ) -> list[_Way]:
        manager, registers = self.terms.manager, self.circuit.registers
        by = {registers[name].term: term for name, term in point.registers.items()}
        by |= {term: self.fresh(bits).term for term, bits in self.undefined.items()}
        folding, ways, same = (
            SumFolding(manager, by),
            list[_Way](),
            dict[tuple[Control, frozenset[tuple[str, Term]]], _Point](),
        )
        for branch in branches[point.place]:
            every = [folding.of(each) for each in branch.conditions]
            conditions = [each for each in every if not each.is_true()]
            if any(each.is_false() for each in conditions):
                continue
            path = (*point.path, *conditions)
            stays = branch.to in branches
            if (conditions or stays) and not possible.path(path, len(conditions), cycles, bool(stays and not conditions)):
                continue
            after = {**point.registers, **{name: folding.of(term) for name, term in branch.after.items()}}
            if conditions and not stays:
                after |= self._simpler(branch, after, start.registers, possible, path[-len(conditions) - 2 :])
            key = branch.to, frozenset(after.items())
            if key in same:  # a condition made no difference
                same[key].path = (*point.path, *(each for each in same[key].path[len(point.path) :] if each in conditions))
            else:
                same[key] = _Point(branch.to, after, path, point.cycles + 1, point)
            ways.append(_Way(branch, every, same[key]))
        return ways

    def _simpler(self, branch: Branch, after: State, kept: State, possible: "Possible", path: Sequence[Term]) -> State:
        """Other terms for registers on which the conditions of a branch depend, where these leave no choice: a number, as
        for a counter that has come to its end, or a register that the loop does not change and that is equal by then.

        Args:
            kept: the registers where the loop was entered. path: the last conditions.
        """
        found = dict[str, Term]()
        for name in branch.asked:
            term = after[name]
            if term.is_value() or term == kept[name] or self._failed.get((branch, name), 0) >= TRIES:
                continue
            others = [after[other] for other in branch.asked if after[other] == kept[other]]
            simpler = possible.equal_to(path, term, others)
            if simpler is None:
                self._failed[branch, name] = self._failed.get((branch, name), 0) + 1
            else:
                found[name] = simpler
        return found

    def leaving(self, points: Sequence[_Point], place: Control, reach: Term) -> tuple[Term, State, int]:
        """What holds where a loop is left to a place: the condition, the registers, the most cycles."""
        manager = self.terms.manager
        found = dict[_Point, tuple[Term, State | None] | None]()
        for point in reversed(points):
            if point.ways is None:
                here = point.place == place
                found[point] = (manager.mk_true(), point.registers) if here else (manager.mk_false(), None)
                continue
            found[point] = self._decided([way for way in point.ways if found[way.to] is not None], 0, found)
        at_start = found[points[0]]
        assert at_start is not None
        leaves, registers = at_start
        cycles = max(point.cycles for point in points if point.ways is None and point.place == place)
        return self.terms.all_of([reach, leaves]), self._cut(registers or {}), cycles

    def _decided(
        self, ways: Sequence[_Way], depth: int, found: Mapping[_Point, tuple[Term, State | None] | None]
    ) -> tuple[Term, State | None] | None:
        """What holds where several ways are, by their conditions from some depth on; None if there are none."""
        if not ways:
            return None
        first = ways[0]
        if all(way.to is first.to for way in ways):
            return found[first.to]
        literal = first.branch.conditions[depth]
        groups = [[way for way in ways if (way.branch.conditions[depth] == literal) is holds] for holds in (True, False)]
        one, other = (self._decided(group, depth + 1, found) for group in groups)
        return one if one is None or other is None else self._either(first.conditions[depth], one, other)

    def _either(
        self, condition: Term, one: tuple[Term, State | None], other: tuple[Term, State | None]
    ) -> tuple[Term, State | None]:
        reach = self._choice(condition, one[0], other[0])
        if one[1] is None or other[1] is None:
            return reach, one[1] or other[1]
        return reach, {name: self._choice(condition, term, other[1][name]) for name, term in one[1].items()}

    def joined(self, arrived: Sequence[tuple[Term, State, int]]) -> tuple[Term, State, int]:
        """One state for all that arrive at a place; their conditions exclude one another."""
        reach, registers, _ = reduce(
            lambda other, one: (
                self.terms.any_of([one[0], other[0]]),
                {name: self._choice(one[0], term, other[1][name]) for name, term in one[1].items()},
                0,
            ),
            reversed(arrived[:-1]),
            arrived[-1],
        )
        return reach, self._cut(registers) if len(arrived) > 1 else registers, max(cycles for _, _, cycles in arrived)

    def _choice(self, condition: Term, yes: Term, no: Term) -> Term:
        if yes == no or condition.is_true():
            return yes
        return no if condition.is_false() else self.terms.manager.mk_term(Kind.ITE, [condition, yes, no])

    def _cut(self, registers: State) -> State:
        """The registers with variables in place of choices."""
        found = dict(registers)
        for name, term in registers.items():
            if term.kind() == Kind.ITE:
                if term not in self._variable:
                    self._variable[term] = free = self.terms.free(f"merged {len(self.meaning)}", width(term)).term
                    self.meaning[free] = term
                found[name] = self._variable[term]
        return found

    def defined(self, registers: State) -> State:
        """The registers with the meanings of all variables."""
        folding = SumFolding(self.terms.manager, {})
        for free, term in self.meaning.items():
            folding.replace(free, folding.of(term))
        return {name: folding.of(term) for name, term in registers.items()}


def _loops(first: Control, after: Mapping[Control, Sequence[Control]]) -> list[list[Control]]:
    """The places that reach one another, in an order in which no later ones lead to earlier ones (Tarjan 1972)."""
    place, low, stack, found = dict[Control, int](), dict[Control, int](), list[Control](), list[list[Control]]()

    def visit(one: Control) -> None:
        place[one] = low[one] = len(place)
        stack.append(one)
        for other in after[one]:
            if other not in place:
                visit(other)
                low[one] = min(low[one], low[other])
            elif other in stack:
                low[one] = min(low[one], place[other])
        if low[one] == place[one]:
            begin = stack.index(one)
            found.append(stack[begin:])
            del stack[begin:]

    visit(first)
    return found[::-1]
