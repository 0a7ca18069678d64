"""Datapaths side by side, each with formats of its own: an input chooses whose result is d."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth import Mux, Value
from amaranth.lib.wiring import Member

from golden import Operation
from rtl.datapath.base import OPERANDS, Datapath
from rtl.datapath.fused_records import Code
from rtl.datapath.pipeline import Pipeline
from rtl.datapath.step import Build, Step, Steps, cut_inside
from rtl.steps.component import never_built
from rtl.steps.step_record import Record, is_code


def named(place: int) -> str:
    """What the names of components and registers of a datapath begin with, by its place."""
    return f"of_{place}_"


@dataclass(frozen=True, eq=False)
class Chosen(Record):
    """The input that chooses a result."""

    choice: Value


class SideBySide(Datapath):
    """Datapaths of the same ports and the same steps, in one pipeline.

    Args:
        datapaths: they are not built themselves. name: the input. table: the place of the datapath that each code chooses.
    """

    def __init__(self, datapaths: Sequence[Datapath], name: str, table: tuple[tuple[int, int], ...]) -> None:
        self._datapaths, self._name, self._table = tuple(datapaths), name, table
        never_built(*datapaths)
        first = datapaths[0]
        super().__init__(first.operation, first.implementation, first._modes)

    def input_members(self, operation: Operation) -> dict[str, Member]:
        return self._datapaths[0].input_members(operation)

    def steps(self) -> Steps[Any, Code]:
        return self._datapaths[0].steps()

    def operands(self) -> Chosen:
        """The input that chooses; each datapath has its own operands."""
        return Chosen(getattr(self, self._name))

    def settles_steps(self) -> tuple[Hashable, ...]:
        return (self._table, *(key for datapath in self._datapaths for key in datapath.settles_steps()))

    def _chain(
        self, build: Build, steps: Sequence[Step[Any, Any]], pipeline: Pipeline, operands: Record | None = None
    ) -> Code:
        points = [step.point for step in steps]
        inputs, codes = [*self.inputs, *(() if self._modes is None else (self._modes.name,))], list[Code]()
        for place, datapath in enumerate(self._datapaths):
            build.m.d.comb += [getattr(datapath, name).eq(getattr(self, name)) for name in inputs]
            own = cut_inside(datapath.steps(), points)
            codes.append(datapath._chain(build.beside(named(place)), own, pipeline.beside(named(place))))
        chosen = self.operands()
        for point in (OPERANDS, *points, *pipeline.points_after(points[-1])):
            chosen = pipeline.crossed(point, chosen)
        d, flags = codes[0].d, codes[0].flags
        for code, place in self._table:
            if place:
                is_chosen, other = is_code(chosen.choice, code), codes[place]
                d = Mux(is_chosen, other.d, d)
                flags = None if flags is None or other.flags is None else Mux(is_chosen, other.flags, flags)
        return Code(d, flags)
