"""Pipeline registers at named boundaries between steps, with a valid/ready handshake that is safe under backpressure."""

from collections.abc import Sequence
from copy import copy
from itertools import combinations, pairwise
from typing import TypeVar

from amaranth import Module, Signal, Value

from rtl.steps.step_record import Record

R = TypeVar("R", bound=Record)


def balanced_boundaries(depths: Sequence[int], stages: int) -> tuple[int, ...]:
    """Choose the steps that a register follows, so that the deepest logic between two registers is as shallow as possible.

    The last register stands after the last step: results leave a unit from registers. A register in front of the first step
    is used only where there are as many stages as steps and one more.

    Args:
        depths: logic depth of each step, in the order of the steps (levels of two-input gates; only ratios count).
        stages: number of registers, at most one more than there are steps.

    Returns:
        Indices of steps, ascending; −1 stands for the register in front of the first step.
    """
    if stages == 0:
        return ()
    if stages > len(depths):
        return tuple(range(-1, len(depths)))
    last = len(depths) - 1
    spans = {sum(depths[start:end]) for start in range(last + 1) for end in range(start + 1, last + 2)}
    limit = min(span for span in spans if _fewest_segments(depths, span) <= stages)
    chosen: list[int] = []
    while len(chosen) < stages - 1:
        start, left = chosen[-1] + 1 if chosen else 0, stages - len(chosen) - 1
        chosen.append(
            next(
                end
                for end in range(start, last - left + 1)
                if sum(depths[start : end + 1]) <= limit and _fewest_segments(depths[end + 1 :], limit) <= left
            )
        )
    return (*chosen, last)


def _fewest_segments(depths: Sequence[int], limit: int) -> float:
    """The number of stages of at most a given depth that cover all steps; infinity if one step is deeper."""
    count, depth = 0, limit + 1
    for step in depths:
        if step > limit:
            return float("inf")
        count, depth = (count + 1, step) if depth + step > limit else (count, depth + step)
    return count


def shallowest(segments: Sequence[Sequence[float]], flip_flops: Sequence[int], stages: int) -> tuple[int, ...]:
    """Choose boundaries by measured delays: the longest logic between two registers is as short as possible, then the next
    longest, and so on; among equal choices, the one with the fewest flip-flops. The last boundary is always chosen.

    Args:
        segments: `segments[i][j]`, the delay from boundary i − 1 to boundary j; row 0 begins at the operand ports.
        flip_flops: the bits that cross each boundary.
        stages: number of registers, from 1 to the number of boundaries.
    """
    last = len(flip_flops) - 1
    choices = [(*chosen, last) for chosen in combinations(range(last), stages - 1)]

    def cost(chosen: tuple[int, ...]) -> tuple[list[float], int]:
        longest_first = sorted(stage_delays(segments, chosen), reverse=True)
        return longest_first, sum(flip_flops[boundary] for boundary in chosen)

    return min(choices, key=cost)


def stage_delays(segments: Sequence[Sequence[float]], chosen: Sequence[int]) -> list[float]:
    """The delay of the logic in front of each chosen boundary; `segments` as for `shallowest`."""
    return [segments[before + 1][boundary] for before, boundary in pairwise((-1, *chosen))]


class Pipeline:
    """Registers between the steps of one datapath; the latency is the number of stages, the throughput one a cycle.

    Register i takes new contents when it is empty or register i + 1 takes its contents, so a stall at the output stops only
    what is behind it, and bubbles close up.

    Args:
        m: the datapath's module.
        points: names of the boundaries that hold a register, in order.
        in_valid, out_ready: handshake inputs; unused without points.
    """

    def __init__(self, m: Module, points: Sequence[str], in_valid: Value, out_ready: Value) -> None:
        self._m, self._before = m, ""
        self._points = tuple(points)
        self._valid = [in_valid, *(Signal(name=f"valid_{name}") for name in self._points)]
        self._takes = [Signal(name=f"takes_{name}") for name in self._points]
        following = [*self._takes[1:], out_ready]
        for before, valid, takes, after in zip(self._valid, self._valid[1:], self._takes, following, strict=False):
            m.d.comb += takes.eq(~valid | after)
            with m.If(takes):
                m.d.sync += valid.eq(before)

    def beside(self, before: str) -> "Pipeline":
        """The same stages for another datapath, the names of whose registers begin with a text."""
        other = copy(self)
        other._before = before
        return other

    def points_after(self, point: str) -> tuple[str, ...]:
        """The boundaries with a register after a given one; none if that one has no register."""
        return self._points[self._points.index(point) + 1 :] if point in self._points else ()

    @property
    def in_ready(self) -> Value:
        """High if the first register takes an input in this cycle."""
        return self._takes[0]

    @property
    def out_valid(self) -> Value:
        """High if the last register holds a result."""
        return self._valid[-1]

    def crossed(self, point: str, record: R) -> R:
        """The record behind a boundary: with a register there, its outputs (registers `<point>_<name>`), else the record
        itself."""
        if point not in self._points:
            return record
        registers = record.mapped(
            lambda name, value: Signal.like(value, name=f"{self._before}{point}_{name}", reset_less=True)
        )
        with self._m.If(self._takes[self._points.index(point)]):
            self._m.d.sync += [
                register.eq(value) for (_, register), (_, value) in zip(registers.values(), record.values(), strict=True)
            ]
        return registers
