"""Result records of points, for results.jsonl, the tables and the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden import Unit
from mmau.explore.run.point_tasks import Part, wants_circuit, without_datapath
from mmau.explore.space.constraints import broken_by_measures, unchecked
from mmau.explore.space.space import Space
from mmau.explore.space.space_points import Point
from mmau.jobs import TIMED_OUT, Record

SHARED = ("cells", "area_um2", "energy_pj")
"""The costs that are also stated per product: of units with unequal L they measure equal work, as a step of one is not."""

INVALID = "invalid"
"""The status of a point that is no unit, or beyond a limit of the space."""


def record_of(space: Space, point: Point, parts: Sequence[Part], outcomes: Mapping[str, Record]) -> dict[str, Any]:
    """The record of a point.

    Args:
        parts: its requested parts. outcomes: the records of their tasks that have ended, by key.
    """
    found = [(part, outcomes[part.task.key]) for part in parts if part.task.key in outcomes]
    measured = measures(found, point.unit)
    status, message = _status(space, point, found, measured)
    return {
        "name": point.name,
        "kind": point.kind,
        "status": status,
        "message": message,
        "parameters": dict(point.parameters),
        "swept": [axis.key for axis in space.axes],
        "unit": f"units/{point.file_name}.toml" if point.is_valid else None,
        "toml": point.toml,
        "verilog": f"verilog/{point.file_name}.v" if has_verilog(found) else None,
        **measured,
        "seconds": _seconds(found),
    }


def measures(found: Sequence[tuple[Part, Record]], unit: Unit | None) -> dict[str, Any]:
    """`accuracy`, `cost`, `cosimulation` and `proof` of a record: null where nothing was asked or measured, or it failed.

    Args:
        unit: of the point; a point that was measured has one.
    """
    results: dict[str, Any] = {"accuracy": None, "cost": None, "cosimulation": None, "proof": None}
    accuracy = {part.workload: record.result for part, record in found if part.kind == "accuracy" and record.done}
    if accuracy:
        results["accuracy"] = accuracy
    results |= {part.kind: record.result for part, record in found if part.kind in ("cost", "cosimulation") and record.done}
    if results["cost"] is not None and unit is not None:
        results["cost"] = with_costs_per_product(results["cost"], unit.step.operation.length)
    simulated = results["cosimulation"]
    if simulated is not None:
        results["cosimulation"] = {key: value for key, value in simulated.items() if key != "verilog"}
        results["proof"] = proof_of(simulated, next((record for part, record in found if part.kind == "proof"), None))
    return results


def with_costs_per_product(cost: Mapping[str, Any], products: int) -> dict[str, Any]:
    """The costs of one step, with the products that it takes, and what is shared among these divided by their number."""
    shared = {key: cost[key] for key in SHARED if key in cost}
    divided = {f"{key}_per_product": None if value is None else value / products for key, value in shared.items()}
    return {**cost, "products": products, **divided}


def proof_of(simulated: Mapping[str, Any], proof: Record | None) -> dict[str, Any] | None:
    """`proof` of a record: what is proved of the Verilog that was co-simulated; None where no proof was asked.

    Args:
        simulated: as `mmau.explore.run.cosimulation.co_simulate`.
        proof: the outcome of `mmau.explore.run.point_proof.prove_unit`.
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
    return any(part.kind == "cosimulation" and record.done for part, record in found)


def _status(
    space: Space, point: Point, found: Sequence[tuple[Part, Record]], measured: Mapping[str, Any]
) -> tuple[str, str]:
    if not point.is_valid:
        return INVALID, point.message
    bad = [(part, record) for part, record in found if not record.done and part.kind != "proof"]  # a proof stays open
    if bad:
        status = TIMED_OUT if any(record.status == TIMED_OUT for _, record in bad) else "failed"
        return status, "; ".join(_failure(part, record) for part, record in bad)
    if point.kind == "reference":
        return "done", _notes(space, point)
    broken = broken_by_measures(space.constraints, measured)
    return (INVALID, broken) if broken else ("done", _notes(space, point, unchecked(space.constraints, measured)))


def _notes(space: Space, point: Point, note: str = "") -> str:
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


def is_verified(record: Mapping[str, Any]) -> bool | None:
    """Whether a point's circuit agreed with its model on every vector, and was not refuted; None where none were sent."""
    counts, proof = record["cosimulation"], record["proof"]
    if counts is None or not counts["vectors"]:
        return None
    if proof is not None and proof["proved"] is False:
        return False
    return bool(counts["mismatches"] == 0 and counts["received"] == counts["sent"] == counts["vectors"])
