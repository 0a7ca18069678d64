"""The base class of every datapath: ports, a handshake, and steps with boundaries between them for pipeline registers."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from amaranth import Module, Signal, Value
from amaranth.lib.wiring import In, Member, Out

from golden import Implementation, Operation
from golden.checks import listed
from rtl.datapath.fused_records import Code, Operands
from rtl.datapath.pipeline import Pipeline, balanced_boundaries
from rtl.datapath.step import Build, Step, Steps, cut_inside
from rtl.steps.component import AnyComponent, SharedModules
from rtl.steps.step_record import Record

OPERANDS = "operands"
"""Name of the boundary in front of the first step."""

_CHECKED: set[Hashable] = set()
"""Keys of the step lists that `Datapath._check_steps` has already checked."""


class Datapath(AnyComponent):
    """A unit in hardware: d from a, b, c and, where scaled, scale_a and scale_b.

    Latency: `implementation.stages` cycles without stalls; throughput: one result a cycle.

    Args:
        operation: the golden parameter object.
        implementation: how it is built.

    Members:
        a, b: In(length·w), element k in bits [k·w, (k+1)·w), w the format's width.
        scale_a, scale_b: In(scales·w), where the operation has scales.
        c: In(width of c), where the operation has one. d: Out(width of d).
        in_valid, in_ready, out_valid, out_ready: with stages > 0; a transfer happens when valid and ready are both high.
    """

    operation: Operation
    a: Signal
    b: Signal
    c: Signal
    scale_a: Signal
    scale_b: Signal
    d: Signal
    in_valid: Signal
    in_ready: Signal
    out_valid: Signal
    out_ready: Signal

    def __init__(self, operation: Operation, implementation: Implementation) -> None:
        self.operation, self.implementation = operation, implementation
        members = self.input_members(operation)
        #: Names of the ports that hold operands.
        self.inputs = tuple(members)
        members["d"] = Out(operation.d.width)
        if implementation.stages:
            members |= {"in_valid": In(1), "in_ready": Out(1), "out_valid": Out(1), "out_ready": In(1)}
        super().__init__(members)

    def input_members(self, operation: Operation) -> dict[str, Member]:
        """The input ports that hold operands."""
        members = {
            "a": In(operation.length * operation.a.width),
            "b": In(operation.length * operation.b.width),
            "c": In(operation.c.width),
        }
        members = {name: members[name] for name in operation.operands}
        if operation.scale_format is not None:
            scales = operation.scales_per_step * operation.scale_format.width
            members |= {"scale_a": In(scales), "scale_b": In(scales)}
        return members

    @abstractmethod
    def steps(self) -> Steps[Any, Code]:
        """The steps in order, from the operands to the result."""

    def operands(self) -> Record:
        """The operand ports as the record that the first step takes."""
        return Operands(**{name: getattr(self, name) for name in self.inputs})

    def settles_steps(self) -> tuple[Hashable, ...]:
        """Everything, beside the class, that determines the steps and what they build."""
        return (self.operation, self.implementation.combinational)

    @property
    def latency(self) -> int:
        """Cycles from an input transfer to its result if nothing stalls."""
        return self.implementation.stages

    def elaborate(self, platform: object) -> Module:
        """The circuit.

        Raises:
            HandOffError: a step that does not give what it declares, or leaves values unread.
            ValueError: registers that are no boundaries in their order.
        """
        stages = self.implementation.stages
        chosen = placed_registers(list(self.steps()), self.implementation)
        steps = cut_inside(self.steps(), chosen)
        self._check_steps(steps)
        m = Module()
        handshake = (self.in_valid, self.out_ready) if stages else (Value.cast(1), Value.cast(1))
        pipeline = Pipeline(m, chosen, *handshake)
        if stages:
            m.d.comb += [self.in_ready.eq(pipeline.in_ready), self.out_valid.eq(pipeline.out_valid)]
        m.d.comb += self.d.eq(self._chain(Build(m, platform), steps, pipeline).d)
        return m

    def _chain(self, build: Build, steps: Sequence[Step[Any, Any]], pipeline: Pipeline) -> Code:
        """The steps one after the other, with the pipeline's registers between them."""
        record: Any = pipeline.crossed(OPERANDS, self.operands())
        for step in steps:
            record = pipeline.crossed(step.point, step.run(build, record))
        for point in pipeline.points_after(steps[-1].point):
            record = pipeline.crossed(point, record)
        code: Code = record
        return code

    def _check_steps(self, steps: Sequence[Step[Any, Any]]) -> None:
        """Build the steps with a register at every boundary, and drop the result. Each value at a boundary is then a signal
        of its own, so that a step which leaves one unread cannot seem to read it by way of another. Units of the same steps
        are checked once."""
        key = (type(self), *self.settles_steps(), *boundaries(steps))
        if key in _CHECKED:
            return
        m = Module()
        m._MustUse__used = True  # type: ignore[attr-defined]  # private to Amaranth, which would warn that it is dropped
        self._chain(Build(m, SharedModules("check")), steps, Pipeline(m, boundaries(steps), Value.cast(1), Value.cast(1)))
        _CHECKED.add(key)


class WithoutHandshake(AnyComponent):
    """The steps of a datapath without its handshake.

    Args:
        datapath: the datapath; it is not built itself.
        steps: its steps, some perhaps in parts.
        registers: boundaries with a register, which takes its input in every cycle.

    Members:
        The ports of the datapath, except those of the handshake.
    """

    d: Signal

    def __init__(self, datapath: Datapath, steps: Sequence[Step[Any, Any]], registers: Sequence[str]) -> None:
        self._datapath, self._steps, self._registers = datapath, steps, registers
        datapath._MustUse__used = True  # type: ignore[attr-defined]  # private to Amaranth, which would warn
        super().__init__({name: In(len(getattr(datapath, name))) for name in datapath.inputs} | {"d": Out(len(datapath.d))})

    def elaborate(self, platform: object) -> Module:
        m, always = Module(), Value.cast(1)
        inputs = [getattr(self._datapath, name).eq(getattr(self, name)) for name in self._datapath.inputs]
        m.d.comb += inputs
        chain = self._datapath._chain(Build(m, platform), self._steps, Pipeline(m, self._registers, always, always))
        m.d.comb += self.d.eq(chain.d)
        return m


def free_running(datapath: Datapath) -> WithoutHandshake:
    """A datapath with a register at every boundary, those inside of steps too: the segments between can be timed."""
    steps = cut_inside(datapath.steps())
    return WithoutHandshake(datapath, steps, boundaries(steps))


def in_parts(datapath: Datapath, registers: Sequence[str]) -> WithoutHandshake | None:
    """The combinational datapath whose steps are in the same parts as in a pipeline with these registers; None if no
    register stands inside of a step."""
    steps = cut_inside(datapath.steps(), registers)
    return None if boundaries(steps) == boundaries(datapath.steps()) else WithoutHandshake(datapath, steps, ())


def check_placed(implementation: Implementation) -> None:
    """Raise ValueError for an implementation with a clock, for which no stages have been found yet."""
    if implementation.clock_ns is not None:
        raise ValueError(
            f"clock_ns = {implementation.clock_ns:g} must become stages and registers before a circuit is built; "
            "rtl.meet_clock(unit) finds them"
        )


def boundaries(steps: Iterable[Step[Any, Any]]) -> list[str]:
    """The names of all boundaries, beginning with the one in front of the first step."""
    return [OPERANDS, *(step.point for step in steps)]


def boundaries_inside(steps: Iterable[Step[Any, Any]]) -> list[str]:
    """The names of the boundaries inside of steps."""
    return [part.point for step in steps for part in step.parts[:-1]]


def placed_registers(steps: Sequence[Step[Any, Any]], implementation: Implementation) -> list[str]:
    """The names of the pipeline registers: those that the implementation names, which may stand inside of steps; else those
    that the steps' estimated depths give.

    Raises:
        ValueError: registers that are not boundaries in order.
    """
    points, named, stages = boundaries(steps), list(implementation.registers), implementation.stages
    if not named:
        chosen = [points[boundary + 1] for boundary in balanced_boundaries([step.depth for step in steps], stages)]
        return chosen + [f"{points[-1]}_{n}" for n in range(1, stages - len(chosen) + 1)]  # more registers than boundaries
    points = boundaries(cut_inside(steps))
    if named != [point for point in points if point in named] or named[-1] != points[-1]:
        raise ValueError(
            f"registers must be some of {listed(points)}, each once, in this order, with {points[-1]}; got {listed(named)}"
        )
    return named
