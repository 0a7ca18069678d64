"""Combinational circuits as Python functions, made of Amaranth's netlist.

Amaranth's own simulator takes every change through the parts of a circuit again and again until nothing changes any more.
Here each cell is computed once, after those that it reads, and a row takes a hundredth of the time. test_circuit.py compares
the two.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import TopologicalSorter
from importlib import import_module
from typing import Any

from amaranth import Elaboratable, Signal

nir: Any = import_module("amaranth.hdl._nir")  # private to Amaranth: its stubs do not describe them
ir: Any = import_module("amaranth.hdl._ir")

INFIX = {
    "&": "{0} & {1}", "|": "{0} | {1}", "^": "{0} ^ {1}", "u>>": "{0} >> {1}", "==": "{0} == {1}", "!=": "{0} != {1}",
    "u<": "{0} < {1}", "u<=": "{0} <= {1}", "u>": "{0} > {1}", "u>=": "{0} >= {1}", "b": "{0} != 0", "r|": "{0} != 0",
    "r&": "{0} == {ones}", "r^": "{0}.bit_count() & 1", "~": "{0} ^ {ones}", "m": "{1} if {0} else {2}",
    "+": "{0} + {1} & {ones}", "-": "{0} - {1} & {ones}", "*": "{0} * {1} & {ones}", "<<": "{0} << {1} & {ones}",
    "s>>": "signed({0}, {width}) >> {1} & {ones}",
    "s<": "signed({0}, {width}) < signed({1}, {width})", "s<=": "signed({0}, {width}) <= signed({1}, {width})",
    "s>": "signed({0}, {width}) > signed({1}, {width})", "s>=": "signed({0}, {width}) >= signed({1}, {width})",
}  # fmt: skip
"""Of the netlist's operators; `width` is that of the first operand, `ones` all its bits."""


def compiled(circuit: Elaboratable, inputs: Signal, results: Signal) -> Callable[[int], int]:
    """The function from a value of `inputs` to that of `results`.

    Raises:
        NotImplementedError: a cell that is none of those below, such as a register.
        graphlib.CycleError: a cell that reads itself, or others that read it.
    """
    ports = [("inputs", inputs, ir.PortDirection.Input), ("results", results, ir.PortDirection.Output)]
    netlist = nir.Netlist()
    ir._emit_netlist(netlist, ir.Fragment.get(circuit, None).prepare(ports))
    netlist.resolve_all_nets()
    cells, (first, _) = netlist.cells, netlist.top.ports_i["inputs"]
    returned = netlist.top.ports_o["results"]
    lines = [line for number in _order(cells, returned) for line in _statements(f"c{number}", cells[number])]
    source = "\n    ".join(["def function(c0):", f"c0 <<= {first}", *lines, f"return int({_bits(returned)})"])
    namespace: dict[str, Any] = {"signed": _signed}
    exec(source, namespace)
    function: Callable[[int], int] = namespace["function"]
    return function


def _order(cells: Sequence[Any], results: Iterable[Any]) -> list[int]:
    """Numbers of the cells that the results depend on, each after those that it reads."""
    reads: dict[int, set[int]] = {}
    waiting = _read(results)
    while waiting:
        number = waiting.pop()
        if number not in reads:
            reads[number] = _read(cells[number].input_nets())
            waiting |= reads[number]
    return list(TopologicalSorter(reads).static_order())


def _read(nets: Iterable[Any]) -> set[int]:
    """The cells that the nets belong to; the first cell is the inputs."""
    return {net.cell for net in nets if not net.is_const} - {0}


def _statements(name: str, cell: Any) -> Iterator[str]:
    """The function that computes a cell."""
    match cell:
        case nir.Operator():
            width = len(cell.inputs[0])
            operator = "neg" if cell.operator == "-" and len(cell.inputs) == 1 else cell.operator
            if operator not in INFIX and operator != "neg":
                raise NotImplementedError(f"operator {operator}")
            text = "-{0} & {ones}" if operator == "neg" else INFIX[operator]
            yield f"{name} = {text.format(*map(_bits, cell.inputs), width=width, ones=_ones(width))}"
        case nir.Part(value_signed=False):  # of a signed value, simulator and Verilog differ beyond its end
            yield f"{name} = {_bits(cell.value)} >> {_bits(cell.offset)} * {cell.stride} & {_ones(cell.width)}"
        case nir.Matches():
            yield f"{name} = {_bits(cell.value)}"
            yield f"{name} = {' or '.join(_equal(name, pattern) for pattern in cell.patterns) or '0'}"
        case nir.PriorityMatch():
            yield f"{name} = {_bits(cell.inputs)}"
            yield f"{name} = {name} & -{name} if {_bits([cell.en])} else 0"
        case nir.AssignmentList():
            yield f"{name} = {_bits(cell.default)}"
            for each in cell.assignments:
                others = ~(((1 << len(each.value)) - 1) << each.start)
                yield f"if {_bits([each.cond])}: {name} = {name} & {others} | {_bits(each.value)} << {each.start}"
        case _:
            raise NotImplementedError(f"cell {cell}")


def _equal(name: str, pattern: str) -> str:
    """Whether a value equals a pattern, in which `-` stands for either bit."""
    care = int("0" + pattern.replace("0", "1").replace("-", "0"), 2)
    return f"{name} & {care} == {int('0' + pattern.replace('-', '0'), 2)}"


def _bits(nets: Sequence[Any]) -> str:
    """The value of nets, the first its lowest bit: runs of bits of one cell, moved to their places, and the constants."""
    parts, constant, place = [], 0, 0
    while place < len(nets):
        net, count = nets[place], 1
        if net.is_const:
            constant |= net.const << place
        else:
            while place + count < len(nets) and nets[place + count] == net + count:
                count += 1
            parts.append(f"((c{net.cell} >> {net.bit} & {_ones(count)}) << {place})")
        place += count
    return f"({' | '.join([*parts, hex(constant)] if constant or not parts else parts)})"


def _ones(width: int) -> str:
    return hex((1 << width) - 1)


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value
