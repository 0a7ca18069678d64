"""A design with a handshake followed through every state that it can be in after reset.

What tells valid from empty is a number in every state, and what carries data is a term of the operands that are under way,
the oldest named first; data of operands that have left may be anything. So there are finitely many states for any number of
transfers, and that no further one can be reached is an induction over time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from bitwuzla import Kind, Term

from formal.evaluation import in_order, number, variables, width
from formal.own.asking import Limits
from formal.own.circuit import Circuit
from formal.own.folding import Folding
from formal.own.machine import Cycle, Machine, State
from formal.own.reading import NotCompared
from rtl.verilog.terms import Bits, Terms

RESET = 4
"""Cycles for which reset is held at least."""

MOST = 64
"""Operands under way: more than that are taken for a design that never gives a result."""

Operands = Mapping[str, Bits]

Stimulus = tuple[int, int]
"""in_valid and out_ready, which is 1 where there is none."""

OFFER, DRAIN = (1, 1), (0, 1)


@dataclass(frozen=True)
class Explored:
    """What was found.

    Attributes:
        results: of port d for the first operands, each other term once. states: how many. waiting: most operands under way.
    """

    results: list[Bits]
    states: int
    waiting: int


@dataclass(frozen=True)
class Reached:
    """A state.

    Attributes:
        registers: what they hold, by name. waiting: operands that have come in and whose results have not gone.
        must_stay: whether a result was shown and not taken, so that it has to be shown again.
    """

    registers: tuple[tuple[str, Term], ...]
    waiting: int
    must_stay: bool


@dataclass(frozen=True)
class Step:
    """One cycle: the state after it, and whether operands were taken."""

    to: Reached
    is_taken: bool


class Handshake:
    """A design whose operands and results are marked as valid.

    Args:
        protocol: "valid" or "valid-ready". operands: variables for the first ones under way. controls: of reset and enable.
    """

    def __init__(
        self,
        terms: Terms,
        machine: Machine,
        circuit: Circuit,
        protocol: str,
        operands: Operands,
        controls: Mapping[str, Bits],
    ) -> None:
        self._terms, self._machine, self._circuit = terms, machine, circuit
        self._waits, self._controls = protocol == "valid-ready", controls
        self._tokens: list[Operands] = [operands]
        self._loose: dict[tuple[str, int], Term] = {}
        self._supports: dict[Term, frozenset[Term]] = {}
        self._results: dict[Term, Bits] = {}

    def explored(self, limits: Limits) -> Explored:
        """Every state that can be reached, and every result.

        Raises:
            NotCompared: the rules of the protocol are broken, or it could not be followed.
        """
        first = self._after_reset()
        found, left, after = {first}, [first], dict[Reached, dict[Stimulus, Step]]()
        while left:
            if limits.over:
                raise NotCompared(f"the handshake was followed through {len(found)} states in time, and has more")
            reached = left.pop()
            after[reached] = {each: self._next(reached, *each) for each in self._stimuli()}
            for step in after[reached].values():
                if step.to not in found:
                    found.add(step.to)
                    left.append(step.to)
        self._check_progress(after)
        if not self._results:
            raise NotCompared("no operands ever come in, or no result ever comes out")
        return Explored(list(self._results.values()), len(found), max(each.waiting for each in found))

    def _stimuli(self) -> Iterator[Stimulus]:
        """Whether operands are there, and whether a result is taken."""
        yield from product((1, 0), (1, 0) if self._waits else (1,))

    def _after_reset(self) -> Reached:
        registers = self._forgotten(self._machine.start, 0)
        if "rst" in self._circuit.inputs:
            reset = {**self._controls, "rst": self._terms.number(1, 1)}
            for _ in range(RESET):
                before, registers = registers, self._forgotten(self._machine.cycle(dict(registers), reset).after(), 0)
            if registers != before:
                raise NotCompared(f"registers still change after {RESET} cycles of reset")
        return Reached(registers, 0, False)

    def _next(self, reached: Reached, in_valid: int, out_ready: int) -> Step:
        offered = self._token(reached.waiting) if in_valid else {}
        inputs = {**self._controls, **offered, "in_valid": self._terms.number(in_valid, 1)}
        if self._waits:
            inputs["out_ready"] = self._terms.number(out_ready, 1)
        cycle = self._machine.cycle(dict(reached.registers), inputs)
        is_taken = bool(in_valid and (not self._waits or self._known(cycle, "in_ready")))
        waiting, is_shown = reached.waiting + is_taken, self._known(cycle, "out_valid")
        if reached.must_stay and not is_shown:
            raise NotCompared("its handshake: out_valid falls before the result is taken")
        gone = bool(is_shown and out_ready)
        if is_shown:
            if waiting + bool(in_valid) == 0 or (gone and not waiting):
                raise NotCompared("its handshake: out_valid is 1 where no operands are under way")
            self._note_result(cycle.output("d"))
        registers = self._forgotten(cycle.after(), waiting)
        if gone:
            registers = self._forgotten(self._renamed(registers, waiting), waiting - 1)
        if waiting - gone > MOST:
            raise NotCompared(f"its handshake: more than {MOST} operands are under way")
        return Step(Reached(registers, waiting - gone, bool(is_shown and not gone and waiting)), is_taken)

    def _known(self, cycle: Cycle, port: str) -> bool:
        value = cycle.output(port).term
        if not value.is_value():
            raise NotCompared(f"its handshake: {port} depends on data, or on registers that reset does not set")
        return bool(number(value))

    def _note_result(self, d: Bits) -> None:
        first = {bits.term for bits in self._token(0).values()}
        if not self._support(d.term) <= first | self._machine.undefined:
            raise NotCompared("its handshake: a result depends on other operands than its own, or comes out of order")
        self._results[self._named("d", d.term)] = d

    def _token(self, place: int) -> Operands:
        """Variables of the operands at a place of the queue."""
        while len(self._tokens) <= place:
            named = {
                port: self._terms.free(f"{port} {len(self._tokens)}", bits.width) for port, bits in self._tokens[0].items()
            }
            self._tokens.append(named)
        return self._tokens[place]

    def _renamed(self, registers: tuple[tuple[str, Term], ...], waiting: int) -> dict[str, Term]:
        """The oldest operands have left: the others move up, and of the oldest nothing is known."""
        by = {}
        for place in range(waiting):
            for port, bits in self._token(place).items():
                other = self._token(place - 1)[port] if place else self._machine.anything(bits.width)
                by[bits.term] = other.term
        again = Folding(self._terms.manager, by)
        return {name: again.of(term) for name, term in registers}

    def _forgotten(self, state: State, waiting: int) -> tuple[tuple[str, Term], ...]:
        """Parts of registers that depend on more than operands under way, and on what is undefined, hold anything."""
        live = {bits.term for place in range(waiting) for bits in self._token(place).values()}
        return tuple((name, self._without(name, term, live)) for name, term in state.items())

    def _without(self, name: str, term: Term, live: set[Term]) -> Term:
        parts = term.children() if term.kind() == Kind.BV_CONCAT else [term]
        kept, place = [], width(term)
        for part in parts:
            place -= width(part)
            if self._support(part) <= live | self._machine.undefined:
                kept.append(self._named(f"{name} {place}", part))
            else:
                kept.append(self._unknown(name, place, width(part)))
        return kept[0] if len(kept) == 1 else self._terms.manager.mk_term(Kind.BV_CONCAT, kept)

    def _named(self, place: str, part: Term) -> Term:
        """What is undefined in a part has names that only the place and the order tell, so that states can be alike."""
        if not self._support(part) & self._machine.undefined:
            return part
        loose = [term for term in variables([part]) if term in self._machine.undefined]
        by = dict(zip(loose, (self._undefined(f"{place} {k}", width(term)) for k, term in enumerate(loose)), strict=True))
        return Folding(self._terms.manager, by).of(part)

    def _undefined(self, name: str, bits: int) -> Term:
        key = (name, bits)
        if key not in self._loose:
            self._loose[key] = self._terms.free(f"undefined {name}", bits).term
            self._machine.undefined.add(self._loose[key])
        return self._loose[key]

    def _unknown(self, name: str, place: int, bits: int) -> Term:
        register = self._circuit.states[name]
        return self._terms.part(register, place + bits - 1, place).term

    def _support(self, root: Term) -> frozenset[Term]:
        """The variables that a term depends on."""
        for term in in_order([root], self._supports):
            below = [self._supports[child] for child in term.children()]
            self._supports[term] = frozenset([term]) if term.is_const() else frozenset().union(*below)
        return self._supports[root]

    def _check_progress(self, after: Mapping[Reached, Mapping[Stimulus, Step]]) -> None:
        """From every state, results come out while no further operands come in, and operands are taken again."""
        for reached in after:
            state = reached
            for _ in range(len(after)):
                if state.waiting:
                    state = after[state][DRAIN].to
            if state.waiting:
                raise NotCompared("its handshake: operands were taken whose result never comes")
            for _ in range(len(after)):
                if not after[state][OFFER].is_taken:
                    state = after[state][DRAIN].to
            if not after[state][OFFER].is_taken:
                raise NotCompared("its handshake: operands are not taken any more")
