"""How much the mapping of a circuit varies: `python -m studies.mapping_spread LIBRARY …` maps Verilog texts of the same
circuit, with other names of wires and assignments in another order, and prints the standard deviations of its costs."""

import random
import re
import statistics
import sys

from golden.units.unit_file import unit_from_table
from rtl.cost.cost_request import CostRequest
from rtl.cost.liberty import library
from rtl.cost.mapped_netlist import check_netlist
from rtl.cost.placer import timed_netlist
from rtl.cost.synthesis import TOP, map_whole
from rtl.designs.unit_design import as_design
from rtl.verilog.emit import to_verilog

TEXTS = 8
"""Texts of each unit, the one that `mmau rtl` writes among them."""

SHARED = {"c": "fp32", "rho": "RZ-FP32", "e_zero": -133}

UNITS = {
    "e4m3 L = 4, F = 13": {"operation": "T-FDPA", "a": "e4m3", "b": "e4m3", "L": 4, "F": 13},
    "e4m3 L = 8, F = 25": {"operation": "T-FDPA", "a": "e4m3", "b": "e4m3", "L": 8, "F": 25},
    "NVFP4 L = 16, F = 13": {
        "operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "L": 16, "F": 13, "G": 16, "K_block": 16, "scale": "ue4m3",
    },
    "fp16 L = 4, F = 24": {"operation": "T-FDPA", "a": "fp16", "b": "fp16", "L": 4, "F": 24},
}  # fmt: skip
"""The units, of different formats and sizes."""

_DECLARED = re.compile(r"^  (wire|reg|input|output)(?: signed)?(?: \[[^\]]*\])? (\w+)(?: = .*)?;", re.MULTILINE)
_NAME = re.compile(r"(?<![\w.\\'])([A-Za-z_]\w*)\b")
_ASSIGNMENT = re.compile(r"  assign .*;")


def rewritten(text: str, seed: int) -> str:
    """The text with other names of the wires inside of modules, and their assignments in another order."""
    draws = random.Random(seed)
    head, *modules = text.split("\nmodule ")
    found = [head]
    for module in modules:
        declared = _DECLARED.findall(module)
        ports = {name for kind, name in declared if kind in ("input", "output")}
        inner = sorted({name for _, name in declared} - ports)
        names = {name: f"{draws.choice('abcdefghij')}{draws.randrange(10**6)}_{name}" for name in inner}
        lines = _NAME.sub(lambda match, names=names: names.get(match[1], match[1]), module).split("\n")  # type: ignore[misc]
        places = [place for place, line in enumerate(lines) if _ASSIGNMENT.fullmatch(line)]
        shuffled = draws.sample(places, len(places))
        moved = {place: lines[other] for place, other in zip(places, shuffled, strict=True)}
        found.append("\n".join(moved.get(place, line) for place, line in enumerate(lines)))
    return "\nmodule ".join(found)


def spread(name: str, cells: str, texts: int = TEXTS) -> list[float]:
    """Standard deviations of area, delay and energy over the texts of a unit, as shares of the mean. Each netlist computes
    vectors as the golden model does."""
    unit, read = unit_from_table({"name": name, **SHARED, **UNITS[name]}), library(cells)
    text, found = to_verilog(unit, TOP), []
    for seed in range(texts):
        mapped = map_whole(rewritten(text, seed) if seed else text, read)
        check_netlist(mapped.netlist, read, unit, as_design(unit).latency, 200)
        timed = timed_netlist(mapped, unit, read, CostRequest(library=cells))
        found.append((mapped.area, timed.delay, timed.power))
    return [statistics.stdev(values) / statistics.mean(values) for values in zip(*found, strict=True)]


if __name__ == "__main__":
    for cells in sys.argv[1:]:
        for name in UNITS:
            shares = " | ".join(f"{100 * share:.1f}" for share in spread(name, cells))
            print(f"| {cells} | {name} | {shares} |", flush=True)
