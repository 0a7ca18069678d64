"""How often the nets of a mapped netlist change while rows of operands follow each other, one a clock cycle.

All rows are computed at once, each in its bit of a plane (rtl/cost/mapped_netlist.py). A net changes from a row to the next
if their settled values differ. Before it settles it may change more often: gates are given one unit of delay each, and every
change counts, as in a simulation with unit delays.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from golden import Unit
from golden.stimulus import Operands
from rtl.cost.liberty import Library
from rtl.cost.mapped_netlist import CONSTANTS, Netlist, Simulation, cell_of, chosen_steps, driven_by, driven_inputs


@dataclass(frozen=True)
class Changes:
    """Changes of nets in a clock cycle, the mean over all rows but the first.

    Attributes:
        settled: changes between settled values. all: glitches as well.
        high: the share of the cycles in which a net is 1 when it has settled.
        cycles: how many there are.
    """

    settled: dict[int | str, float]
    all: dict[int | str, float]
    high: dict[int | str, float]
    cycles: int


def changes(netlist: Netlist, library: Library, unit: Unit, latency: int, operands: Operands) -> Changes:
    """The changes of all nets while the rows of a unit's step follow each other; of several modes those of the first.

    Args:
        latency: cycles from operands to result: as many as the pipeline has registers.
        operands: at least two rows.

    Raises:
        NetlistError: as of `Simulation`. ValueError: one row.
    """
    rows = len(operands.c)
    if rows < 2:
        raise ValueError(f"changes are those from one row to the next, and take two rows; got {rows}")
    everywhere = (1 << rows) - 1
    ports = {name: bits.planes() for name, bits in driven_by(*chosen_steps(unit)[0], operands)[1].items()}
    ports |= {"in_valid": [everywhere], "out_ready": [everywhere]}
    simulation = Simulation(netlist, library, rows)
    if latency:
        simulation.cycle(driven_inputs(netlist, {"rst": [everywhere]}))
    for _ in range(latency + 1):  # until every stage holds its own row: those of all stages are the same then
        simulation.cycle(driven_inputs(netlist, ports))
    settled = simulation.nets
    former = {net: _former(plane, rows) for net, plane in settled.items()}
    every = _until_settled(simulation, settled, former)
    steps, nets = rows - 1, [net for net in settled if net not in CONSTANTS]
    return Changes(
        {net: (settled[net] ^ former[net]).bit_count() / steps for net in nets},
        {net: every[net] / steps for net in nets},
        {net: (settled[net] >> 1).bit_count() / steps for net in nets},
        steps,
    )


def _former(plane: int, rows: int) -> int:
    """The plane of the row before each row; the first row keeps its own value, so that it counts no change."""
    return (plane << 1 | plane & 1) & ((1 << rows) - 1)


def _until_settled(
    simulation: Simulation, settled: dict[int | str, int], former: dict[int | str, int]
) -> dict[int | str, int]:
    """How often each net changes from the former row's values on: inputs and registers at once, then a gate a time unit."""
    now, counts = dict(former), defaultdict[int | str, int](int)
    changed = set[int | str]()
    for net in simulation.sources:
        if now[net] != settled[net]:
            counts[net] += (now[net] ^ settled[net]).bit_count()
            now[net] = settled[net]
            changed.add(net)
    while changed:
        following: dict[int | str, int] = {}
        for place in {place for net in changed for place in simulation.readers.get(net, ())}:
            following |= simulation.outputs_of(place, now)
        changed = {net for net, plane in following.items() if plane != now[net]}
        for net in changed:
            counts[net] += (now[net] ^ following[net]).bit_count()
            now[net] = following[net]
    return counts


def power(
    powers: Mapping[str, tuple[float, float]], netlist: Netlist, library: Library, often: Mapping[int | str, float]
) -> float:
    """The power of a netlist (W): of each cell what it takes idle, and for the changes of the nets that it drives.

    Args:
        powers: as `rtl.cost.timing.cell_powers` gives them. often: changes of each net in a clock cycle.
    """
    total = 0.0
    for cell in netlist.cells:
        idle, of_change = powers[cell.name]
        driven = [often[net] for pin, net in cell.nets.items() if pin in cell_of(library, cell.kind).functions]
        total += idle + of_change * sum(driven) / max(1, len(driven))
    return total
