"""Result records: their required keys, their values under flat names, and their outcome of co-simulation and proof."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Record = Mapping[str, Any]
"""The result of one point, plain JSON: name, kind, status, message, parameters, swept, unit, toml, verilog, accuracy, cost,
cosimulation, proof, seconds."""

Cell = None | bool | int | float | str | list[Any]
"""One value of the table. A list stays one value: a histogram, or names."""

KINDS = ("point", "reference")
"""A point of the space, or an instruction of the catalogue beside it."""

STATUSES = ("done", "invalid", "failed", "timed out")

REQUIRED = {"name": str, "kind": str, "status": str, "parameters": dict}


def check_records(records: Sequence[Record]) -> None:
    """Check that every record has the required keys.

    Raises:
        ValueError: no record at all, a key missing or of another type, an unknown kind or status, a
            `proved` that is neither true, false nor null, or two flat names alike.
    """
    if not records:
        raise ValueError("a report needs at least one result record, got none")
    for number, record in enumerate(records):
        for key, kind in REQUIRED.items():
            if not isinstance(record.get(key), kind):
                required = "table" if kind is dict else "string"
                raise ValueError(f"record {number} must have the {required} {key}, got {record.get(key)!r}")
        for key, allowed in (("kind", KINDS), ("status", STATUSES)):
            if record[key] not in allowed:
                raise ValueError(f"record {number}: {key} must be one of {', '.join(allowed)}, got {record[key]!r}")
        proved = value_at(record, "proof", "proved")
        if proved is not None and not isinstance(proved, bool):
            raise ValueError(f"record {number}: proof.proved must be true, false or null, got {proved!r}")
        flattened(record)


def flattened(record: Record) -> dict[str, Cell]:
    """The record's values under their names, those of inner tables joined with a dot.

    >>> flattened({"name": "one", "cost": {"area_um2": 3.5, "fpga": {"ecp5": {"luts": 7}}}})
    {'name': 'one', 'cost.area_um2': 3.5, 'cost.fpga.ecp5.luts': 7}

    Raises:
        ValueError: two values have the same name.
    """
    found: dict[str, Cell] = {}
    for name, value in _leaves(record, ""):
        if name in found:
            raise ValueError(f"the values of a record must have distinct names, got {name} twice")
        found[name] = value
    return found


def _leaves(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Cell]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def value_at(record: Record, *path: str) -> Any:
    """The value of the record under these nested keys; None if there is none."""
    inner: Any = record
    for key in path:
        if not isinstance(inner, Mapping):
            return None
        inner = inner.get(key)
    return inner


class Verdict(NamedTuple):
    """The outcome of co-simulation and proof of one point.

    Attributes:
        text: for the report. state: whether its circuit agreed with its model, did not, or was never compared.
    """

    text: str
    state: Literal["agrees", "differs", "not compared"]


def verdict(record: Record) -> Verdict:
    """The verification that the record states: the number of vectors that agreed, and `proved` if a proof stands."""
    counts, proof = record.get("cosimulation") or {}, record.get("proof") or {}
    vectors, mismatches = counts.get("vectors"), counts.get("mismatches")
    sent, received = counts.get("sent", vectors), counts.get("received", vectors)
    proved = _proved(proof)
    if not vectors or not received or mismatches is None:
        text = "not co-simulated"
        if vectors and not received:
            text = f"co-simulation gave no result for {vectors:,} vectors"
        state: Literal["agrees", "differs", "not compared"] = "differs" if vectors and not received else "not compared"
        return Verdict(text + proved, state)
    if proof.get("proved") is False:
        return Verdict(f"{received:,} vectors, {mismatches:,} mismatches{proved or '; refuted'}", "differs")
    if mismatches:
        return Verdict(f"{mismatches:,} mismatches in {received:,} results{proved}", "differs")
    if not received == sent == vectors:
        return Verdict(f"{sent:,} of {vectors:,} vectors sent, {received:,} results received{proved}", "differs")
    return Verdict(f"{received:,} vectors, no mismatch{proved}", "agrees")


def _proved(proof: Mapping[str, Any]) -> str:
    """The text after the vectors: proved, or the reason why not."""
    if proof.get("proved") is True:
        return "; proved"
    reason = proof.get("reason")
    return f"; proof: {reason}" if reason else ""


def missing_columns(records: Sequence[Record]) -> dict[tuple[str, str], list[str]]:
    """Columns of the cost without a value, with the reason, and the names of the points that lack them."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in records:
        for column, reason in (value_at(record, "cost", "missing") or {}).items():
            found.setdefault((f"cost.{column}", str(reason)), []).append(record["name"])
    return found
