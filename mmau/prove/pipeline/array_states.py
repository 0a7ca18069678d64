"""Arrays whose elements take operands at different times: all states that one can reach, with operands as symbols.

One tile is followed, which one is left open. Its operands are symbols at the ports in the cycles in which they are taken;
whatever else is at a port may be anything, and so may every operand of other tiles. Registers that no operand reaches are
numbers, all others hold symbols, terms of symbols, or anything. So there are finitely many states, and they are visited one
by one: from the states that a reset leaves, with both values of in_valid and of out_ready in each. A reset is always one
from any state whatever, with both of these values too.

What is claimed is compared in every state; the result of the followed tile with the term that the combinational datapath
gives, element by element and step by step.
"""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

from bitwuzla import Term

from mmau.prove.datapath.unit_questions import TOP, NotProvable, Question
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Terms
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.handshake_rules import Cycle, Trace
from mmau.prove.pipeline.pipeline import HANDSHAKE
from mmau.prove.pipeline.register_groups import RegisterGroups, Remembered, value_of
from mmau.prove.pipeline.symbols import ANY, Symbols, Values
from mmau.prove.smtlib import question
from rtl.designs.design import Design
from rtl.designs.ports import CONTROL_INPUTS
from rtl.designs.tile import Share
from rtl.designs.tile_design import TileDesign

MAX_STATES = 1_000_000
"""Most states that are visited: some minutes, and 3 GB."""

RULES = (
    "result is the token's",
    "nothing leaves that has not come in",
    "result stays valid while it waits",
    "result is shown whether or not it is taken",
    "ready when empty",
    "a result after as many cycles as the latency says",
    "a result comes if a whole tile is inside or operands are there",
)
"""The claims. That a result keeps its bits while it waits is part of the first: it is the token's in every cycle."""

IS_RESULT, COMES_IN, STAYS_VALID, IS_SHOWN, IS_READY, ON_TIME, GOES_ON = RULES


STIMULI = ((0, 1), (1, 1), (0, 0), (1, 0))
"""in_valid and out_ready in a cycle. Those that take a result come first: a wrong one is then seen from outside."""


class Book(NamedTuple):
    """What has come in and gone out, counted outside of the design.

    Attributes:
        entered: transfers of the last tile that are in, 0 if all are. inside: tiles that have begun and not left.
        ahead: those that leave before the followed one; -1 if none is followed.
        waits: whether a result waited in the cycle before.
    """

    entered: int = 0
    inside: int = 0
    ahead: int = -1
    waits: bool = False


def is_visited(design: Design) -> TypeGuard[TileDesign]:
    """Whether a design is one whose elements take operands, or whose results leave them, at different times."""
    array = design.array if isinstance(design, TileDesign) else None
    return array is not None and (array.wave > 0 or array.double_buffer or array.keeps_weights)


def visit_questions(states: "ArrayStates") -> list[Question]:
    """A question for each claim about an array: whether it is broken in one of the states. Visiting them has answered it, so
    the question is about a constant; if one is broken, it is the only one.

    Raises:
        NotProvable: as `ArrayStates.broken` does.
    """
    trace, terms = states.broken(), states.terms
    rules = RULES if trace is None else (trace.rule,)
    text, _ = question(terms.differs(terms.number(int(trace is None), 1), terms.number(1, 1)))
    return [Question(f"{HANDSHAKE} {rule}", text, ()) for rule in rules]


State = tuple[Book, tuple[int, ...]]
"""What is counted outside, and the number of each group of registers."""


class _Broken(Exception):
    """A claim fails: its name, the state and the cycle."""


class ArrayStates:
    """The states of an array.

    Args:
        terms: makes terms. design: the array. verilog: its Verilog, with a top module called `unit`. reference: that of the
            combinational datapath, likewise.

    Raises:
        NotProvable: a netlist that is not understood. NoTerm: a statement that has no term.
    """

    def __init__(self, terms: Terms, design: TileDesign, verilog: str, reference: str) -> None:
        self.terms, self._design, self._symbols = terms, design, Symbols()
        modules = read_netlist(verilog)
        netlist = FlatNetlist(terms, modules, TOP)
        values = Values(self._symbols, terms, netlist, modules)
        self._ports = list(netlist.inputs)
        leaves = [netlist.inputs[name].term for name in self._ports]
        leaves += [bits.term for bits in netlist.registers.values()]
        places = {leaf: place for place, leaf in enumerate(leaves)}

        def function(term: Term) -> Remembered:
            return value_of(values, netlist, term, places)

        entrances = [place for place, name in enumerate(self._ports) if name not in ("clk", "rst")]
        after = [function(netlist.after[name].term) for name in netlist.registers]
        self._groups = RegisterGroups(len(self._ports), after, entrances)
        outputs = [function(netlist.outputs[name].term) for name in ("in_ready", "out_valid", "d")]
        self._in_ready, self._out_valid, self._d = (self._groups.function(each, [each]) for each in outputs)
        self._unknown = self._groups.of([ANY for _ in after])
        self._widths = {name: bits.width for name, bits in netlist.inputs.items()}
        self._transfers = design.shape.transfers
        self._expected = self._results(terms, read_netlist(reference))
        self._none = {name: ANY for name in self._ports if name not in ("clk", *CONTROL_INPUTS)} | {"clk": 0}
        #: How each state that was visited is reached.
        self.before: dict[State, tuple[State | None, Cycle]] = {}
        self._flow: dict[State, State | None] = {}
        self._idle: dict[State, State] = {}
        self._without_result: dict[State, list[tuple[State, Cycle]]] = {}

    def broken(self) -> Trace | None:
        """The fewest cycles that break a claim; None if all states are visited, and all claims hold in each.

        Raises:
            NotProvable: there are too many states, or the handshake depends on operands.
        """
        try:
            self._visit()
        except _Broken as error:
            rule, state, cycle = error.args
            cycles = [cycle]
            while state is not None:
                state, cycle = self.before[state]
                cycles.append(cycle)
            return Trace(rule, tuple(reversed(cycles)))
        return None

    def _visit(self) -> None:
        for in_valid, out_ready in STIMULI:
            reset = Cycle(1, in_valid, out_ready)
            given = self._given(self._none, reset) + self._unknown
            self.before.setdefault((Book(), self._groups.after(given)), (None, reset))
        waiting = deque(self.before)
        while waiting:
            state = waiting.popleft()
            for after, cycle in self._turns(state):
                if after in self.before:
                    continue
                if len(self.before) == MAX_STATES:
                    raise NotProvable(
                        f"{self._design.name} has more than {MAX_STATES} states, too many to visit; "
                        "take fewer rows, columns or stages, or a smaller depth"
                    )
                self.before[after] = (state, cycle)
                waiting.append(after)
        self._check_progress()
        self._check_flow()

    def _turns(self, state: State) -> list[tuple[State, Cycle]]:
        """The states after a cycle without a reset."""
        book, registers = state
        shown, found = set(), []
        for in_valid, out_ready in STIMULI:
            cycle = Cycle(0, in_valid, out_ready)
            control = self._given(self._none, cycle) + registers
            in_ready, out_valid = self._in_ready(control), self._out_valid(control)
            if min(in_ready, out_valid) < 0:
                raise NotProvable("in_ready and out_valid must depend on the handshake alone")
            shown.add(out_valid)
            enters, leaves = in_valid and in_ready, out_valid and out_ready
            is_begun = book.inside == 1 and book.entered > 0
            self._check(not out_valid or (book.inside > 0 and not is_begun), COMES_IN, state, cycle)
            self._check(bool(out_valid) or not book.waits, STAYS_VALID, state, cycle)
            self._check(bool(in_ready) or book.inside > 0, IS_READY, state, cycle)
            if out_valid and book.ahead == 0:
                self._check(self._d(control) == self._expected, IS_RESULT, state, cycle)
            waits = bool(out_valid and not out_ready)
            inside, ahead = book.inside - leaves, book.ahead - (leaves and book.ahead >= 0)
            is_gone = leaves and book.ahead == 0
            for follows in (False, True) if enters and book.entered == 0 and book.ahead < 0 else (False,):
                after = Book(book.entered, inside, ahead, waits)
                given = control
                if enters:
                    entered = (book.entered + 1) % len(self._transfers)
                    begun = inside + (book.entered == 0)
                    after = Book(entered, begun, begun - 1 if follows else ahead, waits)
                    is_followed = follows or (book.entered > 0 and ahead == inside - 1 and ahead >= 0)
                    given = self._given(self._operands(book.entered), cycle) + registers if is_followed else control
                reached = None if is_gone else (after, self._groups.after(given))
                if (in_valid, out_ready) == (1, 1) and not follows:
                    self._flow[state] = None if leaves else reached
                if reached is not None:
                    found.append((reached, cycle))
                    if book == Book() and (in_valid, out_ready) == (0, 1):
                        self._idle[state] = reached
                    if not out_valid and (in_valid or book.inside > (book.entered > 0)):
                        self._without_result.setdefault(state, []).append((reached, cycle))
        self._check(len(shown) == 1, IS_SHOWN, state, Cycle(0, 0, 0))
        return found

    def _check_flow(self) -> None:
        """Check that the first result comes when it should: from each state after a reset, and from each that an empty
        design comes to again while nothing comes in, so that nothing of an earlier tile is under way in it."""
        starts = [state for state, (before, _) in self.before.items() if before is None]
        ends: set[State] = set()
        for state in self._idle:
            path: dict[State, None] = {}
            while state not in path and state not in ends:
                path[state] = None
                state = self._idle[state]
            if state in path:
                again = list(path)
                starts += again[again.index(state) :]
            ends |= set(path)
        for start in dict.fromkeys(starts):
            self._check_latency(start)

    def _check_latency(self, start: State) -> None:
        cycles, each = 0, start
        while (following := self._flow[each]) is not None:
            self._check(cycles <= self._design.latency, ON_TIME, each, Cycle(0, 1, 1))
            cycles, each = cycles + 1, following
        self._check(cycles == self._design.latency, ON_TIME, each, Cycle(0, 1, 1))

    def _check_progress(self) -> None:
        """Check that no cycles without a result can go on for ever while a whole tile is inside or operands are there,
        whether or not a result would be taken."""
        left = {state: len(after) for state, after in self._without_result.items()}
        before: dict[State, list[State]] = {}
        for state, after in self._without_result.items():
            for other, _ in after:
                before.setdefault(other, []).append(state)
        ends = deque(state for state in before if state not in left)
        while ends:
            for state in before.get(ends.popleft(), ()):
                left[state] -= 1
                if not left[state]:
                    ends.append(state)
        stuck = next((state for state, count in left.items() if count), None)
        if stuck is not None:
            raise _Broken(GOES_ON, stuck, next(cycle for other, cycle in self._without_result[stuck] if left.get(other)))

    def _check(self, holds: bool, rule: str, state: State, cycle: Cycle) -> None:
        if not holds:
            raise _Broken(rule, state, cycle)

    def _given(self, operands: Mapping[str, int], cycle: Cycle) -> tuple[int, ...]:
        """The values of the ports in a cycle."""
        return tuple(operands[name] if name in operands else getattr(cycle, name) for name in self._ports)

    def _operands(self, transfer: int) -> dict[str, int]:
        """The values of the operand ports with a transfer of the followed tile."""
        return self._none | {name: self._operand(name, transfer) for name in self._none if name != "clk"}

    def _operand(self, name: str, transfer: int) -> int:
        return self._symbols.made("operand", name, transfer)

    def _share(self, name: str, share: Share) -> int:
        """A part of an operand."""
        width = self._widths[name]
        bits = width // share.parts
        high, low = (share.place + 1) * bits - 1, share.place * bits
        return self._symbols.part(self._operand(name, share.transfer), width, high, low)

    def _results(self, terms: Terms, modules: Mapping[str, Module]) -> int:
        """The term of d, by the combinational datapath."""
        i, shape = self._design.instruction, self._design.shape
        netlist = FlatNetlist(terms, modules, TOP)
        d, names = netlist.outputs["d"], list(netlist.inputs)
        values = Values(self._symbols, terms, netlist, modules)
        of_step = values.function(d.term, [netlist.inputs[name].term for name in names])
        found = []
        for place in range(i.m * i.n):
            value = self._share("c", Share(shape.c_transfer, place, i.m * i.n))
            for shares in shape.sources(*divmod(place, i.n)):
                of_side = dict(zip("ab", shares, strict=True))
                value = of_step([value if name == "c" else self._share(name, of_side[name[-1]]) for name in names])
            found.append((value, d.width))
        return self._symbols.joined(found[::-1])
