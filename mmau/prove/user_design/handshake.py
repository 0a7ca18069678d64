"""Exploration of all states that a design with a handshake can reach after reset, by symbolic execution cycle by cycle.

Control registers are numbers in every state, and data registers are terms of the pending operands, the oldest first; data of
operands that have left may have any value. So there are finitely many states for any number of transfers, and the check that
no further state is reachable is an induction over time. States that agree in all registers on which valid and ready depend
are one state, in which each register in which they differ may have any value: stages whose data stay behind when their
operands move on would else multiply the states. Where a result depends on such a register, states are explored one by one.

Where control depends on data, the design must do a run by itself (runs.py), in which nothing else depends on data: a state
in which the run is under way, for any number of cycles, and then the state in which it has ended.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Generic, TypeVar

from bitwuzla import Kind, Term

from cosim.bench.protocol import Timing
from mmau.prove.evaluation import in_order, number, variables, width
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.asking import Limits, NotCompared, ask
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.runs import NoRun, Runs

State = Mapping[str, Term]
"""The value of each register, by name."""

PAUSES = "pauses"
"""An input of the wrapper: for each operand with a handshake of its own, whether it is not offered yet."""

NAMED = 8
"""Registers and inputs of a handshake that are named."""


class Cycle:
    """A circuit between two clock edges.

    Args:
        outputs, registers: the terms of its outputs and of the registers after the edge.
    """

    def __init__(self, outputs: Mapping[str, Bits], registers: Mapping[str, Bits], folding: Folding) -> None:
        self._outputs, self._registers, self._folding = outputs, registers, folding

    def output(self, port: str) -> Bits:
        """The value at an output port."""
        bits = self._outputs[port]
        return Bits(self._folding.of(bits.term), bits.width)

    def after(self) -> State:
        """The value of each register after the clock edge."""
        return {name: self._folding.of(bits.term) for name, bits in self._registers.items()}

    def given(self, folding: Folding) -> "Cycle":
        """The same cycle after further replacements."""
        registers = {name: Bits(self._folding.of(bits.term), bits.width) for name, bits in self._registers.items()}
        return Cycle({port: self.output(port) for port in self._outputs}, registers, folding)


class Machine:
    """A flat circuit with inputs.

    Args:
        circuit: flat. anything: its variables for undefined values.

    Attributes:
        start: registers with unknown values. undefined: variables for undefined values, of all cycles; `anything_undefined`
            those of the circuit.
    """

    def __init__(self, terms: Terms, circuit: FlatNetlist, anything: Sequence[Bits]) -> None:
        self._terms, self._circuit, self._fresh = terms, circuit, 0
        self.anything_undefined, self.undefined = anything, set[Term]()
        self.start: State = {name: bits.term for name, bits in circuit.registers.items()}

    def cycle(self, state: State, inputs: Mapping[str, Bits]) -> Cycle:
        """The formulas of one cycle from a state; an input that is not given is a new variable."""
        by = {bits.term: state[name] for name, bits in self._circuit.registers.items()}
        for port, bits in self._circuit.inputs.items():
            by[bits.term] = (inputs[port] if port in inputs else self.anything(bits.width)).term
        for bits in self.anything_undefined:
            by[bits.term] = self.undefined_value(bits.width).term
        return Cycle(self._circuit.outputs, self._circuit.after, Folding(self._terms.manager, by))

    def anything(self, width: int) -> Bits:
        """A variable that nothing else depends on."""
        self._fresh += 1
        return self._terms.free(f"any {self._fresh}", width)

    def undefined_value(self, width: int) -> Bits:
        """A new undefined value."""
        bits = self.anything(width)
        self.undefined.add(bits.term)
        return bits


S = TypeVar("S")

Stimulus = tuple[int, ...]
"""in_valid and out_ready; out_ready is 1 if the design has no such port; then whether operands pause on their way into the
design, bit by bit, and whether a run ends."""


@dataclass(frozen=True)
class Step(Generic[S]):
    """One cycle from a state.

    Attributes:
        to: the state after the cycle. waiting: number of operands under way before the cycle. is_taken: whether operands
            were taken.
        is_shown: whether out_valid was 1. goes_on: whether a run went on, which it does for a bounded number of cycles.
    """

    to: S
    waiting: int
    is_taken: bool
    is_shown: bool
    goes_on: bool = False


Steps = Mapping[S, Mapping[Stimulus, Step[S]]]
"""The cycle from each state for each stimulus."""


def check_progress(after: Steps[S]) -> None:
    """Check every state that can be reached.

    Raises:
        NotCompared: out_valid depends on out_ready in the same cycle, or a transfer may be held up for ever.
    """
    for steps in after.values():
        for (in_valid, _, *others), step in steps.items():
            if step.is_shown != steps[in_valid, 1, *others].is_shown:
                raise NotCompared("its handshake: out_valid depends on out_ready in the same cycle")
    held = _endless(after, lambda stimulus, step: step.waiting > 0 and not step.is_shown)
    if held:
        raise NotCompared(f"its handshake: operands were taken whose result never comes{_while(held)}")
    held = _endless(after, lambda stimulus, step: stimulus[0] == 1 and not step.is_taken and not step.is_shown)
    if held:
        raise NotCompared(f"its handshake: operands are not taken any more{_while(held)}")


def _while(held: Iterable[Stimulus]) -> str:
    """The values of the ports in the cycles that repeat."""
    names, columns = ("in_valid", "out_ready"), list(zip(*held, strict=True))
    fixed = [f"{name} stays {column[0]}" for name, column in zip(names, columns, strict=False) if len(set(column)) == 1]
    return f" while {' and '.join(fixed)}" if fixed else ""


def _endless(after: Steps[S], holds_up: Callable[[Stimulus, Step[S]], bool]) -> list[Stimulus]:
    """The stimuli of cycles that lead from a state back to it and hold a transfer up; empty if there are none."""
    edges = {state: list(_held_up(after, state, holds_up)) for state in after}
    left, ending = set(edges), {state for state, out in edges.items() if not out}
    while ending:  # a state that leads to no other one that is left is in no cycle
        left -= ending
        ending = {state for state in left if not any(to in left for _, to in edges[state])}
    if not left:
        return []
    state, stimuli, place = next(iter(left)), list[Stimulus](), dict[S, int]()
    while state not in place:
        place[state] = len(stimuli)
        stimulus, state = next(edge for edge in edges[state] if edge[1] in left)
        stimuli.append(stimulus)
    return stimuli[place[state] :]


def _held_up(after: Steps[S], state: S, holds_up: Callable[[Stimulus, Step[S]], bool]) -> Iterator[tuple[Stimulus, S]]:
    """The cycles that hold a transfer up and lead on from a state, or from one that it becomes while a run goes on."""
    found, waiting = {state}, [state]
    while waiting:
        for stimulus, step in after[waiting.pop()].items():
            if any(stimulus[2:-1]) or not holds_up(stimulus, step):
                continue  # the environment pauses for a while alone
            if not step.goes_on:
                yield stimulus, step.to
            elif step.to not in found:
                found.add(step.to)
                waiting.append(step.to)


RESET = 4
"""Least number of cycles for which reset is held."""

MOST = 64
"""Largest number of pending operands; a design with more is assumed never to give a result."""

Operands = Mapping[str, Bits]


@dataclass(frozen=True)
class Explored:
    """The result of the exploration of states.

    Attributes:
        results: terms of port d for the first operands, without repetition. states: their number. waiting: most pending
            operands. run: most cycles of a run; 0 if control does not depend on data.
    """

    results: list[Bits]
    states: int
    waiting: int
    run: int = 0


@dataclass(frozen=True)
class Reached:
    """A state of the design that can be reached.

    Attributes:
        registers: the value of each register, by name. waiting: number of operands that have entered and whose results
            have not left.
        must_stay: whether a result was valid and not taken, so that it must stay valid.
        end: the registers that a run changes, as they will be at its end; empty if none is under way.
    """

    registers: tuple[tuple[str, Term], ...]
    waiting: int
    must_stay: bool
    end: tuple[tuple[str, Term], ...] = ()


_Key = tuple[tuple[Term, ...], int, bool, tuple[tuple[str, Term], ...]]
"""What states have in common that are explored as one."""


def _key(state: Reached, kept: frozenset[str]) -> _Key:
    return tuple(term for name, term in state.registers if name in kept), state.waiting, state.must_stay, state.end


class DependsOnData(NotCompared):
    """A design whose valid or ready depends on data, or on what it was not told."""


class Handshake:
    """A design with valid signals for operands and results.

    Args:
        timing: the protocol, which has valid signals. operands: variables of the first pending operands.
        controls: the controls of reset and enable.
    """

    def __init__(
        self,
        terms: Terms,
        machine: Machine,
        circuit: FlatNetlist,
        timing: Timing,
        operands: Operands,
        controls: Mapping[str, Bits],
    ) -> None:
        self._terms, self._machine, self._circuit = terms, machine, circuit
        self._operands_wait, self._results_wait = "in_ready" in timing.controls, "out_ready" in timing.controls
        self._controls = controls
        self._tokens: list[Operands] = [operands]
        self._loose: dict[tuple[str, int], Term] = {}
        self._names: dict[tuple[str, Term], Term] = {}
        self._supports: dict[Term, frozenset[Term]] = {}
        self._results: dict[Term, Bits] = {}
        self._every = frozenset(circuit.registers)
        self._open = {
            port: terms.free(f"any {port}", bits.width) for port, bits in circuit.inputs.items() if port not in controls
        }
        self._runs: Runs | None = None
        self._pauses = circuit.inputs[PAUSES].width if PAUSES in circuit.inputs else 0

    def explored(self, limits: Limits) -> Explored:
        """Every state that can be reached, and every result.

        Raises:
            NotCompared: the design breaks the rules of the protocol, or has too many states.
        """
        try:
            return self._explored(self._control(), limits)
        except NotCompared:
            pass
        try:
            return self._explored(self._every, limits)
        except DependsOnData as error:
            undefined, fresh = self._machine.anything_undefined, self._machine.undefined_value
            self._runs = Runs(self._terms, self._circuit, undefined, fresh, self._tokens[0], self._controls)
            try:
                return self._explored(self._every, limits)
            except NoRun as reason:
                raise NotCompared(f"{error}; no run of its own is followed: {reason}") from None

    def _explored(self, kept: frozenset[str], limits: Limits) -> Explored:
        """The exploration with one state for all that agree in the registers `kept`."""
        self._results.clear()
        first = self._after_reset()
        found, left = {_key(first, kept): first}, [_key(first, kept)]
        after = dict[_Key, dict[Stimulus, Step[_Key]]]()
        while left:
            if limits.over:
                raise NotCompared(f"the handshake was followed through {len(found)} states in time, and has more")
            key = left.pop()
            after[key] = {}
            begun = self._begun(found[key], limits)
            cycle = self._machine.cycle(dict(begun.registers), {**self._controls, **self._open})
            for stimulus in self._stimuli(begun):
                step = self._next(begun, cycle, stimulus, limits)
                to = _key(step.to, kept)
                after[key][stimulus] = Step(to, step.waiting, step.is_taken, step.is_shown, step.goes_on)
                both = self._joined(found[to], step.to) if to in found else step.to
                if to not in found or both != found[to]:
                    found[to] = both
                    left.append(to)
        check_progress(after)
        if not self._results:
            raise NotCompared("no operands ever come in, or no result ever comes out")
        waiting, run = max(each.waiting for each in found.values()), self._runs.cycles if self._runs else 0
        return Explored(list(self._results.values()), len(found), waiting, run)

    def _control(self) -> frozenset[str]:
        """The registers on which the outputs of the handshake depend, now or later."""
        circuit, found = self._circuit, set[str]()
        names = {bits.term: name for name, bits in circuit.registers.items()}
        left = [circuit.outputs[port].term for port in ("out_valid", "in_ready") if port in circuit.outputs]
        while left:
            new = {names[term] for term in variables([left.pop()]) if term in names} - found
            found |= new
            left += [circuit.after[name].term for name in new]
        return frozenset(found)

    def _joined(self, one: Reached, other: Reached) -> Reached:
        """A state with all that either can be: a register in which they differ may have any value."""
        registers = tuple(
            (name, term if term == also else self._circuit.registers[name].term)
            for (name, term), (_, also) in zip(one.registers, other.registers, strict=True)
        )
        return replace(one, registers=registers)

    def _stimuli(self, reached: Reached) -> Iterator[Stimulus]:
        """The combinations of valid operands, taken results, pauses of operands and the end of a run."""
        pauses = [(0, 1)] * self._pauses
        yield from product((1, 0), (1, 0) if self._results_wait else (1,), *pauses, (1, 0) if reached.end else (0,))

    def _begun(self, reached: Reached, limits: Limits) -> Reached:
        """A state with its run, if one begins in it: it is one whose next control depends on data."""
        if self._runs is None or reached.end:
            return reached
        registers = dict(reached.registers)
        if not self._runs.begins(registers):
            return reached
        return replace(reached, end=tuple(sorted(self._runs.run(registers, limits).after.items())))

    def _after_reset(self) -> Reached:
        registers = self._forgotten(self._machine.start, 0)
        if "rst" in self._circuit.inputs:
            reset = {**self._controls, "rst": self._terms.number(1, 1)}
            for _ in range(RESET):
                before, registers = registers, self._forgotten(self._machine.cycle(dict(registers), reset).after(), 0)
            if registers != before:
                raise NotCompared(f"registers still change after {RESET} cycles of reset")
            idle = self._machine.cycle(dict(registers), {**reset, "in_valid": self._terms.number(0, 1)})
            if self._known(idle, "out_valid"):
                raise NotCompared("its handshake: out_valid is 1 during reset")
        return Reached(registers, 0, False)

    def _next(self, reached: Reached, of_any: Cycle, stimulus: Stimulus, limits: Limits) -> Step[Reached]:
        """The step for a stimulus.

        Args:
            of_any: the cycle for any stimulus.
        """
        in_valid, out_ready, *pauses, ends = stimulus
        offered = self._token(reached.waiting) if in_valid else {}
        inputs = {**self._controls, **offered, "in_valid": self._terms.number(in_valid, 1)}
        if self._results_wait:
            inputs["out_ready"] = self._terms.number(out_ready, 1)
        if pauses:
            inputs[PAUSES] = self._terms.joined([self._terms.number(pause, 1) for pause in pauses])
        by = {
            bits.term: (inputs[port] if port in inputs else self._machine.anything(bits.width)).term
            for port, bits in self._open.items()
        }
        kept = {term: term for _, term in reached.registers}
        cycle = of_any.given(Folding(self._terms.manager, kept | by))
        is_taken = bool(in_valid and (not self._operands_wait or self._known(cycle, "in_ready")))
        waiting, is_shown = reached.waiting + is_taken, self._known(cycle, "out_valid")
        if reached.must_stay and not is_shown:
            raise NotCompared("its handshake: out_valid falls before the result is taken")
        gone = bool(is_shown and out_ready)
        if is_shown and reached.end:
            raise NotCompared("its handshake: out_valid is 1 while it still computes by itself")
        if is_shown:
            if waiting + bool(in_valid) == 0 or (gone and not waiting):
                raise NotCompared("its handshake: out_valid is 1 where no operands are under way")
            self._note_result(cycle.output("d"))
            if not out_ready:
                self._check_stays(cycle, {} if is_taken or reached.waiting else inputs, limits)
        after = {**cycle.after(), **dict(reached.end)} if ends else cycle.after()
        if reached.end and not ends:
            after = {**after, **{name: term for name, term in reached.registers if name in dict(reached.end)}}
        registers = self._forgotten(after, waiting)
        if gone:
            registers = self._forgotten(self._renamed(registers, waiting), waiting - 1)
        if waiting - gone > MOST:
            raise NotCompared(f"its handshake: more than {MOST} operands are under way")
        end = () if ends else reached.end
        to = Reached(registers, waiting - gone, bool(is_shown and not gone and waiting), end)
        return Step(to, reached.waiting, is_taken, is_shown, bool(end))

    def _check_stays(self, cycle: Cycle, offered: Mapping[str, Bits], limits: Limits) -> None:
        """Check that a result that is not taken is the same, bit for bit, in the next cycle, whatever comes then.

        Args:
            offered: the inputs that stay until they are taken, if the result is that of operands that are not taken yet.
        """
        again = {name: bits for name, bits in offered.items() if name != "out_ready"}
        later = self._machine.cycle(cycle.after(), {**self._controls, **again})
        if offered and not self._known(later, "out_valid"):
            raise NotCompared("its handshake: out_valid falls before the result is taken")
        before, after = cycle.output("d"), later.output("d")
        if before.term == after.term:
            return
        if ask(self._terms.manager, [self._terms.differs(before, after)], limits).verdict != "never":
            raise NotCompared("its handshake: d changes while out_valid is 1 and the result is not taken")

    def _known(self, cycle: Cycle, port: str) -> bool:
        value = cycle.output(port).term
        if not value.is_value():
            symbols = (_plain(str(variable.symbol())) for variable in self._support(value))
            names = sorted({"an input between operands" if symbol == "any" else symbol for symbol in symbols})
            more = ", …" if len(names) > NAMED else ""
            raise DependsOnData(
                f"its handshake: {port} depends on data, or on registers that reset does not set: "
                f"{', '.join(names[:NAMED])}{more}"
            )
        return bool(number(value))

    def _note_result(self, d: Bits) -> None:
        first = {bits.term for bits in self._token(0).values()}
        if not self._support(d.term) - first <= self._machine.undefined:
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
        """The registers after the oldest operands have left: the others move up, and the oldest become unknown."""
        by = {}
        for place in range(waiting):
            for port, bits in self._token(place).items():
                other = self._token(place - 1)[port] if place else self._machine.anything(bits.width)
                by[bits.term] = other.term
        again = Folding(self._terms.manager, by)
        return {name: again.of(term) for name, term in registers}

    def _forgotten(self, state: State, waiting: int) -> tuple[tuple[str, Term], ...]:
        """The registers with every part that depends on more than pending operands and undefined bits replaced by unknown
        bits."""
        live = {bits.term for place in range(waiting) for bits in self._token(place).values()}
        return tuple((name, self._without(name, term, live)) for name, term in state.items())

    def _without(self, name: str, term: Term, live: set[Term]) -> Term:
        parts = term.children() if term.kind() == Kind.BV_CONCAT else [term]
        kept, place = [], width(term)
        for part in parts:
            place -= width(part)
            if self._support(part) - live <= self._machine.undefined:
                kept.append(self._named(f"{name} {place}", part))
            else:
                kept.append(self._unknown(name, place, width(part)))
        return kept[0] if len(kept) == 1 else self._terms.manager.mk_term(Kind.BV_CONCAT, kept)

    def _named(self, place: str, part: Term) -> Term:
        """Name the undefined bits of a part by place and order only, so that equal states compare equal."""
        if not self._support(part) & self._machine.undefined:
            return part
        if (place, part) not in self._names:
            loose = [term for term in variables([part]) if term in self._machine.undefined]
            by = {term: self._undefined(f"{place} {k}", width(term)) for k, term in enumerate(loose)}
            self._names[place, part] = Folding(self._terms.manager, by).of(part)
        return self._names[place, part]

    def _undefined(self, name: str, bits: int) -> Term:
        key = (name, bits)
        if key not in self._loose:
            self._loose[key] = self._terms.free(f"undefined {name}", bits).term
            self._machine.undefined.add(self._loose[key])
        return self._loose[key]

    def _unknown(self, name: str, place: int, bits: int) -> Term:
        register = self._circuit.registers[name]
        return self._terms.part(register, place + bits - 1, place).term

    def _support(self, root: Term) -> frozenset[Term]:
        """The variables that a term depends on."""
        for term in in_order([root], self._supports):
            below = [self._supports[child] for child in term.children()]
            self._supports[term] = frozenset([term]) if term.is_const() else frozenset().union(*below)
        return self._supports[root]


def _plain(symbol: str) -> str:
    """The user's name of a variable: an operand without its number, a register without what Yosys puts around it."""
    return re.sub(r"^\$driver\$|\.Q$| \d+$", "", symbol.strip("|"))
