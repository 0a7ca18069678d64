"""`make formal-netlist`: that the synthesised netlists of the main job's units equal the generated Verilog:
`python -m studies.proofs.netlists PAGE.md STORE [--unit TEXT] [--seconds N] [--jobs N]`.

Each unit is mapped twice to the cells of osu018, to NAND, NOR and NOT gates where that library is not installed: every
module by itself, which is compared module by module, and all as one circuit, which is compared as a whole. It resumes: a
unit that is finished stays in STORE.
Exit status: 0 if every module is proved, 1 if one is refuted, 3 if one is open. As one circuit a unit may stay open.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from golden.files import check_output, write_atomically
from mmau import DIFFERED, OK, UNDECIDED
from mmau.jobs import Store, Task, program, run
from mmau.jobs.provenance import digest_of_sources
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.report import markdown
from rtl.cost.flow import CELLS, GATES, run_mapper, tool_version
from rtl.cost.liberty import Library, library
from rtl.designs.identity import design_from_table
from rtl.tools import MissingTool
from rtl.verilog.emit import to_verilog
from rtl.yosys import YosysError
from studies.proofs.outcome import NOT_BEGUN
from studies.proofs.proved_designs import Target, add_limits, add_options, built, main_job_targets

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


SECONDS = 300.0
"""Limit of Yosys for one comparison (elapsed s)."""

SOURCES = ("golden/**/*.py", "golden/**/*.toml", "rtl/**/*.py", "mmau/prove/netlist/*.py", "studies/proofs/netlists.py")
"""The sources that decide a verdict, besides the tools."""

WAYS = ("apart", "flat")
"""How a unit is synthesised: every module by itself, or all as one circuit."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the units that are not in the store yet, and write the page."""
    parser = argparse.ArgumentParser(prog="formal-netlist", description="Compare synthesised netlists with the Verilog.")
    parser.add_argument("page", type=Path, help="file for the page (Markdown)")
    parser.add_argument("store", type=Path, help="folder of the finished units")
    add_options(parser, "units", main_job=False)
    add_limits(parser, SECONDS, "of a comparison", "netlist")
    options = parser.parse_args(arguments)
    options.page.parent.mkdir(parents=True, exist_ok=True)
    check_output(options.page)
    targets = [target for target in main_job_targets() if options.unit in target.design.name]
    found = compare_all(targets, options.store, options.seconds, options.jobs, options.within)
    write_atomically(options.page, page(found).encode())
    verdicts = {verdict for row in found if row["way"] == "apart" for _, verdict, _ in row["modules"]}
    for row in found:
        print(f"{row['name']}, {row['built']}, {row['way']}: {_counted(row['modules'], PROVED)} of {len(row['modules'])}")
    return DIFFERED if REFUTED in verdicts else OK if verdicts == {PROVED} else UNDECIDED


def compare_all(
    targets: Sequence[Target], folder: Path, seconds: float, jobs: int | None = None, within: float | None = None
) -> list[dict[str, Any]]:
    """The modules of every unit, mapped in both ways, with verdict and reason for each module."""
    cells = cell_library()
    depends = {
        "sources": digest_of_sources(SOURCES), "tool": tool_version(), "cells": "gates" if cells is None else cells.name
    }  # fmt: skip
    tasks = {
        (number, way): Task(
            f"{target.design.name} {way}", {"design": target.design.as_table(), "way": way, "seconds": seconds}, depends
        )
        for way in WAYS
        for number, target in enumerate(targets)
    }
    folder.mkdir(parents=True, exist_ok=True)
    with Store(folder, what="comparisons of netlists") as store:
        records = run(tasks.values(), compare, store, workers=jobs, unit="netlists", retry=True, start_within=within)
    by_key = {record.task.key: record for record in records}
    rows = []
    for (number, way), task in tasks.items():
        record, design = by_key.get(task.key), targets[number].design
        why = NOT_BEGUN if record is None else record.message
        found = record.result if record and record.done else {"modules": [(TOP, OPEN, why)], "cpu": 0.0}
        row = {"name": design.name, "operation": design.operation.name, "built": built(design.implementation), "way": way}
        rows.append(row | found)
    return rows


def compare(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Work: the verdicts on one unit's netlist, and the CPU seconds that this and Yosys took."""
    started, cells = sum(_times()), cell_library()
    verilog = to_verilog(design_from_table(content["design"]), TOP)
    is_flat = content["way"] == "flat"
    try:
        netlist = synthesise(verilog, cells, content["seconds"], is_flat)
    except YosysError as error:
        return {"modules": [(TOP, OPEN, str(error))], "cpu": round(sum(_times()) - started, 1)}
    found = []
    for module in (None,) if is_flat else read_netlist(verilog):
        answer = asdict(compared(verilog, netlist, cells, content["seconds"], module))
        found.append((module or TOP, answer["verdict"], answer["reason"]))
    return {"modules": found, "cpu": round(sum(_times()) - started, 1)}


def cell_library() -> Library | None:
    """The library whose cells are used; None if it is not installed."""
    try:
        return library("osu018")
    except MissingTool:
        return None


def _times() -> tuple[float, float]:
    """User and system seconds of the child processes that have ended."""
    spent = os.times()
    return spent.children_user, spent.children_system


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The text of the page, in Markdown."""
    units: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        units.setdefault((row["name"], row["built"]), {})[row["way"]] = row
    modules = [verdict for row in rows if row["way"] == "apart" for _, verdict, _ in row["modules"]]
    whole = [row["modules"][0][1] for row in rows if row["way"] == "flat"]
    cells = "NAND, NOR and NOT gates" if cell_library() is None else "cells of osu018"
    header = ("unit", "built", "modules equal", "as one circuit", "CPU s", "not proved")
    return markdown.document(
        "Synthesised netlists",
        f"""\
`make formal-netlist` writes this page. \
The Verilog of the main job's units is mapped to {cells} by {tool_version()}, and the netlist is
compared with the Verilog by its passes; [formal.md](../guides/formal.md#synthesised-netlists) says what is claimed and
trusted.""",
        f"""\
Of {len(modules)} modules, each mapped by itself, {modules.count(PROVED)} equal the Verilog, {modules.count(REFUTED)} differ,
{modules.count(OPEN)} are open. Of {len(whole)} units mapped as one circuit {whole.count(PROVED)} are proved equal as a
whole, {whole.count(REFUTED)} differ, {whole.count(OPEN)} are open.""",
        markdown.table(header, [_unit_row(*named, ways) for named, ways in units.items()], numbers=(4,)),
    )


def _unit_row(name: str, how: str, ways: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    apart, flat = ways["apart"]["modules"], ways["flat"]["modules"]
    missing = [f"{module}: {reason}" for module, verdict, reason in apart if verdict != PROVED]
    missing += [f"as one circuit: {reason}" for _, verdict, reason in flat if verdict != PROVED]
    cpu = ways["apart"]["cpu"] + ways["flat"]["cpu"]
    counted = f"{_counted(apart, PROVED)} of {len(apart)}"
    return name, how, counted, flat[0][1], f"{cpu:.0f}", "; ".join(missing)


def _counted(modules: Sequence[Sequence[str]], verdict: str) -> int:
    return sum(each == verdict for _, each, _ in modules)


if __name__ == "__main__":
    sys.exit(program("formal-netlist", main, (MissingTool,)))
