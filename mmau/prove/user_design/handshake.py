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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, number, variables, width
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.asking import Limits, NotCompared, ask
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.master import Master
from mmau.prove.user_design.progress import Step, Stimulus, check_progress
from mmau.prove.user_design.runs import NoRun, Runs

State = Mapping[str, Term]
"""The value of each register, by name."""

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
        registers: the value of each register, by name. taken: for each channel, the number of operands that have entered
            and whose results have not left.
        must_stay: whether a result was valid and not taken, so that it must stay valid.
        end: the registers that a run changes, as they will be at its end; empty if none is under way.
        is_read: whether the oldest result was shown, and may be read as long as it is.
        is_begun: whether operands were offered that have to be offered again, as their transfers come without a pause.
    """

    registers: tuple[tuple[str, Term], ...]
    taken: tuple[int, ...]
    must_stay: bool = False
    end: tuple[tuple[str, Term], ...] = ()
    is_read: bool = False
    is_begun: bool = False


_Key = tuple[tuple[Term, ...], tuple[int, ...], bool, tuple[tuple[str, Term], ...], bool, bool]
"""What states have in common that are explored as one."""


def _key(state: Reached, kept: frozenset[str]) -> _Key:
    registers = tuple(term for name, term in state.registers if name in kept)
    return registers, state.taken, state.must_stay, state.end, state.is_read, state.is_begun


class DependsOnData(NotCompared):
    """A design whose valid or ready depends on data, or on what it was not told."""


class Handshake:
    """A design with valid signals for operands and results.

    Args:
        master: what drives it. operands: variables of the first pending operands.
        controls: the controls of reset and enable.
    """

    def __init__(
        self,
        terms: Terms,
        machine: Machine,
        circuit: FlatNetlist,
        master: Master,
        operands: Operands,
        controls: Mapping[str, Bits],
    ) -> None:
        self._terms, self._machine, self._circuit = terms, machine, circuit
        self._master, self._controls = master, controls
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
                after[key][stimulus] = Step(to, step.waiting, step.is_taken, step.is_shown, step.is_offered, step.goes_on)
                both = self._joined(found[to], step.to) if to in found else step.to
                if to not in found or both != found[to]:
                    found[to] = both
                    left.append(to)
        check_progress(after, self._master.inputs, self._master.shown)
        if not self._results:
            raise NotCompared("no operands ever come in, or no result ever comes out")
        waiting, run = max(max(each.taken) for each in found.values()), self._runs.cycles if self._runs else 0
        return Explored(list(self._results.values()), len(found), waiting, run)

    def _control(self) -> frozenset[str]:
        """The registers on which the outputs of the handshake depend, now or later."""
        circuit, found = self._circuit, set[str]()
        names = {bits.term: name for name, bits in circuit.registers.items()}
        left = [circuit.outputs[port].term for port in self._master.outputs]
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
        """What the master may do in a state."""
        lacking, may_lead = min(reached.taken), not self._master.beside
        offers = [(1, 0) if may_lead or count == lacking else (0,) for count in reached.taken]
        if reached.is_begun:
            offers = [(1,)]
        for offered in product(*offers):
            for ready, ends in product((1, 0) if self._master.taken else (1,), (1, 0) if reached.end else (0,)):
                yield Stimulus(offered, ready, ends)

    def _begun(self, reached: Reached, limits: Limits) -> Reached:
        """A state with its run, if one begins in it: it is one whose next control depends on data."""
        if self._runs is None or reached.end:
            return reached
        registers = dict(reached.registers)
        if not self._runs.begins(registers):
            return reached
        return replace(reached, end=tuple(sorted(self._runs.run(registers, limits).after.items())))

    def _after_reset(self) -> Reached:
        nothing = (0,) * len(self._master.channels)
        registers = self._forgotten(self._machine.start, nothing)
        if "rst" in self._circuit.inputs:
            reset = {**self._controls, "rst": self._terms.number(1, 1)}
            for _ in range(RESET):
                before, registers = registers, self._forgotten(self._machine.cycle(dict(registers), reset).after(), nothing)
            if registers != before:
                raise NotCompared(f"registers still change after {RESET} cycles of reset")
            silent = {channel.valid: self._terms.number(0, 1) for channel in self._master.channels}
            if self._known(self._machine.cycle(dict(registers), {**reset, **silent}), self._master.shown):
                raise NotCompared(f"its handshake: {self._master.shown} is 1 during reset")
        return Reached(registers, nothing)

    def _next(self, reached: Reached, of_any: Cycle, stimulus: Stimulus, limits: Limits) -> Step[Reached]:
        """The step for a stimulus.

        Args:
            of_any: the cycle for any stimulus.
        """
        master, before = self._master, reached.taken
        offered = stimulus.offered
        if master.is_single and any(offered) and not self._may_start(reached, of_any):
            offered = (0,)
        inputs = self._inputs(reached, offered, stimulus.ready)
        cycle = self._given(reached, of_any, inputs)
        moves = tuple(
            int(bool(offers) and (channel.ready is None or self._known(cycle, channel.ready)))
            for channel, offers in zip(master.channels, offered, strict=True)
        )
        taken = tuple(count + more for count, more in zip(before, moves, strict=True))
        is_shown, ready = self._known(cycle, master.shown), bool(stimulus.ready)
        is_whole = is_shown and (master.whole is None or self._known(cycle, master.whole))
        if reached.must_stay and not is_shown:
            raise NotCompared(f"its handshake: {master.shown} falls before the result is taken")
        if is_shown and reached.end:
            raise NotCompared(f"its handshake: {master.shown} is 1 while it still computes by itself")
        if master.is_single:
            gone = any(moves) or not is_shown if reached.is_read else is_shown and any(moves)
            entered = before
        else:
            gone = is_whole and ready
            entered = taken if gone else tuple(map(sum, zip(before, offered, strict=True)))
        if is_shown:
            if not min(entered) and (is_whole or not master.is_counted):
                raise NotCompared(f"its handshake: {master.shown} is 1 where no operands are under way")
            if is_whole:
                self._note_result(cycle.output("d"))
            if not ready:
                self._check_stays(cycle, self._kept_on_offer(taken, inputs), limits)
        registers = self._forgotten(self._after(reached, cycle, bool(stimulus.ends)), taken)
        left = tuple(count - gone for count in taken)
        if gone:
            registers = self._forgotten(self._renamed(registers, taken), left)
        if max(left) > MOST:
            raise NotCompared(f"its handshake: more than {MOST} operands are under way")
        to = Reached(
            registers,
            left,
            must_stay=is_shown and not ready and min(left) > 0,
            end=() if stimulus.ends else reached.end,
            is_read=master.is_single and is_shown and not gone,
            is_begun=master.is_steady and any(offered) and not any(moves),
        )
        lacking = [place for place, count in enumerate(before) if count == min(before)]
        return Step(
            to,
            waiting=0 if reached.is_read else min(before),
            is_taken=any(moves[place] for place in lacking),
            is_shown=is_shown and not reached.is_read,
            is_offered=all(stimulus.offered[place] for place in lacking),
            goes_on=bool(to.end),
        )

    def _may_start(self, reached: Reached, of_any: Cycle) -> bool:
        """Whether a master that computes one result at a time may start in a state, by what it sees without a start."""
        master = self._master
        cycle = self._given(reached, of_any, self._inputs(reached, (0,), 1))
        if master.busy is not None and self._known(cycle, master.busy):
            return False
        is_free = reached.is_read or not any(reached.taken)
        return is_free or (master.busy is not None and not master.holds and self._known(cycle, master.shown))

    def _inputs(self, reached: Reached, offered: Sequence[int], ready: int) -> dict[str, Bits]:
        """What the master drives in a state; all other inputs may be anything."""
        master, given = self._master, dict[str, Bits]()
        for channel, offers, place in zip(master.channels, offered, reached.taken, strict=True):
            given[channel.valid] = self._terms.number(offers, 1)
            if offers or (master.holds and place and not reached.is_read):
                token = self._token(place if offers else 0)
                given |= {port: token[port] for port in channel.ports}
        oldest = min(reached.taken)
        if any(offered) or max(reached.taken) > oldest:
            given |= {port: self._token(oldest)[port] for port in master.beside}
        if master.taken is not None:
            given[master.taken] = self._terms.number(ready, 1)
        return {**self._controls, **given}

    def _given(self, reached: Reached, of_any: Cycle, inputs: Mapping[str, Bits]) -> Cycle:
        """The cycle from a state with given inputs."""
        by = {
            bits.term: (inputs[port] if port in inputs else self._machine.anything(bits.width)).term
            for port, bits in self._open.items()
        }
        return of_any.given(Folding(self._terms.manager, {term: term for _, term in reached.registers} | by))

    def _after(self, reached: Reached, cycle: Cycle, ends: bool) -> State:
        """The registers after a cycle: those of a run that goes on stay, those of one that ends are what it computed."""
        if not reached.end or ends:
            return {**cycle.after(), **dict(reached.end)}
        return {**cycle.after(), **{name: term for name, term in reached.registers if name in dict(reached.end)}}

    def _kept_on_offer(self, taken: Sequence[int], inputs: Mapping[str, Bits]) -> dict[str, Bits]:
        """The inputs of channels that have not given their operand of the oldest result: they stay until it is taken."""
        master = self._master
        lacking = [channel for channel, count in zip(master.channels, taken, strict=True) if not count]
        names = [name for channel in lacking for name in (channel.valid, *channel.ports)]
        return {name: inputs[name] for name in (*names, *(master.beside if lacking else ())) if name in inputs}

    def _check_stays(self, cycle: Cycle, offered: Mapping[str, Bits], limits: Limits) -> None:
        """Check that a result that is not taken is the same, bit for bit, in the next cycle, whatever comes then.

        Args:
            offered: the inputs that stay until they are taken, if the result is that of operands that are not taken yet.
        """
        later = self._machine.cycle(cycle.after(), {**self._controls, **offered})
        if offered and not self._known(later, self._master.shown):
            raise NotCompared(f"its handshake: {self._master.shown} falls before the result is taken")
        before, after = cycle.output("d"), later.output("d")
        if before.term == after.term:
            return
        if ask(self._terms.manager, [self._terms.differs(before, after)], limits).verdict != "never":
            raise NotCompared(f"its handshake: d changes while {self._master.shown} is 1 and the result is not taken")

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

    def _live(self, taken: Sequence[int]) -> Iterator[tuple[int, str, Bits]]:
        """The operands that have entered, in part too, each with its place in the queue and its port."""
        begun = int(self._master.is_counted)
        counts = {
            port: count + begun for each, count in zip(self._master.channels, taken, strict=True) for port in each.ports
        }
        counts |= dict.fromkeys(self._master.beside, max(taken))
        for port, count in counts.items():
            yield from ((place, port, self._token(place)[port]) for place in range(count))

    def _renamed(self, registers: tuple[tuple[str, Term], ...], taken: Sequence[int]) -> dict[str, Term]:
        """The registers after the oldest operands have left: the others move up, and the oldest become unknown."""
        by = {
            bits.term: (self._token(place - 1)[port] if place else self._machine.anything(bits.width)).term
            for place, port, bits in self._live(taken)
        }
        again = Folding(self._terms.manager, by)
        return {name: again.of(term) for name, term in registers}

    def _forgotten(self, state: State, taken: Sequence[int]) -> tuple[tuple[str, Term], ...]:
        """The registers with every part that depends on more than pending operands and undefined bits replaced by unknown
        bits."""
        live = {bits.term for _, _, bits in self._live(taken)}
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
        if all(self._unknown(name, low, width(part)) == part for low, part in _placed(kept)):
            return self._circuit.registers[name].term  # unknown as a whole: equal states compare equal
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


def _placed(parts: Sequence[Term]) -> Iterator[tuple[int, Term]]:
    """Parts of a word, the highest first, each with the place of its lowest bit."""
    low = sum(map(width, parts))
    for part in parts:
        low -= width(part)
        yield low, part


def _plain(symbol: str) -> str:
    """The user's name of a variable: an operand without its number, a register without what Yosys puts around it."""
    return re.sub(r"^\$driver\$|\.Q$| \d+$", "", symbol.strip("|"))
