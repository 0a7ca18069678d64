"""What a design does by itself for as many cycles as its data ask for, as one step: symbolic execution with merging.

A *run* begins in a state whose next control depends on data, and ends where the design heeds its inputs again. Control are
the registers that take constants alone; each combination of their values is a place. From a place the netlist leads to
others, each under conditions on data. Places that reach each other form a loop, which is unrolled cycle by cycle; paths that
a solver shows to be impossible are left out. Where paths come together at the same control, they are one state again, in
which each register is a choice between its values, however many cycles each path took.

Registers that a run reads and writes are its *own*: during a run they depend on no input and on no other register, and no
other register, no output of the handshake depends on data in them. So whatever happens around a run, it gives the same.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import bitwuzla
from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, number, variables, width
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.asking import Limits
from mmau.prove.user_design.folding import SumFolding

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

QUESTION = 2.0
"""Seconds for the question whether a path is possible."""

NARROW = 16
"""Most bits of a register that is tried to be constant where a loop is left."""

TRIES = 2
"""How often a register is tried to be constant before it counts as one that is not."""

OFTEN = 16
"""A path through a loop is asked about with all that is known in every so many cycles."""


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
    ways: "list[_Way] | None" = None


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
                    for part in _parts(self._after[name])
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
        manager, possible = self._terms.manager, _Possible(self._terms, limits)
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
                asked = self._depends(_all(self._terms, conditions))
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
                    folding = SumFolding(manager, _known(self._terms, atom, holds))
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
                return _first_comparison(self._terms, part.children()[0])
            if part.kind() in (Kind.BV_CONCAT, Kind.BV_EXTRACT):
                left += reversed(part.children())
            elif control and not part.is_value():
                if width(part) > 1:
                    raise NoRun("control takes a value of data")
                return _first_comparison(self._terms, part)
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
        possible = _Possible(self.terms, self.limits, self.meaning)
        points, level, seen = [start], [start], set[tuple[Control, frozenset[tuple[str, Term]]]]()
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
            states = {(point.place, frozenset(point.registers.items())) for point in level}
            if states & seen:
                raise NoRun("a loop may never end")
            seen |= states
        return points

    def _ways(
        self,
        start: _Point,
        point: _Point,
        branches: Mapping[Control, Sequence[Branch]],
        possible: "_Possible",
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
                same[key] = _Point(branch.to, after, path, point.cycles + 1)
            ways.append(_Way(branch, every, same[key]))
        return ways

    def _simpler(self, branch: Branch, after: State, kept: State, possible: "_Possible", path: Sequence[Term]) -> State:
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
        return _all(self.terms, [reach, leaves]), self._cut(registers or {}), cycles

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


class _Possible:
    """Tells whether paths are possible; in doubt they are.

    Questions are put to three solvers that keep what they were told: about the last conditions alone; with the meanings of
    the variables in them, in which products are variables; and about the whole path with all meanings.

    Args:
        meaning: what variables stand for.
    """

    def __init__(self, terms: Terms, limits: Limits, meaning: Mapping[Term, Term] | None = None) -> None:
        self._terms, self._limits, self._meaning = terms, limits, meaning or {}
        self._end, self.answer = 0.0, bitwuzla.Result.UNKNOWN
        self._solvers = [self._solver() for _ in range(3)]
        self._told: list[set[Term]] = [set() for _ in self._solvers]
        self._products: dict[Term, Term] = {}

    def recent(self, conditions: Sequence[Term]) -> bool:
        """Whether conditions may hold together, whatever variables stand for."""
        return self._possible(0, conditions)

    def path(self, path: Sequence[Term], new: int, cycles: int, unconditional: bool) -> bool:
        """Whether a path may be taken.

        Args:
            new: the number of its last conditions that are new. cycles: how many cycles it has in its loop.
            unconditional: whether it stays in the loop without a condition.
        """
        last = path[-new - 2 :]
        if not self._possible(0, last):
            return False
        if unconditional or cycles <= 2 or not cycles % OFTEN:
            if not self._possible(1, last):
                return False
            if unconditional or not cycles & (cycles - 1):
                return self._possible(2, path)
        return True

    def equal_to(self, conditions: Sequence[Term], term: Term, others: Sequence[Term]) -> Term | None:
        """A number or one of several terms to which a term is always equal where conditions hold; None if there is none."""
        make = self._terms.manager.mk_term
        if self._possible(0, conditions) and self.answer == bitwuzla.Result.SAT:
            for other in (self._solvers[0].get_value(term), *(each for each in others if each.sort() == term.sort())):
                if not self._possible(0, [*conditions, make(Kind.DISTINCT, [term, other])]):
                    return other
        return None

    def _solver(self) -> bitwuzla.Bitwuzla:
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        solver = bitwuzla.Bitwuzla(self._terms.manager, options)
        solver.configure_terminator(lambda: time.process_time() > self._end or self._limits.over)
        return solver

    def _possible(self, which: int, conditions: Sequence[Term]) -> bool:
        self._end = time.process_time() + QUESTION
        solver = self._solvers[which]
        if which:
            self._tell(which, conditions)
        asked = [self._loosened(each) if which == 1 else each for each in conditions if not each.is_true()]
        self.answer = solver.check_sat(*asked)
        return bool(self.answer != bitwuzla.Result.UNSAT)

    def _tell(self, which: int, conditions: Sequence[Term]) -> None:
        """Tell a solver what the variables mean on which conditions depend."""
        left, told = list(conditions), self._told[which]
        while left:
            for free in variables([left.pop()]):
                if free in self._meaning and free not in told:
                    told.add(free)
                    term = self._meaning[free]
                    left.append(term)
                    term = self._loosened(term) if which == 1 else term
                    self._solvers[which].assert_formula(self._terms.manager.mk_term(Kind.EQUAL, [free, term]))

    def _loosened(self, formula: Term) -> Term:
        """A formula with variables in place of products."""
        for term in in_order([formula]):
            if term.kind() == Kind.BV_MUL and term not in self._products:
                self._products[term] = self._terms.free("product", width(term)).term
        return self._terms.manager.substitute_term(formula, self._products) if self._products else formula


def _all(terms: Terms, conditions: Sequence[Term]) -> Term:
    """Whether all conditions hold."""
    left = [each for each in conditions if not each.is_true()]
    if not left:
        return terms.manager.mk_true()
    return left[0] if len(left) == 1 else terms.manager.mk_term(Kind.AND, left)


def _parts(term: Term) -> Iterator[Term]:
    """The terms between which choices in a term select; a bit that tells whether a condition holds is one of them."""
    left, seen = [term], set[Term]()
    while left:
        part = left.pop()
        if part in seen:
            continue
        seen.add(part)
        children = part.children()
        if part.kind() == Kind.ITE and not (width(part) == 1 and all(each.is_value() for each in children[1:])):
            left += children[1:]
        elif part.kind() in (Kind.BV_CONCAT, Kind.BV_EXTRACT):
            left += children
        else:
            yield part


LOGIC = {Kind.NOT, Kind.AND, Kind.OR, Kind.BV_NOT, Kind.BV_REDAND, Kind.BV_REDOR, Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR}
"""Operations whose operands are conditions, where these have one bit."""


def _is_of_one(term: Term) -> bool:
    """Whether a condition is its first operand, a condition too, or the negation of it."""
    children = term.children()
    if term.kind() in (Kind.EQUAL, Kind.DISTINCT):
        return width(children[0]) == 1 and children[1].is_value()
    return term.kind() == Kind.ITE and width(term) == 1


def _first_comparison(terms: Terms, condition: Term) -> Term:
    """The first condition in a condition that is none made of others."""
    left = [condition]
    while left:
        term = left.pop()
        children = term.children()
        if term.is_value():
            continue
        if term.kind() == Kind.BV_CONCAT or (term.kind() in LOGIC and width(term) <= 1):
            left += reversed(children)
        elif _is_of_one(term):
            left.append(children[0])
        elif term.sort().is_bool():
            return term
        elif width(term) == 1:
            return terms.equal(Bits(term, 1), terms.number(1, 1))
        else:
            break
    return condition if condition.sort().is_bool() else terms.equal(Bits(condition, 1), terms.number(1, 1))


STRICT = {
    Kind.BV_SGT: Kind.BV_SLT, Kind.BV_SLT: Kind.BV_SGT, Kind.BV_UGT: Kind.BV_ULT, Kind.BV_ULT: Kind.BV_UGT,
}  # fmt: skip
"""Strict orders, each with the one that compares the other way round."""


def _known(terms: Terms, condition: Term, holds: bool) -> dict[Term, Term]:
    """The terms whose values are known where a condition holds, or where it does not."""
    make, found = terms.manager.mk_term, dict[Term, Term]()

    def put(term: Term, value: bool) -> None:
        found[term] = terms.manager.mk_true() if value else terms.manager.mk_false()

    put(condition, holds)
    if condition.kind() in (Kind.EQUAL, Kind.DISTINCT):
        one, other = condition.children()
        if one.is_value():
            one, other = other, one
        if other.is_value():
            if holds == (condition.kind() == Kind.EQUAL):
                found[one] = other
            elif width(one) == 1:
                found[one] = terms.number(1 - number(other), 1).term
    elif condition.kind() in STRICT:
        one, other = condition.children()
        same, turned = condition.kind(), STRICT[condition.kind()]
        put(make(turned, [other, one]), holds)
        if holds:
            for impossible in (make(same, [other, one]), make(turned, [one, other])):
                put(impossible, False)
            put(make(Kind.EQUAL, [one, other]), False)
            put(make(Kind.EQUAL, [other, one]), False)
    return found


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
