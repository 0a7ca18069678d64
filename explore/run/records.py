"""Result records: what came of a point, as results.jsonl, the tables and the report have it."""

from collections.abc import Mapping, Sequence
from typing import Any

from explore.run.parts import FORMAL, Part, wants_circuit, without_datapath
from explore.space.constraints import broken_by_measures, unchecked
from explore.space.points import Point
from explore.space.space import Space
from jobs import TIMED_OUT, Record

INVALID = "invalid"
"""The status of a point that is no unit, or beyond a limit of the space."""

NOT_ASKED = "not asked"
"""Why nothing is proved where table [proof] of the space has no `seconds`."""


def record_of(space: Space, point: Point, parts: Sequence[Part], outcomes: Mapping[str, Record]) -> dict[str, Any]:
    """The record of a point.

    Args:
        parts: all of its parts that were wanted. outcomes: what there is of their tasks, by key.
    """
    found = [(part, outcomes[part.task.key]) for part in parts if part.task.key in outcomes]
    measured = measures(found)
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


def measures(found: Sequence[tuple[Part, Record]]) -> dict[str, Any]:
    """`accuracy`, `cost` and `proof` of a record: null where nothing was measured, or it failed."""
    results: dict[str, Any] = {"accuracy": None, "cost": None, "proof": None}
    accuracy = {part.workload: record.result for part, record in found if part.kind == "accuracy" and record.done}
    if accuracy:
        results["accuracy"] = accuracy
    results |= {part.kind: record.result for part, record in found if part.kind in ("cost", "proof") and record.done}
    if results["proof"] is not None:
        results["proof"] = joined(results["proof"], next((record for part, record in found if part.kind == FORMAL), None))
    return results


def joined(simulated: Mapping[str, Any], proof: Record | None) -> dict[str, Any]:
    """`proof` of a record: what co-simulation says, and the proof of the same Verilog.

    Args:
        simulated: as `explore.run.proof.co_simulate`.
        proof: the outcome of `explore.run.proving.prove`; None where none was asked.
    """
    counts = {key: value for key, value in simulated.items() if key != "verilog"}
    if proof is None:
        return counts | {"proved": None, "proved_note": NOT_ASKED}
    if not proof.done:
        return counts | {"proved": None, "proved_note": f"not decided: {proof.status}: {proof.message}"}
    found = {key: value for key, value in proof.result.items() if key != "verilog"}
    if found["proved"] is not None and proof.result["verilog"] != simulated["verilog"]:
        return counts | {"proved": None, "proved_note": "not decided: other Verilog was proved than was simulated"}
    return counts | found


def has_verilog(found: Sequence[tuple[Part, Record]]) -> bool:
    """Whether the task that writes it is done."""
    return any(part.kind == "proof" and record.done for part, record in found)


def _status(
    space: Space, point: Point, found: Sequence[tuple[Part, Record]], measured: Mapping[str, Any]
) -> tuple[str, str]:
    if not point.is_valid:
        return INVALID, point.message
    bad = [(part, record) for part, record in found if not record.done and part.kind != FORMAL]  # a proof stays open
    if bad:
        status = TIMED_OUT if any(record.status == TIMED_OUT for _, record in bad) else "failed"
        return status, "; ".join(_told(part, record) for part, record in bad)
    if point.kind == "reference":
        return "done", _notes(space, point)
    broken = broken_by_measures(space.constraints, measured)
    return (INVALID, broken) if broken else ("done", _notes(space, point, unchecked(space.constraints, measured)))


def _notes(space: Space, point: Point, note: str = "") -> str:
    """What there is to say of a point that is done."""
    circuit = without_datapath(point.unit) if point.unit is not None and wants_circuit(space) else ""
    return "; ".join(filter(None, (note, circuit)))


def _told(part: Part, record: Record) -> str:
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
    proof = record["proof"]
    if proof is None or not proof["vectors"]:
        return None
    if proof.get("proved") is False:
        return False
    return bool(proof["mismatches"] == 0 and proof["received"] == proof["sent"] == proof["vectors"])
