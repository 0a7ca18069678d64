"""That no transfer of a handshake is held up for ever: a check of the graph of all states that a design can reach."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from mmau.prove.user_design.asking import NotCompared

S = TypeVar("S")


class Stimulus(NamedTuple):
    """What the master does in a cycle: whether it offers each channel, takes a result (1 if the design does not ask), and
    whether a run ends."""

    offered: tuple[int, ...]
    ready: int = 1
    ends: int = 0


@dataclass(frozen=True)
class Step(Generic[S]):
    """One cycle from a state.

    Attributes:
        to: the state after the cycle. waiting: number of operands under way before the cycle, whose result is to be shown.
        is_taken: whether an operand was taken that the next result lacks. is_shown: whether a result was shown.
        is_offered: whether all operands were offered that the next result lacks.
        goes_on: whether a run went on, which it does for a bounded number of cycles.
    """

    to: S
    waiting: int
    is_taken: bool
    is_shown: bool
    is_offered: bool
    goes_on: bool = False


Steps = Mapping[S, Mapping[Stimulus, Step[S]]]
"""The cycle from each state for each stimulus."""


def check_progress(after: Steps[S], inputs: Sequence[str], shown: str = "out_valid") -> None:
    """Check every state that can be reached.

    Args:
        inputs: the names of the inputs that offer and take. shown: of the output that shows a result.

    Raises:
        NotCompared: a result is shown only if it is taken in the same cycle, or a transfer may be held up for ever.
    """
    for steps in after.values():
        for stimulus, step in steps.items():
            if step.is_shown != steps[stimulus._replace(ready=1)].is_shown:
                raise NotCompared(f"its handshake: {shown} depends on out_ready in the same cycle")
    held = _endless(after, lambda step: step.waiting > 0 and not step.is_shown)
    if held:
        raise NotCompared(f"its handshake: operands were taken whose result never comes{_while(held, inputs)}")
    held = _endless(after, lambda step: step.is_offered and not step.is_taken and not step.is_shown)
    if held:
        raise NotCompared(f"its handshake: operands are not taken any more{_while(held, inputs)}")


def _while(held: Iterable[Stimulus], inputs: Sequence[str]) -> str:
    """The values of the ports in the cycles that repeat."""
    columns = zip(*((*stimulus.offered, stimulus.ready) for stimulus in held), strict=True)
    fixed = [f"{name} stays {column[0]}" for name, column in zip(inputs, columns, strict=False) if len(set(column)) == 1]
    return f" while {' and '.join(fixed)}" if fixed else ""


def _endless(after: Steps[S], holds_up: Callable[[Step[S]], bool]) -> list[Stimulus]:
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


def _held_up(after: Steps[S], state: S, holds_up: Callable[[Step[S]], bool]) -> Iterator[tuple[Stimulus, S]]:
    """The cycles that hold a transfer up and lead on from a state, or from one that it becomes while a run goes on."""
    found, waiting = {state}, [state]
    while waiting:
        for stimulus, step in after[waiting.pop()].items():
            if not holds_up(step):
                continue
            if not step.goes_on:
                yield stimulus, step.to
            elif step.to not in found:
                found.add(step.to)
                waiting.append(step.to)
