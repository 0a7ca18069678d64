"""Compares synthesised netlists with the Verilog from which they are made, by Yosys: module by module, or all as one
circuit.

Both are read from their texts. The registers of a module are cut: their states become inputs and their next states outputs,
matched by name, so that equality holds from every state. Modules inside it are cut likewise, by the name of the instance:
where each module of a netlist equals the one of the Verilog, the netlist as a whole does.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmau.formal.netlist.syntax import Module
from mmau.formal.netlist.verilog_text import read_netlist
from mmau.formal.verdicts import OPEN, PROVED, REFUTED
from rtl.cost.flow import CELLS, GATES, run_mapper
from rtl.cost.liberty import Library
from rtl.yosys import YosysError

TOP = "unit"
"""The name of the top module."""

UNCONNECTED = "xz"
"""The constants of Yosys' JSON that are not numbers."""

_EQUAL, _DIFFERS = "SAT proof finished - no model found: SUCCESS!", "SAT proof finished - model found: FAIL!"

_READ = "hierarchy -top {module}; {opaque} proc; flatten; opt_clean; {cut} delete t:$scopeinfo; write_json {side}.json"
"""A side as one module without the modules inside it. Nothing in it is optimised before its JSON is written."""

_COMPARE = (
    "design -copy-from gold -as gold gold; design -copy-from gate -as gate gate; setattr -mod -unset top gold gate; {cut}"
    " select -assert-none gold/t:$*dff* gold/t:$_*DFF* gate/t:$*dff* gate/t:$_*DFF*;"
    " miter -equiv -flatten -make_outputs gold gate miter; hierarchy -top miter; wreduce; alumacc; techmap; opt;"
    " abc -g AND,XOR; opt_clean; tee -q -o answer.txt sat -prove trigger 0 miter"
)
"""Passes that compare two circuits. Arithmetic is laid out as in synthesis (`alumacc`): else a product of 8 bits takes 150
times as long. abc merges what is equal on both sides: else the last question of every sum would, too."""

_REGISTERS = "expose -evert-dff -dff -shared gold gate; opt_clean;"


@dataclass(frozen=True)
class Compared:
    """The result of a comparison.

    Attributes:
        verdict: REFUTED only without registers and without modules inside: the state or the outputs that show a difference
            may never be there.
        reason: why it is not proved, one line.
    """

    verdict: str
    reason: str = ""


def synthesise(verilog: str, library: Library | None, limit: float, flat: bool = False) -> str:
    """The Verilog of a netlist.

    Args:
        verilog: a design, with a top module called `TOP`.
        library: library of the netlist's cells; None for NAND, NOR and NOT gates.
        limit: seconds. flat: whether all is synthesised as one circuit, in which no two registers become one; else every
            module by itself.

    Raises:
        MissingTool: no Yosys. YosysError: it failed, or did not end in time.
    """
    mapping = GATES if library is None else CELLS.format(library.name)
    kept = "proc; setattr -set keep 1 t:$dff; " if flat else ""
    script = f"{kept}synth -noshare {'-flatten ' if flat else ''}-top {TOP}; {mapping}; write_verilog -noattr netlist.v"
    return run_mapper(verilog, script, ["netlist.v"], _files(library), limit=limit)["netlist.v"]


def compared(verilog: str, netlist: str, library: Library | None, limit: float, module: str | None = None) -> Compared:
    """Compare a module of a netlist with that of the Verilog.

    Args:
        netlist: as from `synthesise`. library: the library of its cells. limit: seconds of elapsed time.
        module: a module without those inside it; None for the top module with all of them.

    Raises:
        MissingTool: no Yosys. UnreadableVerilog: Verilog that Yosys did not write.
    """
    modules = read_netlist(verilog)
    of = modules[module or TOP]
    try:
        found = run_mapper(
            verilog, _script(modules, of.name, module is not None, library), ["gold.json", "gate.json", "answer.txt"],
            {**_files(library), "netlist.v": netlist}, limit=limit,
        )  # fmt: skip
    except YosysError as error:
        return Compared(OPEN, re.sub(r"\s+", " ", str(error)))
    for side in ("gold", "gate"):
        problem = next(undefined(json.loads(found[f"{side}.json"])["modules"][side]), None)
        if problem is not None:
            return Compared(OPEN, f"{'the Verilog' if side == 'gold' else 'the netlist'}: {problem}")
    answer = found["answer.txt"]
    if _EQUAL in answer and _DIFFERS not in answer:
        return Compared(PROVED)
    if _DIFFERS not in answer:
        return Compared(OPEN, "Yosys gave no answer")
    has_registers = any(each.registers for each in (modules.values() if module is None else [of]))
    if has_registers:
        return Compared(OPEN, "they differ from a state of the registers, which may be one that is never reached")
    if module is not None and of.instances:
        return Compared(OPEN, "they differ for outputs of the modules inside, which these may never give")
    return Compared(REFUTED, "they differ")


def undefined(circuit: Mapping[str, Any]) -> Iterator[str]:
    """Signals of a module in Yosys' JSON without a defined value: constants that are no number, nets without one driver."""
    driven, read = Counter[int | str](), dict[int | str, str]()
    for name, bits, is_driver in _ends(circuit):
        for bit in bits:
            if is_driver:
                driven[bit] += 1
            else:
                read[bit] = name
    for bit, where in read.items():
        if isinstance(bit, str):
            if bit in UNCONNECTED:
                yield f"{where} is {bit}"
        elif not driven[bit]:
            yield f"{where} is not driven"
    for bit, count in driven.items():
        if isinstance(bit, str) or count > 1:
            yield f"{count if isinstance(bit, int) else 2} drivers of one net"


def _ends(circuit: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[int | str], bool]]:
    """The ports of a module and of its cells: name, nets, and whether the nets are driven there."""
    for name, port in circuit["ports"].items():
        yield name, port["bits"], port["direction"] == "input"
    for name, cell in circuit["cells"].items():
        for pin, bits in cell["connections"].items():
            yield f"{pin} of {name}", bits, cell["port_directions"][pin] == "output"


def _script(modules: Mapping[str, Module], module: str, is_alone: bool, library: Library | None) -> str:
    """The commands that compare, after the Verilog is read."""
    inside = sorted({each.module for each in modules[module].instances}) if is_alone else []
    has_registers = any(each.registers for each in ([modules[module]] if is_alone else modules.values()))
    opaque = "".join(f"blackbox {name}; " for name in inside)
    cut = "".join(f"expose -evert {module}/t:{name}; " for name in inside)
    cut += f"opt_clean; rename {module} {{side}};"
    if has_registers:
        cut += " simplemap t:$dff; splitnets -ports {side}; opt_clean;"
    sides = {
        side: _READ.format(module=module, opaque=opaque, side=side, cut=cut.format(side=side)) for side in ("gold", "gate")
    }
    cells = "" if library is None else f"read_liberty -ignore_miss_func {library.name}; "
    return "; ".join([
        f"{sides['gold']}; design -stash gold", f"{cells}read_verilog netlist.v; {sides['gate']}; design -stash gate",
        _COMPARE.format(cut=_REGISTERS if has_registers else ""),
    ])  # fmt: skip


def _files(library: Library | None) -> dict[str, str]:
    return {} if library is None else {library.name: library.text}
