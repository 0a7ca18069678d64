"""Reads a flat circuit in the JSON that Yosys writes (`write_json`) as the Verilog statements that its cells represent.

A cell is one operator, with signs and widths of its operands (Yosys' manual, "Word-level cells"); its output is the target.
So the meaning of an operator is defined once, for the text and for cells (expressions.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mmau.prove.netlist.syntax import (
    Assignment,
    Binary,
    Choice,
    Concatenation,
    Constant,
    Copy,
    Expression,
    Module,
    Operand,
    Signed,
    Slice,
    Unary,
)  # fmt: skip

Bit = int | str
"""A bit of a cell: the number of a net, or a constant "0", "1", "x", "z"."""

UNARY = {
    "$not": "~", "$neg": "-", "$reduce_and": "&", "$reduce_or": "|", "$reduce_bool": "|", "$reduce_xor": "^",
    "$reduce_xnor": "~^", "$logic_not": "!",
}  # fmt: skip

BINARY = {
    "$and": "&", "$or": "|", "$xor": "^", "$xnor": "~^", "$add": "+", "$sub": "-", "$mul": "*", "$div": "/", "$mod": "%",
    "$pow": "**", "$lt": "<", "$le": "<=", "$gt": ">", "$ge": ">=", "$eq": "==", "$ne": "!=", "$eqx": "===", "$nex": "!==",
    "$logic_and": "&&", "$logic_or": "||", "$shl": "<<", "$sshl": "<<<", "$shr": ">>", "$sshr": ">>>",
}  # fmt: skip

ANYTHING = {"$anyseq", "$anyconst"}
"""Cells whose output may have any value."""

IGNORED = {"$scopeinfo", "$check", "$print", "$assert", "$assume", "$cover"}
"""Kinds of cells without an output, which are skipped."""

CLOCK = "clk"


class UnreadableCircuit(ValueError):
    """JSON that is no flat circuit whose registers all change at the rising edge of `clk`."""


def read_circuit(name: str, circuit: Mapping[str, Any]) -> Module:
    """Read a module of Yosys' `write_json`; a cell of an unknown kind becomes an operator that has no term.

    Raises:
        UnreadableCircuit: a register of another kind than $dff or of another clock, or a net that is driven twice.
    """
    return _Reader(name, circuit).module


class _Reader:
    """Names a wire for every output of a cell, and records its driver.

    Attributes:
        module: the module read so far.
    """

    def __init__(self, name: str, circuit: Mapping[str, Any]) -> None:
        self.module = Module(name, 0, tuple(circuit["ports"]))
        self._drivers: dict[Bit, tuple[str, int]] = {}
        self._clock = circuit["ports"].get(CLOCK, {}).get("bits")
        driven = [(name, cell, port) for name, cell in circuit["cells"].items() for port in _outputs(name, cell)]
        for port, declared in circuit["ports"].items():
            self.module.directions[port] = declared["direction"]
            self._declare(port, declared["bits"], drives=declared["direction"] == "input")
        for name, cell, port in driven:
            self._declare(f"{name}.{port}", cell["connections"][port])
        for name, cell, port in driven:
            self._state(name, cell, self._whole(f"{name}.{port}"))
        for port, declared in circuit["ports"].items():
            if declared["direction"] == "output":
                self._assign(self._whole(port), Copy(self._operand(declared["bits"])))

    def _declare(self, wire: str, bits: Sequence[Bit], drives: bool = True) -> None:
        self.module.ranges[wire] = (len(bits) - 1, 0)
        for place, bit in enumerate(bits if drives else ()):
            if bit in self._drivers:
                raise UnreadableCircuit(f"net {bit} is driven twice")
            self._drivers[bit] = wire, place

    def _whole(self, wire: str) -> Slice:
        return Slice(wire, *self.module.ranges[wire], whole=True)

    def _assign(self, target: Operand, expression: Expression) -> None:
        self.module.assignments.append(Assignment(0, target, expression))

    def _state(self, name: str, cell: Mapping[str, Any], target: Slice) -> None:
        kind = cell["type"]
        if kind == "$dff":
            rises = int(str(cell["parameters"]["CLK_POLARITY"]), 2) == 1
            if cell["connections"]["CLK"] != self._clock or not rises:
                raise UnreadableCircuit(f"{name} takes its value at another moment than the rising edge of {CLOCK}")
            self.module.registers.append(Assignment(0, target, Copy(self._input(cell, "D"))))
        elif kind == "$shiftx":
            self._indexed(cell, target)
        elif kind == "$bwmux":
            self._chosen_by_bit(cell, target)
        else:
            self._assign(target, self._expression(cell, target.width))

    def _expression(self, cell: Mapping[str, Any], width: int) -> Expression:
        kind = cell["type"]
        if kind in BINARY:
            return Binary(BINARY[kind], self._input(cell, "A"), self._input(cell, "B"))
        if kind in UNARY:
            return Unary(UNARY[kind], self._input(cell, "A"))
        if kind == "$pos":
            return Copy(self._input(cell, "A"))
        if kind == "$mux":
            return Choice(self._input(cell, "S"), self._input(cell, "B"), self._input(cell, "A"))
        anything = Copy(_anything(width))
        return anything if kind in ANYTHING else Unary(kind, anything.operand)

    def _made(self, target: Slice, name: str, expression: Expression) -> Slice:
        """A wire of its own beside the output of a cell."""
        wire = f"{target.name} {name}"
        self.module.ranges[wire] = (target.width - 1, 0)
        self._assign(self._whole(wire), expression)
        return self._whole(wire)

    def _chosen_by_bit(self, cell: Mapping[str, Any], target: Slice) -> None:
        """$bwmux: each bit is that of B where S is 1, and that of A where it is 0."""
        a, b, s = (self._input(cell, port) for port in "ABS")
        unlike = self._made(target, "unlike", Binary("^", a, b))
        self._assign(target, Binary("^", a, self._made(target, "changed", Binary("&", unlike, s))))

    def _indexed(self, cell: Mapping[str, Any], target: Slice) -> None:
        """$shiftx: the bits of A from position B upward; bits outside A may have any value."""
        word, place, width = self._input(cell, "A"), self._input(cell, "B"), target.width
        ones, made = (1 << width) - 1, partial(self._made, target)

        known = made("known", Binary(">>", Constant.of((1 << word.width) - 1, word.width), place))
        beside: Operand = made("beside", Unary("~", known))
        if isinstance(place, Signed):
            beside = made(
                "below or beside", Choice(self._operand(cell["connections"]["B"][-1:]), Constant.of(ones, width), beside)
            )
        free = made("free", Binary("&", _anything(width), beside))
        self._assign(target, Binary("^", made("inside", Binary(">>", word, place)), free))

    def _input(self, cell: Mapping[str, Any], port: str) -> Operand:
        """The operand at a port of a cell, signed if the cell says so."""
        operand = self._operand(cell["connections"][port])
        return Signed(operand) if int(str(cell["parameters"].get(f"{port}_SIGNED", 0)), 2) else operand

    def _operand(self, bits: Sequence[Bit]) -> Operand:
        """Nets side by side, the first one lowest; neighbours of one driver are one part."""
        parts: list[Operand] = []
        for bit in bits:
            part = self._bit(bit)
            if parts and (joined := _joined(parts[-1], part)) is not None:
                parts[-1] = joined
            else:
                parts.append(part)
        return parts[0] if len(parts) == 1 else Concatenation(tuple(reversed(parts)))

    def _bit(self, bit: Bit) -> Slice | Constant:
        if isinstance(bit, str):
            return _anything(1) if bit in "xz" else Constant.of(int(bit), 1)
        wire, place = self._drivers.get(bit, (f"net {bit}", 0))
        self.module.ranges.setdefault(wire, (0, 0))  # an undriven net
        return Slice(wire, place, place, whole=False)


def _outputs(name: str, cell: Mapping[str, Any]) -> Iterator[str]:
    """The output ports of a cell, except those without bits."""
    if cell["type"] in IGNORED:
        return
    ports = [port for port, direction in cell["port_directions"].items() if direction == "output"]
    if not ports:
        raise UnreadableCircuit(f"{name} is a {cell['type']}, which has no output")
    yield from (port for port in ports if cell["connections"][port])


def _anything(width: int) -> Constant:
    return Constant(f"{width}'bx", width, None)


def _joined(low: Operand, high: Operand) -> Operand | None:
    """Two adjacent parts as one part, if that is possible."""
    if isinstance(low, Slice) and isinstance(high, Slice) and low.name == high.name and high.low == low.high + 1:
        return Slice(low.name, high.high, low.low, whole=False)
    if isinstance(low, Constant) and isinstance(high, Constant) and low.value is not None and high.value is not None:
        return Constant.of(high.value << low.width | low.value, low.width + high.width)
    return None
