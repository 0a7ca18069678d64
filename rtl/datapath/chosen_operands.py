"""A datapath in front of which inputs choose the operands: their ports, their signs, and which products count."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Const, Mux, Value
from amaranth.lib.wiring import In, Member

from golden import Format, Operation
from golden.operations.fma import ONE, ZERO, one
from golden.units.controls import Source
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Code
from rtl.datapath.step import Steps
from rtl.steps.component import never_built
from rtl.steps.step_record import Record, is_code


@dataclass(frozen=True)
class Selection:
    """How inputs choose the operands.

    Attributes:
        inputs: the name and the width of each input.
        ports: the operation that has the ports. usual: where the datapath's operands come from, if not from their own port.
        table: for codes of inputs, the operands that come from elsewhere. A source that is no port is a constant.
        mask: the input with a bit for each product, without which a product is +0 · +0; empty if there is none.
        metadata: the input that selects two of each four elements of b; empty if there is none.
        zeros: of operands that have zero points the input that holds these.
    """

    inputs: tuple[tuple[str, int], ...]
    ports: Operation
    usual: tuple[tuple[str, Source], ...] = ()
    table: tuple[tuple[tuple[tuple[str, int], ...], tuple[tuple[str, Source], ...]], ...] = ()
    mask: str = ""
    metadata: str = ""
    zeros: tuple[tuple[str, str], ...] = ()


class ChosenOperands(Datapath):
    """A datapath with the operands that inputs choose; its steps are those of the datapath that it is made of.

    Args:
        datapath: that datapath; it is not built itself.
        selection: how inputs choose its operands.
    """

    def __init__(self, datapath: Datapath, selection: Selection) -> None:
        self._datapath, self._selection = datapath, selection
        never_built(datapath)
        super().__init__(datapath.operation, datapath.implementation, datapath._modes)

    def input_members(self, operation: Operation) -> dict[str, Member]:
        members = super().input_members(self._selection.ports) | {name: In(width) for name, width in self._selection.inputs}
        if self._selection.metadata:
            members["b"] = In(2 * len(self._datapath.b))
        return members

    def steps(self) -> Steps[Any, Code]:
        return self._datapath.steps()

    def settles_steps(self) -> tuple[Hashable, ...]:
        return (type(self._datapath).__qualname__, self._selection, *self._datapath.settles_steps())

    def operands(self) -> Record:
        """The operands that the inputs choose, as the record that the first step takes."""
        return type(self._datapath.operands())(**{name: self._chosen(name) for name in self._datapath.inputs})

    def _chosen(self, name: str) -> Value:
        """The codes of an operand; scales are those of their own port."""
        if name in self.operation.scale_operands:
            scales: Value = getattr(self, name)
            return scales
        found = self._from(name, dict(self._selection.usual).get(name, Source(name)))
        for codes, places in self._selection.table:
            source = dict(places).get(name)
            if source is not None:
                is_chosen = Cat(*(is_code(getattr(self, control), code) for control, code in codes)).all()
                found = Mux(is_chosen, self._from(name, source), found)
        if self._selection.mask and name in ("a", "b"):
            mask, width = getattr(self, self._selection.mask), len(found) // self.operation.length
            found &= Cat(*(mask[k].replicate(width) for k in range(self.operation.length)))
        zeros = dict(self._selection.zeros).get(name)
        if zeros is None:
            return found
        return self._differences(found, getattr(self, zeros), getattr(self._selection.ports, name))

    def _differences(self, codes: Value, zeros: Value, kind: Format) -> Value:
        """Each element less the zero point of its block, in a bit more."""
        width, block, found = kind.width, self._selection.ports.block_size or self.operation.length, list[Value]()
        for k in range(self.operation.length):
            q, z = codes[k * width :][:width], zeros[k // block * width :][:width]
            found.append(((q.as_signed() - z.as_signed()) if kind.signed else (q - z))[: width + 1])
        return Cat(*found)

    def _from(self, name: str, source: Source) -> Value:
        """The codes of an operand from a port, or of a constant."""
        kind, width = getattr(self.operation, name), len(getattr(self._datapath, name))
        if source.port == ONE:
            return Const(one(kind), width)
        if source.port == ZERO:
            negative = self._chosen("a")[-1] ^ self._chosen("b")[-1]
            return Const(kind.negative_zero, width) & negative.replicate(width)
        port: Value = getattr(self, source.port)
        if name in dict(self._selection.zeros):
            return port  # of elements that are narrower than the datapath's
        codes = self._selected(port, kind.width) if self._selection.metadata and source.port == "b" else port[:width]
        signs = sum(kind.negative_zero << low for low in range(0, width, kind.width))
        return codes ^ signs if source.is_negated else codes

    def _selected(self, port: Value, width: int) -> Value:
        """Two of each four elements of a port. The first is none of the places 3, the second none of 0, as places ascend:

        code   second | first      first: 0, 1 or 2      second: 1, 2 or 3
        """
        metadata, found = getattr(self, self._selection.metadata), list[Value]()
        for group in range(self.operation.length // 2):
            element = [port[(4 * group + k) * width :][:width] for k in range(4)]
            code = metadata[4 * group :][:4]
            found.append(Mux(code[1], element[2], Mux(code[0], element[1], element[0])))
            found.append(Mux(code[3], Mux(code[2], element[3], element[2]), element[1]))
        return Cat(*found)
