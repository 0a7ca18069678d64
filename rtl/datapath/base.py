"""What every datapath is: ports, a handshake, and steps with cut points between them."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from amaranth import Module, Value
from amaranth.lib.wiring import Component, In, Out

from golden import Implementation, Operation
from rtl.datapath.pipeline import Bundle, Pipeline, balanced_cuts
from rtl.steps.component import Part, SharedModules


class Build:
    """Where the steps of a datapath put their parts: an Amaranth module, under a platform.

    Attributes:
        m: the module.
    """

    def __init__(self, m: Module, platform: object) -> None:
        self.m = m
        self._platform = platform

    def place(self, name: str, part: Part) -> None:
        """Put a part in: as a submodule, or as an instance of a shared module."""
        shared = isinstance(self._platform, SharedModules)
        self.m.submodules[name] = self._platform.instance(name, part) if shared else part  # type: ignore[attr-defined]

    def drive(self, interface: Any, name: str, values: Bundle) -> None:
        """Drive a part's port from the values `<name>_<member>`."""
        members = interface.signature.members
        self.m.d.comb += [getattr(interface, member).eq(values[f"{name}_{member}"]) for member in members]


class Step(NamedTuple):
    """A step of a datapath and the cut point after it.

    Attributes:
        point: name of the cut point.
        depth: about its logic depth (rtl.datapath.depths).
        run: builds the step: values in, values out.
    """

    point: str
    depth: int
    run: Callable[[Build, Bundle], Bundle]


class Datapath(Component):
    """A unit in hardware: d from a, b, c and, where scaled, scale_a and scale_b.

    Latency: `implementation.stages` cycles without stalls; throughput: one result a cycle.

    Args:
        operation: the golden parameter object.
        implementation: how it is built.

    Members:
        a, b: In(length·w), element k in bits [k·w, (k+1)·w), w the format's width.
        scale_a, scale_b: In(scales·w), where the operation has scales.
        c: In(width of c). d: Out(width of d).
        in_valid, in_ready, out_valid, out_ready: with stages > 0; a transfer happens when valid and ready are both high.
    """

    def __init__(self, operation: Operation, implementation: Implementation) -> None:
        self.implementation = implementation
        members = self.input_members(operation)
        self._inputs = tuple(members)
        members["d"] = Out(operation.d.width)
        if implementation.stages:
            members |= {"in_valid": In(1), "in_ready": Out(1), "out_valid": Out(1), "out_ready": In(1)}
        super().__init__(members)

    def input_members(self, operation: Operation) -> dict[str, Any]:
        """The input ports that hold operands."""
        members: dict[str, Any] = {
            "a": In(operation.length * operation.a.width),
            "b": In(operation.length * operation.b.width),
            "c": In(operation.c.width),
        }
        if operation.scale_format is not None:
            scales = operation.scales_per_step * operation.scale_format.width
            members |= {"scale_a": In(scales), "scale_b": In(scales)}
        return members

    @abstractmethod
    def steps(self) -> list[Step]:
        """The steps in order; the first takes the input ports by name, the last gives `d`."""

    @property
    def latency(self) -> int:
        """Cycles from an input transfer to its result, where nothing stalls."""
        return self.implementation.stages

    def elaborate(self, platform: object) -> Module:
        m = Module()
        build, steps, stages = Build(m, platform), self.steps(), self.implementation.stages
        points = ["operands", *(step.point for step in steps)]
        chosen = [points[cut + 1] for cut in balanced_cuts([step.depth for step in steps], stages)]
        handshake = (self.in_valid, self.out_ready) if stages else (Value.cast(1), Value.cast(1))
        pipeline = Pipeline(m, chosen, *handshake)
        if stages:
            m.d.comb += [self.in_ready.eq(pipeline.in_ready), self.out_valid.eq(pipeline.out_valid)]
        values = pipeline.cut("operands", {name: getattr(self, name) for name in self._inputs})
        for step in steps:
            values = pipeline.cut(step.point, step.run(build, values))
        m.d.comb += self.d.eq(values["d"])
        return m
