"""Result records of points: their required keys, their values under flat names, their outcome of co-simulation and proof,
and which of them are on a Pareto front."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeGuard

Record = Mapping[str, Any]
"""The result of one point, plain JSON: name, kind, status, message, parameters, swept, unit, toml, verilog, accuracy, cost,
cosimulation, proof, seconds; axes, the swept values that tell it from other points; beyond, the limits of measures that it
does not keep; late, why it is slower than the wanted clock (both empty where it is not)."""

Cell = None | bool | int | float | str | list[Any]
"""One value of the table. A list stays one value: a histogram, or names."""

KINDS = ("point", "reference")
"""A point of the space, or an instruction of the catalogue beside it."""

STATUSES = ("done", "unfinished", "invalid", "failed", "timed out")

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
    """The values of a record, by flat names: names in inner tables are joined with a dot.

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
    """The verification that the record states: the number of vectors that agreed, and `proved` if there is a proof."""
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


def is_verified(record: Record) -> bool | None:
    """Whether a point's circuit agreed with its model on every vector, and was not refuted; None where none were sent."""
    return {"agrees": True, "differs": False, "not compared": None}[verdict(record).state]


def missing_columns(records: Sequence[Record]) -> dict[tuple[str, str], list[str]]:
    """Columns of the cost without a value, with the reason, and the names of the points that lack them."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, columns in reasons(records).items():
        for column, reason in columns.items():
            found.setdefault((column, reason), []).append(name)
    return found


NO_ARRAY = "the point has no array"


def reasons(records: Sequence[Record]) -> dict[str, dict[str, str]]:
    """Why columns of the cost have no value, by the points' names."""
    costs = {record["name"]: record.get("cost") or {} for record in records}
    of_arrays = dict.fromkeys(key for cost in costs.values() for key in cost if key.startswith("array_"))
    found = {}
    for name, cost in costs.items():
        lacking = dict.fromkeys((key for key in of_arrays if cost and key not in cost), NO_ARRAY)
        found[name] = {f"cost.{key}": str(why) for key, why in (lacking | (cost.get("missing") or {})).items()}
    return found


HISTOGRAM = ("ulp", "histogram")
"""Path in a workload's measures of the histogram of errors: [lower edge (ulp), count] of each bin."""

QUANTISES = ("a", "b", "scale", "K_block", "controls")
"""The keys of a unit that say how real numbers become operands, beside those of its own formats."""


def quantises(key: str) -> bool:
    """Whether a flat key of a unit says how real numbers become operands."""
    return key in QUANTISES or key.startswith("formats.")


def workloads(records: Sequence[Record]) -> list[str]:
    """Names of the workloads, in order of appearance."""
    return list(dict.fromkeys(name for record in records for name in record.get("accuracy") or {}))


def number_of(record: Record, key: str) -> float | None:
    """A value of the record by its flat name; None where it has none that is a number."""
    value = flattened(record).get(key)
    return value if is_number(value) else None


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number; a truth value is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def equal_work(records: Sequence[Record], column: str) -> str:
    """The column of a cost that measures equal work: that per product, where the records' steps take unequal numbers of
    products and it is known per product; else the column itself."""
    shared = f"{column}_per_product"
    is_known = any(shared.removeprefix("cost.") in (record.get("cost") or {}) for record in records)
    return shared if is_known and len(numbers_of_products(records)) > 1 else column


def numbers_of_products(records: Sequence[Record]) -> list[int]:
    """The numbers of products that a step of the records' units takes, where they were measured."""
    found = {value_at(record, "cost", "products") for record in records}
    return sorted(number for number in found if number is not None)


def is_candidate(record: Record) -> bool:
    """Whether a front may hold a record: a point that is right and keeps all limits of the space. Instructions of the
    catalogue stand beside fronts: they are no units that the space could have."""
    return record["kind"] == "point" and is_right(record) and not record.get("beyond")


def is_right(record: Record) -> bool:
    """Whether the point was evaluated, meets its clock, and no vector showed its circuit to differ from its model."""
    return record["status"] == "done" and not record.get("late") and verdict(record).state != "differs"


def histogram(record: Record, workload: str) -> list[list[float]]:
    """The distribution of the error of a workload; empty where the record has none."""
    found: Any = value_at(record, "accuracy", workload, *HISTOGRAM)
    return found or []


def components(record: Record) -> dict[str, float]:
    """Area of each component (µm²); empty where it was not measured."""
    return {name: area for name, area in (value_at(record, "cost", "area_by_component") or {}).items() if area is not None}


def front(pairs: Sequence[tuple[float | None, float | None]]) -> list[int]:
    """The numbers of the pairs that no pair dominates; smaller is better in both.

    A pair dominates another if it is nowhere larger and somewhere smaller. Equal pairs do not dominate each other: all or
    none of them are on the front. A pair with a missing value (None, NaN) is not on it and dominates nothing.
    Values are compared exactly, without a tolerance; infinities are values.

    >>> front([(1, 5), (2, 3), (2, 3), (2, 4), (3, 3), (None, 0)])
    [0, 1, 2]
    """
    known = sorted((x, y, number) for number, (x, y) in enumerate(pairs) if _is_value(x) and _is_value(y))
    found: list[int] = []
    best: float | None = None  # the smallest y of all smaller x
    for _, column in groupby(known, key=lambda entry: entry[0]):
        least, *others = column
        if best is None or least[1] < best:
            found += [number for _, y, number in (least, *others) if y == least[1]]
            best = least[1]
    return sorted(found)


def _is_value(value: float | None) -> TypeGuard[float]:
    return value is not None and not math.isnan(value)
