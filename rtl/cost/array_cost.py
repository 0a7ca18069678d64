"""The cost of an array of a unit: one element, decoder and bank of each kind are mapped, and counted with the registers.

An array is elements that are alike, decoders that are alike, and registers whose number follows from its shape. Mapping all
of it as one circuit would take as many times longer as it has elements, and find the same cells.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from amaranth import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden import Unit
from rtl.cost import timing
from rtl.cost.cost_request import CostRequest
from rtl.cost.liberty import Library
from rtl.cost.mapped_netlist import cell_of
from rtl.cost.synthesis import TOP, Mapped, map_whole
from rtl.datapath.base import DecodedDatapath
from rtl.designs.tile import MMATile, held
from rtl.designs.tile_design import TileDesign
from rtl.designs.weight_array import Bank, busy_cycles, stays, step_cycles
from rtl.steps.component import AnyComponent, never_built
from rtl.verilog.emit import modules


class Element(AnyComponent):
    """An element of an array: its datapath, the choice of its c, and the registers of c and of a finished result, or of its
    weights.

    Args:
        tile: the array.

    Members:
        The ports of the datapath; `first`, `starts`, `stored`: the array's control. Where weights stay, `starts` says that
        they are taken.
    """

    c: Signal
    d: Signal
    first: Signal
    starts: Signal
    stored: Signal

    def __init__(self, tile: MMATile) -> None:
        self._array, self._datapath = tile.array, tile.element()
        ports = dict(self._datapath.signature.members)
        if self._array.keeps_weights:  # nothing waits in them
            ports = {name: ports[name] for name in ports if name not in ("in_ready", "out_valid", "out_ready")}
        super().__init__({**ports, "first": In(1), "starts": In(1), "stored": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        array, keeps_weights = self._array, self._array.keeps_weights
        m.submodules.datapath = part = self._datapath
        if keeps_weights:
            m.d.comb += part.out_ready.eq(1)
        for name, member in part.signature.members.items():
            if name not in self.signature.members:
                continue
            port, inside = getattr(self, name), getattr(part, name)
            if keeps_weights and name in ("b", "scale_b"):
                port = stays(m, name, port, self.starts, self.first, array.double_buffer)
            elif name == "c" and not keeps_weights:
                port = Mux(self.first, held(m, "start", port, self.starts) if array.wave else port, part.d)
            elif name == "d" and array.double_buffer and not keeps_weights:
                inside = held(m, "result", inside, self.stored)
            m.d.comb += port.eq(inside) if member.flow == Out else inside.eq(port)
        return m


@dataclass(frozen=True)
class _Part:
    """A kind of part of an array: how many it has, and area (µm²), power (W) and delay (ns) of one."""

    count: int
    area: float
    power: float
    delay: float


def array_cost(unit: Unit, cells: Library, wanted: CostRequest, delay: float) -> dict[str, Any]:
    """The cost of the array of a unit.

    Args:
        delay: the shortest clock period of the unit's own datapath (ns).

    Returns:
        Plain JSON, each key after `array_`. macs, of all elements; area_um2, of which elements_um2, decoders_um2 (those at
        the edge), registers_um2 (between elements and in front of them) and, where weights stay, banks_um2; clock_ns, the
        shortest period; energy_pj of a cycle in which all elements work, at the wanted clock and activity of every net;
        cycles_per_step, of a result of several steps, or where weights stay of a row of A in one of several steps;
        area_um2_per_mac, energy_pj_per_mac, tops_per_mm2 and tops_per_watt, of an array that is always busy: at the wanted
        clock if it meets that, else at its own; utilisation of the wanted layers.

    Raises:
        As `rtl.cost.cost_columns.measure` does.
    """
    array = unit.array
    assert array is not None
    design = TileDesign.of_unit(unit)
    tile = design.component()
    never_built(tile)
    element = _mapped(Element(tile), cells, wanted)
    datapath = tile.element()
    never_built(datapath)
    parts = {"element": _part(array.rows * array.columns, element, cells, wanted, clocked=True)}
    if array.keeps_weights:
        bank = _mapped(Bank(array.depth, unit.operation.d.width), cells, wanted)
        parts["bank"] = _part(array.columns, bank, cells, wanted, clocked=True)
    if isinstance(datapath, DecodedDatapath):
        for operand, decoders in datapath.decoders.items():
            places = array.rows if operand.endswith("a") else array.columns * (array.rows if array.keeps_weights else 1)
            one = _mapped(type(decoders[0])(decoders[0].operand, decoders[0].subnormals), cells, wanted)
            parts[f"decoder of {operand}"] = _part(places * len(decoders), one, cells, wanted, clocked=False)
    flip_flop, register = _flip_flop(element, cells, wanted)
    bits = between(tile)
    decoders_area = sum(part.count * part.area for name, part in parts.items() if name.startswith("decoder"))
    decode = max((part.delay for name, part in parts.items() if name.startswith("decoder")), default=0.0)
    elements_area = parts["element"].count * parts["element"].area
    banks_area = parts["bank"].count * parts["bank"].area if array.keeps_weights else 0.0
    area = elements_area + decoders_area + banks_area + bits * flip_flop
    clock = max(delay, parts["element"].delay + decode)
    if array.keeps_weights:  # registers follow the decoders, and an element takes its sum from the bank
        clock = max(delay, decode, parts["element"].delay + parts["bank"].delay)
    watt = sum(part.count * part.power for part in parts.values()) + bits * register
    energy = 1e3 * watt * wanted.period_ns
    period = clock if wanted.clock_ns is None else max(clock, wanted.clock_ns)
    macs = array.rows * array.columns * unit.operation.length
    stages = unit.implementation.stages
    per_step: float = 1 if array.steps == 1 else stages
    if array.keeps_weights and array.steps > 1:
        per_step = step_cycles(array, stages) / array.depth
    figures = {
        "area_um2": area, "elements_um2": elements_area, "decoders_um2": decoders_area, "registers_um2": bits * flip_flop,
        "clock_ns": clock, "energy_pj": energy, "area_um2_per_mac": area / macs,
        "energy_pj_per_mac": energy / macs,
        "tops_per_mm2": 2e3 * macs / (per_step * period * area), "tops_per_watt": 2 * macs / energy,
    }  # fmt: skip
    figures |= {"banks_um2": banks_area} if array.keeps_weights else {}
    found: dict[str, Any] = {"macs": macs, "registers": bits, "cycles_per_step": per_step}
    found |= {key: round(value, 6) for key, value in figures.items()}
    found |= {"utilisation": utilisation(unit, wanted.layers)} if wanted.layers else {}
    return {f"array_{key}": value for key, value in found.items()}


def between(tile: MMATile) -> int:
    """Flip-flops that hold operands and control outside of the elements of an array and its banks."""
    array, datapath = tile.array, tile.element()
    never_built(datapath)
    if not array.wave and not array.keeps_weights:
        return 0
    rows, columns = array.rows, array.columns
    widths = Counter[str]()
    for name, port in datapath.signature.members.items():
        if name in ("a", "b", "scale_a", "scale_b"):
            widths["row" if name.endswith("a") else "column"] += port.shape
    if array.keeps_weights:
        stages = tile.implementation.stages
        late = sum(1 + i * stages for i in range(rows)) + (rows * (columns - 1) if array.wave else 0)
        cycles = rows * stages + array.wave + 1  # to the last bank
        told = (2 + (array.depth - 1).bit_length()) * cycles  # valid, ends and the number of the row
        first = cycles - stages if array.double_buffer else 0  # up to the last element
        return widths["row"] * late + told + first
    along = rows * (columns - 1) * widths["row"] + columns * (rows - 1) * widths["column"]
    in_front = rows * (rows - 1) // 2 * widths["row"] + columns * (columns - 1) // 2 * widths["column"]
    control = len(tile.CONTROL) if array.double_buffer else len(tile.CONTROL) - 1  # without, nothing is stored
    return along + in_front + control * array.wave


def utilisation(unit: Unit, layers: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """The share of its multiplications with which an array works, for layers of shape m, n, k: D of m × n over k products.

    Elements that a last tile of rows or columns leaves idle count, products beyond k, cycles between steps, and the cycles
    after each result in which a systolic array without double buffers begins no other.

    Raises:
        ValueError: a unit without an array.
    """
    if unit.array is None:
        raise ValueError(f"{unit.name} has no table [array]")
    array, length, stages = unit.array, unit.operation.length, unit.implementation.stages
    found = {}
    for name, (m, n, k) in layers.items():
        if array.keeps_weights:
            tiles = ceil(m / array.depth) * ceil(n / array.columns)
            cycles = busy_cycles(array, stages, ceil(k / (array.rows * length)))
        else:
            tiles = ceil(m / array.rows) * ceil(n / array.columns)
            busy = (ceil(k / length) - 1) * stages + 1
            cycles = max(busy, array.wave + 1) if array.double_buffer else busy + array.wave
        found[name] = round(m * n * k / (tiles * cycles * array.rows * array.columns * length), 4)
    return found


def _mapped(component: AnyComponent, cells: Library, wanted: CostRequest) -> Mapped:
    return map_whole(modules(component, TOP), cells, wanted.limit)


def _part(count: int, mapped: Mapped, cells: Library, wanted: CostRequest, clocked: bool) -> _Part:
    wish = (wanted.period_ns, wanted.activity, wanted.limit)
    found = timing.analyse(mapped.verilog, TOP, cells, clocked, *wish, mapped.netlist.constants)
    return _Part(count, mapped.area, found.power, found.delay)


def _flip_flop(element: Mapped, cells: Library, wanted: CostRequest) -> tuple[float, float]:
    """Area (µm²) and power (W) of a flip-flop: the mean of those in an element."""
    powers = timing.cell_powers(element.verilog, TOP, cells, True, wanted.period_ns, wanted.limit)
    registers = [cell for cell in element.netlist.cells if cell_of(cells, cell.kind).register is not None]
    area = sum(cell_of(cells, cell.kind).area for cell in registers) / len(registers)
    idle, of_change = (sum(powers[cell.name][which] for cell in registers) / len(registers) for which in (0, 1))
    return area, idle + wanted.activity * of_change
