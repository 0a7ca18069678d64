"""The changes of a mapped netlist's nets in the Switching Activity Interchange Format (SAIF, of IEEE 1801), which power
tools read beside the netlist.

Every pin of every cell has its entry in the scope of the cell, and every port in that of the module: readers find pins by
these names. Counted are the changes between settled values, without glitches, as for `energy_pj`.
"""

from rtl.cost.activity import Changes
from rtl.cost.mapped_netlist import CONSTANTS, Netlist

FS_IN_NS = 1_000_000


def saif(netlist: Netlist, made: Changes, top: str, clock_ns: float) -> str:
    """The text of the file.

    Args:
        made: the changes of the netlist's nets. top: name of its module. clock_ns: period of the clock (ns).
    """
    period, clock = round(clock_ns * FS_IN_NS), netlist.inputs.get("clk", ())
    duration = made.cycles * period

    def entry(name: str, net: int | str) -> str:
        """How long a net is 0 and 1 (fs), and how often it changes."""
        if net in clock:
            high, count = made.cycles * (period // 2), 2 * made.cycles
        elif net in CONSTANTS:
            high, count = int(net) * duration, 0
        else:
            high, count = round(made.high[net] * made.cycles) * period, round(made.settled[net] * made.cycles)
        return f"({name} (T0 {duration - high}) (T1 {high}) (TX 0) (TC {count}) (IG 0))"

    lines = ['(SAIFILE (SAIFVERSION "2.0") (DIRECTION "backward") (DIVIDER / ) (TIMESCALE 1 fs)', f"(DURATION {duration})"]
    lines.append(f"(INSTANCE {top} (NET")
    for port, nets in (*netlist.inputs.items(), *netlist.outputs.items()):
        lines += [entry(port if len(nets) == 1 else f"{port}\\[{bit}\\]", net) for bit, net in enumerate(nets)]
    lines.append(")")
    for cell in netlist.cells:
        lines.append(f"(INSTANCE {cell.name} (NET {' '.join(entry(*pin) for pin in cell.nets.items())}))")
    return "\n".join([*lines, "))", ""])
