"""The work function: computes one part of a unit in a worker: its accuracy, cost, co-simulation or proof."""

import json
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import golden
import mmau.explore.accuracy
from cosim.build.errors import SimulationError
from cosim.runner.run import run
from golden import Unit
from golden.files import temporary_folder, write_atomically
from golden.stimulus import Operands, OperandShape
from golden.units.unit_file import unit_from_table
from mmau.explore.accuracy import check_workload, workload_name
from mmau.explore.accuracy.dataset import data_set
from mmau.explore.tasks import cells_wanted, cost_tools
from mmau.prove import prove
from mmau.prove.deadline import Failed
from mmau.prove.decision import PROVED, REFUTED
from rtl.cost import cost_columns as cost
from rtl.cost.cost_request import CostError
from rtl.cost.meet_clock import MetClock, meet_clock
from rtl.designs.unit_design import as_design
from rtl.verilog.emit import to_verilog


def work(content: dict[str, Any], folder: Path) -> Any:
    """The result of a part: what `mmau.explore.accuracy`, `rtl.cost` or `mmau.explore.work` say, plain JSON."""
    golden.set_threads(1)  # a worker has one core
    unit = unit_of(content["unit"])
    match content["part"]:
        case "accuracy":
            wanted = (content["workload"], content["rows"], content["seed"], content["references"])
            return mmau.explore.accuracy.measure(unit, *wanted, instruction=content.get("instruction"))
        case "cost":
            check_tools(content["tools"], cells_wanted(content["wanted"], unit))
            return cost_of(unit, content["wanted"], folder)
        case "cosimulation":
            return co_simulate(placed(unit, content), content["vectors"], content["seed"], folder)
        case "verilog":
            (folder / VERILOG).write_text(to_verilog(placed(unit, content), TOP), encoding="utf-8")
            return None
        case "proof":
            return prove_unit(placed(unit, content), content["seconds"])
        case part:
            raise ValueError(f"no such part of a point: {part!r}")


def check_tools(asked: dict[str, str], cells: str) -> None:
    """Raise ValueError where this machine's tools differ from those of the requesting machine, which key the result."""
    here = cost_tools(cells)
    others = [name for name in asked if here.get(name) != asked[name]]
    if others:
        differing = "; ".join(f"{name}: {here.get(name)} here, {asked[name]} there" for name in others)
        raise ValueError(f"tools must be those of the requesting machine: {differing}; install the same on every machine")


def cost_of(unit: Unit, wanted: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The cost; logs are named by their files alone, for the folder of a task is moved into the store."""
    cells, clock = cells_wanted(wanted, unit), unit.implementation.clock_ns
    wanted = {**wanted, "library": cells, **({} if clock is None else {"clock_ns": clock})}
    try:
        met = None if clock is None else meet_clock(unit, cells=cells)
        operands, activity = None, wanted.pop("activity", None)
        if isinstance(activity, Mapping):
            operands = rows_of_power(unit, activity)
        elif activity is not None:
            wanted["activity"] = activity
        found = cost.measure(unit if met is None else with_stages(unit, met), wanted, folder, operands)
        if operands is not None:
            found["wanted"]["activity"] = rows_text(activity)
        if met is not None:
            found |= {"stages_for_clock": met.unit.implementation.stages}
            found["missing"].pop("stages_for_clock", None)
    except CostError as error:
        raise CostError(str(error).replace(f"{folder}/", "")) from error
    return found | {"missing": {column: why.replace(f"{folder}/", "") for column, why in found["missing"].items()}}


def rows_text(activity: Mapping[str, Any]) -> str:
    """The rows of `rows_of_power` in words."""
    held, zeros = activity["hold_b"], activity["zeros"]
    words = [f"{activity['rows']:,} rows of {workload_name(activity['workload'])}"]
    words += [f"b held for {held} rows"] * (held > 1) + [f"{100 * zeros:g} % of a is zero"] * (zeros > 0)
    return ", ".join(words)


def rows_of_power(unit: Unit, activity: Mapping[str, Any]) -> Operands:
    """The rows that a unit's circuit computes while its power is measured; of several modes in the first.

    Args:
        activity: as `mmau.explore.space_file.rows_of_cost` gives it.
    """
    shape, rows = OperandShape.of(unit.choices[0].unit.step), int(activity["rows"])
    operands = data_set(check_workload(activity["workload"]), shape, rows, seed=0).operands
    held = np.arange(rows) // int(activity["hold_b"])
    scale_b = None if operands.scale_b is None else operands.scale_b[held]
    gone = np.random.default_rng(0).random(operands.a.shape) < activity["zeros"]
    return operands._replace(a=np.where(gone, operands.a.dtype.type(0), operands.a), b=operands.b[held], scale_b=scale_b)


def placed(unit: Unit, content: dict[str, Any]) -> Unit:
    """The unit with the stages that meet its clock; one without that key as it is.

    Raises:
        As `rtl.meet_clock`, and as `check_tools`.
    """
    if unit.implementation.clock_ns is None:
        return unit
    check_tools(content["tools"], content["cells"])
    return with_stages(unit, meet_clock(unit, cells=content["cells"]))


def with_stages(unit: Unit, met: MetClock) -> Unit:
    """The unit, of datapaths as they meet their clock."""
    return replace(unit, implementation=met.unit.implementation)


def unit_of(text: str) -> Unit:
    """The unit of a TOML text."""
    return unit_from_table(tomllib.loads(text))


VERILOG, TOP = "unit.v", "unit"
"""The file that a task writes, and its top module."""

REPORT = "report.json"
"""The file with the report of a co-simulation that does not pass."""


def co_simulate(unit: Unit, vectors: int, seed: int, folder: Path) -> dict[str, Any]:
    """Write the unit's Verilog into a folder, and co-simulate that Verilog.

    Returns:
        Vectors sent, results received and mismatches, and the digest of the Verilog.

    Raises:
        SimulationError: the run fails for another reason than results that differ.
    """
    with temporary_folder("mmau-explore-") as build:
        mode = "volume" if unit.sums is None else "cocotb"
        report = run(unit, vectors=vectors, seed=seed, mode=mode, work_dir=Path(build))
        shutil.copyfile(Path(build) / VERILOG, folder / VERILOG)
    if not report.passed:
        write_atomically(folder / REPORT, json.dumps(report.as_dict(), indent=1).encode() + b"\n")
        if not report.mismatches:
            raise SimulationError("; ".join(report.failures))
    return {
        "vectors": report.vectors,
        "sent": report.sent,
        "received": report.received,
        "mismatches": report.mismatches,
        "seed": seed,
        "verilog": report.verilog,
        "checked_by_reference": report.checked,
        "first_mismatch": report.first_mismatch,
    }


def renamed(verilog: str, name: str) -> str:
    """The Verilog of a unit called `unit` under another name, which only appears in comments: the circuit stays the same
    text."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    first, *lines = verilog.split("\n")
    first = first.replace(" unit, generated by ", f" {name}, generated by ", 1)
    return "\n".join([first, *(f'//   name = "{quoted}"' if line == '//   name = "unit"' else line for line in lines)])


def prove_unit(unit: Unit, seconds: float) -> dict[str, Any]:
    """Prove a unit, its Verilog written anew.

    Returns:
        `proved`: True; False where a simulation shows a counter-example; None where it is not decided.
        `reason`: why not. `obligations`: how many there are; `open`: those that are not proved. `verilog`: its digest.

    Raises:
        Failed: the process of the proof ended by itself; another run may succeed.
    """
    found = prove(as_design(unit), seconds)
    if found.crashed:
        raise Failed(found.reason)
    reason = f"not decided: {found.reason}"
    if found.verdict == PROVED:
        reason = ""
    elif found.counterexample is not None:
        reason = f"refuted: {found.counterexample.summary}"
    return {
        "proved": {PROVED: True, REFUTED: False}.get(found.verdict),
        "reason": reason,
        "obligations": len(found.obligations),
        "open": found.not_proved,
        "verilog": found.verilog,
    }
