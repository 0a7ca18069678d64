"""A datapath whose results take random bits in one more step behind it."""

from collections.abc import Hashable
from typing import Any

from amaranth.lib.wiring import In, Member

from golden import Operation
from golden.arithmetic.random_bits import RandomStep
from rtl.datapath import depths
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Code
from rtl.datapath.step import Build, Step, Steps
from rtl.steps.add_random import AddRandom
from rtl.steps.component import never_built
from rtl.steps.step_record import Beside, Record


class RandomResult(Datapath):
    """A datapath of wide results and the step add_random.

    Args:
        datapath: it is not built itself. operation: the operation with the ρ of the results. port: the input of random bits.
        step: what is added.
    """

    def __init__(self, datapath: Datapath, operation: Operation, port: str, step: RandomStep) -> None:
        self._datapath, self._port, self._step = datapath, port, step
        never_built(datapath)
        super().__init__(operation, datapath.implementation)

    def input_members(self, operation: Operation) -> dict[str, Member]:
        return super().input_members(operation) | {self._port: In(self._step.random.bits)}

    def beside(self) -> Beside:
        return Beside(getattr(self, self._port))

    def steps(self) -> Steps[Any, Code]:
        return self._datapath.steps().then(Step("add_random", depths.encode(self._step.rho), self.add_random))

    def settles_steps(self) -> tuple[Hashable, ...]:
        return (self._port, self._step, type(self._datapath).__qualname__, *self._datapath.settles_steps())

    def operands(self) -> Record:
        return type(self._datapath.operands())(**{name: getattr(self, name) for name in self._datapath.inputs})

    def add_random(self, build: Build, code: Code) -> Code:
        """Step add_random."""
        assert build.beside_steps is not None
        component = AddRandom(self._step)
        build.place("add_random", component)
        build.assign(component.code.eq(code.d), component.random.eq(build.beside_steps.random))
        return Code(component.d)
