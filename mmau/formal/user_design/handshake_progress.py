"""Progress of a handshake, whatever the producer and the consumer do: no endless sequence of cycles holds a transfer up.

A producer holds in_valid until its operands are taken. A consumer raises out_ready at some time, perhaps only after
out_valid. Then progress needs two things, for every sequence of in_valid and out_ready: while operands are under way,
out_valid rises; while in_valid is held and no result is shown, operands are taken. Both are the absence of cycles among the
states that a design can reach. A result that is shown stays until it is taken, so such a consumer takes it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from mmau.formal.user_design.not_compared import NotCompared

S = TypeVar("S")

Stimulus = tuple[int, int]
"""in_valid and out_ready; out_ready is 1 if the design has no such port."""


@dataclass(frozen=True)
class Step(Generic[S]):
    """One cycle from a state.

    Attributes:
        to: the state after the cycle. waiting: number of operands under way before the cycle. is_taken: whether operands
            were taken.
        is_shown: whether out_valid was 1.
    """

    to: S
    waiting: int
    is_taken: bool
    is_shown: bool


Steps = Mapping[S, Mapping[Stimulus, Step[S]]]
"""The cycle from each state for each stimulus."""


def check_progress(after: Steps[S]) -> None:
    """Check every state that can be reached.

    Raises:
        NotCompared: out_valid depends on out_ready in the same cycle, or a transfer may be held up for ever.
    """
    for steps in after.values():
        for (in_valid, _), step in steps.items():
            if step.is_shown != steps[in_valid, 1].is_shown:
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
    fixed = [f"{name} stays {column[0]}" for name, column in zip(names, columns, strict=True) if len(set(column)) == 1]
    return f" while {' and '.join(fixed)}" if fixed else ""


def _endless(after: Steps[S], holds_up: Callable[[Stimulus, Step[S]], bool]) -> list[Stimulus]:
    """The stimuli of cycles that lead from a state back to it and hold a transfer up; empty if there are none."""
    edges = {
        state: [(stimulus, step.to) for stimulus, step in steps.items() if holds_up(stimulus, step)]
        for state, steps in after.items()
    }
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
