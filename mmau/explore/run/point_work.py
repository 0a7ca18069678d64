"""The work function: computes one part of a unit in a worker, which caches data that parts share."""

import tomllib
from pathlib import Path
from typing import Any

import golden
import mmau.explore.accuracy
from golden import Unit
from golden.unit_file import unit_from_table
from mmau.explore.run.cosimulation import co_simulate
from mmau.explore.run.point_proof import prove_unit
from mmau.explore.run.point_tasks import cells_of, cost_tools
from rtl.cost import cost_columns as cost
from rtl.cost.cost_error import CostError
from rtl.cost.meet_clock import meet_clock


def work(content: dict[str, Any], folder: Path) -> Any:
    """The result of a part: what `mmau.explore.accuracy`, `rtl.cost` or `mmau.explore.run.cosimulation` say, plain JSON."""
    golden.set_threads(1)  # a worker has one core
    unit = unit_of(content["unit"])
    match content["part"]:
        case "accuracy":
            wanted = (content["workload"], content["rows"], content["seed"], content["references"])
            return mmau.explore.accuracy.measure(unit, *wanted, instruction=content.get("instruction"))
        case "cost":
            check_tools(content["tools"], cells_of(content["wanted"]))
            return cost_of(unit, content["wanted"], folder)
        case "cosimulation":
            return co_simulate(placed(unit, content), content["vectors"], content["seed"], folder)
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
    try:
        met = None if unit.implementation.clock_ns is None else meet_clock(unit, cells=cells_of(wanted))
        found = cost.measure(unit if met is None else met.unit, wanted, folder)
        if met is not None:
            found |= {"stages_for_clock": met.unit.implementation.stages}
            found["missing"].pop("stages_for_clock", None)
    except CostError as error:
        raise CostError(str(error).replace(f"{folder}/", "")) from error
    return found | {"missing": {column: why.replace(f"{folder}/", "") for column, why in found["missing"].items()}}


def placed(unit: Unit, content: dict[str, Any]) -> Unit:
    """The unit with the stages that meet its clock; one without that key as it is.

    Raises:
        As `rtl.meet_clock`, and as `check_tools`.
    """
    if unit.implementation.clock_ns is None:
        return unit
    check_tools(content["tools"], content["cells"])
    return meet_clock(unit, cells=content["cells"]).unit


def unit_of(text: str) -> Unit:
    """The unit of a TOML text."""
    return unit_from_table(tomllib.loads(text))
