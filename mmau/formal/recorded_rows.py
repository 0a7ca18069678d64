"""The rows of the committed outcomes, checked: a malformed file has none."""

from collections.abc import Mapping, Sequence
from typing import Any

from mmau.formal.design_evidence import Proved

TEXTS = {"verilog": "other Verilog", "specification": "another specification", "questions": "other questions"}
"""Digests that must be equal for a row to be valid, and the text that reports a difference."""

Row = Mapping[str, Any]


def proof_rows(outcome: Mapping[str, Any]) -> list[Row]:
    """The targets, each with its date, the versions that made its texts, and the digest of the code that asked the solvers.

    A row without a date has the file's; `make formal-missing` writes one into each row that it adds.

    Raises:
        KeyError, TypeError, AttributeError: the content is malformed.
    """
    recorded = {str(name): str(value) for name, value in outcome["made_of"].items()}
    of_file = {"date": str(outcome["date"]), "made_of": recorded, "asked_by": str(outcome["asked_by"])}
    rows: list[Row] = [{**row, **of_file, "date": row.get("date", of_file["date"])} for row in outcome["subjects"]]
    for row in rows:
        _check_texts(row, (*TEXTS, "name", "kind", "design", "arithmetic", "verdict", "built", "problem", "date"))
        for key in ("assumed", "solvers"):
            _check_texts({key: [*row[key]]}, (key,))
        if row["verdict"] == "proved" and not row["solvers"]:
            raise TypeError("a proof must name its solvers, got none")
        _check_texts({"step": list(row["steps"])}, ("step",))
        proof_of(row)
    return rows


def proof_of(row: Row) -> Proved | None:
    """The proof of a target; None unless there are obligations, and every one of them is proved."""
    steps = {str(step): (_count(proved), _count(total)) for step, (proved, total) in row["steps"].items()}
    is_whole = all(0 < proved == total for proved, total in steps.values()) and bool(steps)
    counted = sum(total for _, total in steps.values()) == _count(row["obligations"])
    if row["verdict"] != "proved" or row["problem"] or row["not_proved"] or not (is_whole and counted):
        return None
    counts = {step: total for step, (_, total) in steps.items()}
    return Proved(counts, tuple(map(str, row["assumed"])), tuple(map(str, row["solvers"])), row["date"])


def simulation_rows(outcome: Mapping[str, Any]) -> list[Row]:
    """The runs that name their Verilog, each with its date and the versions that made its texts.

    Raises:
        KeyError, TypeError, AttributeError: the content is malformed.
    """
    rows: list[Row] = []
    for run in outcome["runs"]:
        of_operation = outcome["operations"][run["operation"]]
        recorded = {str(name): str(value) for name, value in of_operation["made_of"].items()}
        row = {**run, "date": str(of_operation["date"])[:10], "vectors": _count(run["vectors"]), "made_of": recorded}
        _check_texts(row, ("design", "verilog", "specification", "date"))
        if not isinstance(row["passed"], bool):
            raise TypeError(f"a run must say whether it passed, got {row['passed']!r}")
        if row["passed"] and (_count(row["mismatches"]) or not row["vectors"]):
            raise TypeError("a run that passed must have vectors and no mismatch")
        rows += [row] if row["verilog"] and row["specification"] else []
    return rows


def _count(value: object) -> int:
    """A number of obligations or vectors."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"a number must be an integer of at least 0, got {value!r}")
    return value


def _check_texts(row: Row, keys: Sequence[str]) -> None:
    """Raise TypeError unless these are lines of text: they are written into comments of Verilog."""
    for key in keys:
        for text in row[key] if isinstance(row[key], list) else [row[key]]:
            if not isinstance(text, str) or not text.isprintable():
                raise TypeError(f"{key} must be a line of text, got {text!r}")
