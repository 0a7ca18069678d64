"""The rules of a handshake as a transition system without data, and the invariants of all reachable states.

Beside the pipeline a book, independent of its registers, counts transfers. A transfer happens in a cycle in which valid and
ready are high and `rst` is low; `rst` empties the book. One set of operands, a *token*, is followed; which one is left open.
The book counts the results that must leave before that of the token, `ahead`, and the steps of the token whose operands have
come in. The result of the token is the one that leaves when none is ahead.

`shortest_trace` finds the shortest sequence of cycles from a reset on that breaks a rule.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import bitwuzla
from bitwuzla import Term

from mmau.prove.netlist.terms import Bits
from mmau.prove.pipeline.logic import Logic
from mmau.prove.pipeline.register_roles import IN_STEP, OUT_STEP, Registers, counters
from mmau.prove.pipeline.tokens import Tokens
from rtl.designs.ports import CONTROL_INPUTS

RESULT, STAYS = "result is the token's", "result stays the same while it waits"
"""Rules about values: here, that registers keep or hold what they are meant to; `Composition` states them of the values."""


@dataclass(frozen=True)
class Rule:
    """A condition that must hold in every cycle, whatever the inputs are.

    Attributes:
        name: the name of the rule. holds: the condition, a formula about state and inputs. is_observable: whether it
            depends on ports and the
            book alone, so
            that a violation can be seen from outside.
    """

    name: str
    holds: Term
    is_observable: bool


@dataclass
class Book:
    """The counters outside the pipeline.

    Attributes:
        step: the step that comes in next, from 0. inside: results whose first operands are in, and that have not left.
        chosen: whether a token has been chosen. followed: whether its result has not left yet.
        taken: number of steps whose operands are in. ahead: results that leave before that of the token.
    """

    step: Bits
    inside: Bits
    chosen: Bits
    followed: Bits
    taken: Bits
    ahead: Bits


@dataclass
class Handshake:
    """A pipeline, its bits and its book, as a transition system.

    Args:
        registers, tokens: the registers and tokens of the pipeline. logic: makes terms.

    Attributes:
        choose: an input: the next transfer of a first step becomes the token.
        after: the next state of every variable, with or without reset.
    """

    registers: Registers
    tokens: Tokens
    logic: Logic
    after: dict[Term, Term] = field(init=False)

    def __post_init__(self) -> None:
        netlist, logic, shape = self.registers.netlist, self.logic, self.registers.shape
        self.stages, self.steps = shape.stages, shape.steps
        self._counts = (self.stages + 2).bit_length()
        self._step_bits = self.steps.bit_length() + 1
        free = logic.terms.free
        self.choose = free("followed from here", 1)
        self.book = Book(
            free("next step", self._step_bits), free("results inside", self._counts), free("chosen", 1),
            free("followed", 1), free("steps taken", self._step_bits), free("results ahead", self._counts),
        )  # fmt: skip
        self.reset = logic.bit(netlist.inputs["rst"])
        self.in_valid, self.out_ready = logic.bit(netlist.inputs["in_valid"]), logic.bit(netlist.inputs["out_ready"])
        self.in_ready, self.out_valid = logic.bit(netlist.outputs["in_ready"]), logic.bit(netlist.outputs["out_valid"])
        running = logic.no(self.reset)
        self.enters = logic.all([running, self.in_valid, self.in_ready])
        self.leaves = logic.all([running, self.out_valid, self.out_ready])
        ports = {name: netlist.inputs[name] for name in ("in_valid", "out_ready")}
        self._later = {bits.term: free(f"{name} of the next cycle", 1).term for name, bits in ports.items()}
        self.counters = counters(self.registers)
        self.valid = [[logic.bit(netlist.registers[name]) for name in stage] for stage in self.registers.valid]
        self.lead = [stage[0] for stage in self.valid]
        self.after = {netlist.registers[name].term: netlist.after[name].term for name in self.registers.control}
        self._keep_book()
        self._follow()

    # 1. the transition

    def _number(self, value: int, like: Bits) -> Bits:
        return self.logic.terms.number(value, like.width)

    def _keep_book(self) -> None:
        logic, book = self.logic, self.book
        is_first = logic.equal(book.step, 0)
        begins = logic.all([self.enters, is_first])
        self.followed_enters = logic.any([
            logic.all([begins, logic.bit(self.choose), logic.no(logic.bit(book.chosen))]),
            logic.all([self.enters, logic.bit(book.followed), logic.less(book.taken, self._number(self.steps, book.taken))]),
        ])  # fmt: skip
        chosen_now = logic.all([begins, logic.bit(self.choose), logic.no(logic.bit(book.chosen))])
        self.is_next = logic.all([logic.bit(book.followed), logic.equal(book.ahead, 0)])
        step = logic.chosen(
            logic.equal(book.step, self.steps - 1),
            self._number(0, book.step),
            logic.plus(book.step, self._number(1, book.step)),
        )
        one, none = self._number(1, book.inside), self._number(0, book.inside)
        less = logic.chosen(self.leaves, one, none)
        left = logic.minus(book.inside, less)
        taken = logic.chosen(self.followed_enters, logic.plus(book.taken, self._number(1, book.taken)), book.taken)
        fresh = self._number(1, book.taken)
        ahead = logic.chosen(logic.bit(book.followed), logic.minus(book.ahead, less), book.ahead)
        ends = logic.all([self.leaves, self.is_next])
        followed = logic.any([chosen_now, logic.all([logic.bit(book.followed), logic.no(ends)])])
        self._set(book.step, logic.chosen(self.enters, step, book.step))
        self._set(book.inside, logic.plus(left, logic.chosen(begins, one, none)))
        self._set(book.followed, self._as_bit(followed))
        self._set(book.taken, logic.chosen(chosen_now, fresh, taken))
        self._set(book.ahead, logic.chosen(chosen_now, left, ahead))
        chosen = logic.any([logic.bit(book.chosen), chosen_now])
        self.after[book.chosen.term] = self._as_bit(chosen).term

    def _set(self, variable: Bits, value: Bits) -> None:
        self.after[variable.term] = self.logic.chosen(self.reset, self._number(0, variable), value).term

    def _as_bit(self, term: Term) -> Bits:
        return self.logic.chosen(term, self.logic.terms.number(1, 1), self.logic.terms.number(0, 1))

    def _follow(self) -> None:
        """Constrain the bits of registers: the operands are the token's in the cycles in which its steps come in."""
        arrives = {
            self.tokens.arrives[step].term: self._as_bit(self.arrival(step)).term for step in range(1, self.steps + 1)
        }
        for group in self.tokens.groups:
            for step, bits in group.bits.items():
                after = self._as_bit(self.tokens.after(group, step)).term
                self.after[bits.term] = self._substituted(after, arrives)

    def arrival(self, step: int) -> Term:
        """The formula that a step of the token enters: its operands are at the ports."""
        return self.logic.all([self.followed_enters, self.logic.equal(self._taken_before, step - 1)])

    @property
    def waits(self) -> Term:
        """The formula that a result is there and is not taken."""
        return self.logic.all([self.logic.no(self.reset), self.out_valid, self.logic.no(self.out_ready)])

    @property
    def _taken_before(self) -> Bits:
        """The number of steps of the token whose operands came in before this cycle."""
        book = self.book
        return self.logic.chosen(self.logic.bit(book.followed), book.taken, self._number(0, book.taken))

    def _substituted(self, term: Term, by: Mapping[Term, Term]) -> Term:
        return self.logic.terms.manager.substitute_term(term, dict(by))

    def next(self, term: Term) -> Term:
        """A term of the state after the next clock edge."""
        return self._substituted(term, self.after)

    def _next_whatever_comes(self, term: Term) -> Term:
        """The same for a term that also depends on ports; except `rst`, they are other variables in the next cycle."""
        return self._substituted(term, {**self.after, **self._later})

    # 2. what holds in every state

    def is_at(self, stage: int) -> Term:
        """The formula that the last step of the token that came in is in that stage, from 1."""
        logic = self.logic
        behind = logic.total(self.lead[stage:], self._counts)
        return logic.all([logic.bit(self.book.followed), self.lead[stage - 1], logic.equal(behind, self.book.ahead)])

    def invariants(self) -> list[tuple[str, Term]]:
        """The invariants by name: each holds after a reset, and is preserved by every clock edge."""
        logic, book = self.logic, self.book
        full = logic.total(self.lead, self._counts)
        found = [
            ("stages of all elements are full together", logic.all(
                logic.equal(self._as_bit(other), self._as_bit(stage[0])) for stage in self.valid for other in stage[1:]
            )),
            ("as many stages are full as results are to come", logic.equal(book.inside, full)),
            ("no more results come before the token's than there are", logic.implies(
                logic.bit(book.followed), logic.less(book.ahead, book.inside)
            )),
            ("a token that is followed has been chosen", logic.implies(logic.bit(book.followed), logic.bit(book.chosen))),
            ("steps are counted", self._steps_are_counted()),
        ]  # fmt: skip
        found += [(f"stage {stage} holds what it is meant to", self._holds(stage)) for stage in range(1, self.stages + 1)]
        return [(name, term) for name, term in found if term != logic.true]

    def _holds(self, stage: int) -> Term:
        logic, parts = self.logic, []
        for group in self.tokens.groups:
            for step, live in group.live.items():
                if stage in live:
                    there = logic.all([self.is_at(stage), logic.equal(self.book.taken, step)])
                    parts.append(logic.implies(there, logic.bit(group.bits[step])))
        return logic.all(parts)

    def _steps_are_counted(self) -> Term:
        logic, book, last = self.logic, self.book, self.steps - 1
        parts = [logic.less(book.step, self._number(self.steps, book.step))]
        before = logic.chosen(
            logic.equal(book.step, 0), self._number(self.steps, book.step), book.step
        )  # the number of steps whose operands are in, for the result that came in last
        is_last = logic.equal(logic.plus(book.ahead, self._number(1, book.ahead)), book.inside)
        whole = self._number(self.steps, book.taken)
        parts.append(logic.implies(
            logic.bit(book.followed), logic.equal(book.taken, logic.chosen(is_last, before, whole))
        ))  # fmt: skip
        if self.steps > 1:
            in_step, out_step = self.counters[IN_STEP], self.counters[OUT_STEP]
            two = self._number(2, book.inside)
            empty, one, both = (logic.equal(book.inside, count) for count in range(3))
            parts += [
                logic.equal(logic.terms.extended(in_step, book.step.width), book.step),
                logic.no(logic.less(two, book.inside)),
                logic.implies(empty, logic.all([logic.equal(book.step, 0), logic.equal(out_step, 0)])),
                logic.implies(one, self._counts_to(out_step, before)),
                logic.implies(both, logic.all([logic.equal(book.step, 1), logic.equal(out_step, last)])),
            ]
        return logic.all(parts)

    def _counts_to(self, out_step: Bits, before: Bits) -> Term:
        """The formula that the counter is one less."""
        counted = self.logic.terms.extended(out_step, before.width)
        return self.logic.equal(self.logic.plus(counted, self._number(1, before)), before)

    # 3. the rules

    def rules(self) -> list[Rule]:
        """The claims about a cycle without reset, in a state that satisfies the invariants."""
        logic, book = self.logic, self.book
        kept = logic.all(self.tokens.kept(name) for name in self.tokens.output_registers)
        if not self.tokens.reads_registers_alone:
            kept = logic.false
        result = logic.all([logic.equal(book.taken, self.steps), self.tokens.result])
        empty, valid_next = logic.equal(book.inside, 0), self._next_whatever_comes(self.out_valid)
        found = [
            Rule(RESULT, logic.implies(logic.all([self.leaves, self.is_next]), result), True),
            Rule("nothing leaves that has not come in", logic.implies(self.out_valid, logic.no(empty)), True),
            Rule("result stays valid while it waits", logic.implies(self.waits, valid_next), True),
            Rule(STAYS, logic.implies(self.waits, kept), True),
            Rule("result is shown whether or not it is taken", self._is_shown(), False),
            Rule("ready when empty", logic.implies(empty, self.in_ready), True),
            Rule("moves on without a stall", self._moves_on(), False),
            Rule("front moves on however it stalls", self._front_moves_on(), False),
        ]
        if self.steps == 1:
            full = logic.all(self.lead)
            is_ready = logic.any([logic.no(full), self.out_ready])
            found.append(Rule("ready while a register is free", logic.implies(is_ready, self.in_ready), False))
        return found

    def _is_shown(self) -> Term:
        """A result in the last stage is valid, whatever out_ready is: a consumer may wait for it before it is ready."""
        logic = self.logic
        is_there = logic.all([self.is_at(self.stages), logic.equal(self.book.taken, self.steps)])
        return logic.implies(logic.all([logic.no(self.reset), is_there]), self.out_valid)

    def _moves_on(self) -> Term:
        """If results are taken and operands of further steps are valid, the token advances one stage in each cycle."""
        logic = self.logic
        flows = [logic.no(self.reset), self.out_ready, *([self.in_valid] if self.steps > 1 else [])]
        parts = [logic.implies(self.followed_enters, self.next(self.is_at(1)))]
        parts += [logic.implies(self.is_at(stage), self.next(self.is_at(stage + 1))) for stage in range(1, self.stages)]
        is_whole = logic.equal(self.book.taken, self.steps)
        parts.append(logic.implies(self.is_at(self.stages), logic.choice(is_whole, self.leaves, self.followed_enters)))
        if self.steps == 1:
            parts.append(self.in_ready)
        return logic.implies(logic.all(flows), logic.all(parts))

    def _front_moves_on(self) -> Term:
        """A token with an empty stage in front of it advances, whether or not results are taken."""
        logic, parts = self.logic, []
        for stage in range(1, self.stages):
            front = logic.all([self.lead[stage - 1], *(logic.no(valid) for valid in self.lead[stage:])])
            parts.append(logic.implies(front, self.next(self.lead[stage])))
        return logic.implies(logic.no(self.reset), logic.all(parts))


@dataclass(frozen=True)
class Cycle:
    """The inputs of a pipeline in one cycle, without operands."""

    rst: int
    in_valid: int
    out_ready: int


@dataclass(frozen=True)
class Trace:
    """Cycles from a reset on, in the last of which a rule is broken.

    Attributes:
        rule: its name. cycles: the inputs. The state before the first cycle may be any.
    """

    rule: str
    cycles: tuple[Cycle, ...]


def shortest_trace(handshake: Handshake, seconds: float) -> Trace | None:
    """Cycles that break a rule, preferably one whose violation is seen from outside; None if there are none within about the
    time of three results, or none is found in time.

    Args:
        seconds: CPU time of this process.
    """
    rules = handshake.rules()
    for is_observable in (True, False):
        found = broken_by(handshake, [rule for rule in rules if rule.is_observable == is_observable], seconds / 2)
        if found is not None:
            return found
    return None


def broken_by(handshake: Handshake, rules: Sequence[Rule], seconds: float) -> Trace | None:
    """The fewest cycles that break one of some rules; None as for `shortest_trace`."""
    logic, end = handshake.logic, time.process_time() + seconds
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    solver = bitwuzla.Bitwuzla(logic.terms.manager, options)
    solver.configure_terminator(lambda: time.process_time() > end)
    inputs = list[dict[str, Bits]]()
    holds = [(rule.name, logic.any([handshake.reset, rule.holds])) for rule in rules]
    for number, given in enumerate(_unrolled(handshake, inputs)):
        if number == 0:
            solver.assert_formula(logic.bit(inputs[0]["rst"]))
        broken = [(name, logic.no(logic.terms.manager.substitute_term(term, dict(given)))) for name, term in holds]
        solver.push(1)
        solver.assert_formula(logic.any(term for _, term in broken))
        result = solver.check_sat()
        if result == bitwuzla.Result.SAT:
            name = next(name for name, term in broken if solver.get_value(term).is_true())
            cycles = [{key: int(solver.get_value(bits.term).value(2), 2) for key, bits in cycle.items()} for cycle in inputs]
            return Trace(name, tuple(Cycle(**cycle) for cycle in cycles))
        if result == bitwuzla.Result.UNKNOWN or number > 3 * handshake.stages * handshake.steps + 4:
            break
        solver.pop(1)
    return None


def _unrolled(handshake: Handshake, inputs: list[dict[str, Bits]]) -> Iterator[Mapping[Term, Term]]:
    """For each cycle the terms of the variables; records its inputs."""
    terms, netlist = handshake.logic.terms, handshake.registers.netlist
    state = {variable: terms.number(0, variable.sort().bv_size()).term for variable in handshake.after}
    for name, bits in handshake.registers.control.items():
        state[bits.term] = terms.free(f"{name} at first", bits.width).term
    while True:
        cycle = {name: terms.free(f"{name} in cycle {len(inputs)}", 1) for name in CONTROL_INPUTS}
        inputs.append(cycle)
        choose = terms.free(f"followed from cycle {len(inputs) - 1}", 1)
        given = {**state, handshake.choose.term: choose.term}
        given |= {netlist.inputs[name].term: bits.term for name, bits in cycle.items()}
        yield given
        state = {variable: terms.manager.substitute_term(after, given) for variable, after in handshake.after.items()}
