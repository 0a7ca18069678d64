"""The findings of a probe, as text and for JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arithmetic.formats import Format
from golden.operations.base import EXPONENT_LIMIT
from golden.stimulus import Operands, OperandShape
from golden.text import value_as_text
from mmau.probe.candidates import LONG_RANGED, alike_by_rule, apart, bisected
from mmau.probe.find_tree import as_dict as order_as_dict
from mmau.probe.find_tree import text_of as order_text
from mmau.probe.known_properties import lines_of
from mmau.probe.loop import Finding
from mmau.probe.model import CHAINED, PAIRED, Model, default_of, lowest_exponent, toml_of, values_of
from mmau.probe.model_tree import drawn, tree_of


@dataclass(frozen=True)
class OpenKey:
    """A key with several values that give the same results, and the reason."""

    key: str
    values: str
    why: str


def open_keys(finding: Finding, rows: Operands) -> list[OpenKey]:
    """The keys whose value neither the questions asked nor any of `rows` can decide."""
    model = finding.model
    if model is None:
        return []
    alike: dict[str, set[Any]] = {}
    together = 0
    for candidate in finding.candidates:
        if len(candidate.keys) == 1:
            key, value = candidate.keys[0]
            alike.setdefault(key, set()).add(value)
        else:
            together += 1
    if "e_zero" in model.keys and model.keys["e_zero"] <= lowest_exponent(model.family, model.shape):
        alike.setdefault("e_zero", set())
    found = [_open(model, key, values, rows, finding.looked) for key, values in alike.items()]
    found += [OpenKey(each.key, each.shown, each.why) for each in alike_by_rule(model)]
    if together:
        found.append(OpenKey("several keys", f"{together} combinations", f"changed together: {_looked(finding.looked)}"))
    return found


def _open(model: Model, key: str, values: set[Any], rows: Operands, looked: int) -> OpenKey:
    if key not in LONG_RANGED:
        return OpenKey(key, ", ".join(value_as_text(value) for value in sorted(values, key=str)), _looked(looked))
    value = model.keys[key]
    low, high = (_extent(model, key, values | {value}, sign, rows) for sign in (-1, 1))
    possible = values_of(key, model.family, model.shape)
    why = _looked(looked)
    if key == "e_zero":
        lowest = lowest_exponent(model.family, model.shape)
        if low <= lowest:
            low, why = -EXPONENT_LIMIT, f"no term except a zero has an exponent below {lowest}; above, {why}"
        if high >= possible[-1]:
            high = EXPONENT_LIMIT
    if key != "e_zero" and high == possible[-1]:
        why = f"more bits than the terms span; {why}"
    return OpenKey(key, f"{low} … {high}", why)


def _extent(model: Model, key: str, alike: set[Any], sign: int, rows: Operands) -> int:
    """The farthest value in one direction that still gives the model's results, by bisection on `rows`."""
    possible = values_of(key, model.family, model.shape)
    d = model.run(rows)

    def same(value: int) -> bool:
        candidate = model.changed(**{key: value})
        return candidate.is_valid() and not len(apart(model, d, candidate, rows))

    good = max(alike, key=lambda value: sign * value)
    end = possible[-1] if sign > 0 else possible[0]
    if same(end):
        return int(end)
    return bisected(int(good), int(end), same)


def _looked(vectors: int) -> str:
    return f"no difference in {vectors} vectors chosen to show one"


def text_of(finding: Finding, opened: list[OpenKey]) -> str:
    """The report as text."""
    return "\n".join(_lines(finding, opened)) + "\n"


def _lines(finding: Finding, opened: list[OpenKey]) -> Iterator[str]:
    shape, model = finding.shape, finding.model
    scales = "" if shape.scale is None else f", {shape.scale} scales, one for {shape.block_size} elements"
    yield f"device      {finding.dut}"
    yield f"operands    {shape.a} x {shape.b} + {shape.c} -> {shape.d}, K = {shape.K}{scales}"
    if finding.stopped is not None:
        yield f"stopped     {finding.stopped}"
    if finding.two_answers is not None:
        row, first, then = finding.two_answers
        yield "two answers " + _row_text(row, shape)
        yield f"            the device gave first {shape.d.describe(first)}"
        yield f"            the device gave then  {shape.d.describe(then)}"
    if model is None:
        yield f"learned     the answers to {finding.evidence} vectors; no model yet"
    else:
        yield f"{'found' if finding.is_whole() else 'nearest' if finding.smallest else 'best model':<12}{model.family}"
        notes = {key.key: f"   the same results with {key.values}: {key.why}" for key in opened}
        for key, value in model.items:
            if key in CHAINED and value == default_of(key) and key not in notes:
                continue
            yield f"            {key} = {value_as_text(value)}{notes.pop(key, '')}"
        for key, note in notes.items():
            yield f"            {key}{note}"
        if finding.is_whole():  # the tree of a wrong model is none of the device
            yield from (f"{'tree' if n == 0 else '':<12}{line}" for n, line in enumerate(drawn(tree_of(model)).splitlines()))
        missed = f"{finding.missed or 'none'} not reproduced"
        yield f"evidence    {finding.evidence} vectors, {missed}; {finding.revisions} models failed before"
        if finding.validated:
            yield f"validation  {finding.validated} random vectors, no difference"
    if finding.smallest is not None:
        yield "unexplained " + _row_text(finding.smallest[0], shape)
        row, d = finding.smallest
        yield f"            the device gives  {shape.d.describe(d)}"
        if model is not None:
            yield f"            the model gives   {shape.d.describe(int(model.run(row)[0]))}"
    yield from lines_of(finding.known)
    if finding.order is not None:
        yield from order_text(finding.order).splitlines()
    yield f"cost        {finding.questions} questions, {finding.vectors} vectors, {finding.seconds:.2f} s of device time"


def _row_text(row: Operands, shape: OperandShape) -> str:
    """The non-zero terms of a row, as text."""
    terms = [
        f"a[{k}]·b[{k}] = {_number(shape.a, int(row.a[0, k]))} · {_number(shape.b, int(row.b[0, k]))}"
        for k in range(shape.K)
        if row.a[0, k] or row.b[0, k]
    ]
    scales = [
        f"{name}[{n}] = {_number(shape.scale, int(code))}"
        for name, array in (("scale_a", row.scale_a), ("scale_b", row.scale_b))
        if array is not None and shape.scale is not None
        for n, code in enumerate(array[0])
    ]
    return ", ".join([f"c = {_number(shape.c, int(row.c[0]))}", *terms, *scales])


def _number(operand: Format, code: int) -> str:
    value = operand.value(code)
    return f"{code:#x}" if value is None else f"{code:#x} ({float(value)!r})"


def as_dict(finding: Finding, opened: list[OpenKey]) -> dict[str, Any]:
    """The report as plain JSON."""
    shape, model = finding.shape, finding.model
    operands = {key: str(getattr(shape, key)) for key in ("a", "b", "c", "d")}
    scale = {} if shape.scale is None else {"scale": shape.scale.name, "K_block": shape.block_size}
    return {
        "device_under_test": finding.dut,
        "operands": operands | {"K": shape.K} | scale,
        "explained": finding.is_whole(),
        "stopped": finding.stopped,
        "operation": None if model is None else model.family,
        "keys": None if model is None else model.keys,
        "unit": None if model is None or model.family == PAIRED else toml_of(model, "probed"),
        "open": [{"key": key.key, "values": key.values, "why": key.why} for key in opened],
        "evidence": finding.evidence,
        "two_answers": None if finding.two_answers is None else _two_answers_dict(*finding.two_answers),
        "missed": finding.missed,
        "revisions": finding.revisions,
        "validated": finding.validated,
        "smallest": None if finding.smallest is None else _row_dict(*finding.smallest),
        "known": [
            {
                "what": one.what,
                "finding": one.finding,
                "vectors": one.vectors,
                "rows": [{"asked": str(row.asked), "d": None if row.d is None else float(row.d)} for row in one.rows],
            }
            for one in finding.known
        ],
        **({} if finding.order is None else {"order": order_as_dict(finding.order)}),
        "questions": finding.questions,
        "vectors": finding.vectors,
        "device_seconds": round(finding.seconds, 3),
    }


def _row_dict(row: Operands, d: int) -> dict[str, Any]:
    named = zip(Operands._fields, row, strict=True)
    return {name: np.asarray(array)[0].tolist() for name, array in named if array is not None} | {"d": d}


def _two_answers_dict(row: Operands, first: int, then: int) -> dict[str, Any]:
    return _row_dict(row, first) | {"d_again": then}
