"""The work of a part, as a worker is given it."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import Unit
from mmau.explore.space_file import rows_of_cost, space_from_table
from mmau.explore.tasks import cost_tools, parts_of
from mmau.explore.work import check_tools, cost_of, placed, rows_of_power, rows_text, work
from rtl.cost.cost_request import CostError
from rtl.cost.cost_results import PipelineTiming, StageDelay
from rtl.cost.liberty import DEFAULT
from rtl.cost.meet_clock import MetClock
from tests.mmau.explore.texts import MEASURED, SMALL, space_of
from tests.rtl.cost.test_liberty import SMALL as CELLS
from tests.rtl.cost.test_liberty import written


def test_machine_with_other_tools_does_not_measure(tmp_path: Path) -> None:
    """Its figures would be kept under those of the machine that asks."""
    check_tools(cost_tools(DEFAULT), DEFAULT)
    point = next(iter(space_of(SMALL + MEASURED).points()))
    cost = next(part.task for part in parts_of(space_of(SMALL + MEASURED), point) if part.kind == "cost")
    content = {**cost.content, "tools": {**cost_tools(DEFAULT), "sta": "OpenSTA 1.0"}}
    with pytest.raises(
        ValueError, match=r"^tools must be those of the requesting machine: sta: .* here, OpenSTA 1\.0 there; "
    ):
        work(content, tmp_path)


@pytest.mark.attack("a cell library of one's own, changed between the request and the measurement")
def test_machine_with_another_library_of_that_name_does_not_measure(tmp_path: Path) -> None:
    path = written(tmp_path, CELLS)
    space = space_from_table(tomllib.loads(SMALL + '[cost]\nlibrary = "small.lib"\n'), tmp_path)
    assert space.cost == {"library": str(path)}
    cost = next(part.task for part in parts_of(space, next(iter(space.points()))) if part.kind == "cost")
    check_tools(cost.content["tools"], str(path))
    path.write_text(CELLS.replace("area : 24", "area : 23").replace("0.008", "0.009"))
    with pytest.raises(ValueError, match=r"^tools must be those of the requesting machine: library: \w+ here, \w+ there; "):
        work(dict(cost.content), tmp_path)


def test_log_is_named_where_it_will_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(unit: Unit, wanted: object, folder: Path, operands: None) -> None:
        raise CostError(f"unit: OpenSTA failed; its log is {folder / 'unit.log'}")

    unit = next(iter(space_of(SMALL + MEASURED).points())).unit
    assert unit is not None
    monkeypatch.setattr("rtl.cost.cost_columns.measure", fails)
    with pytest.raises(CostError, match=r"^unit: OpenSTA failed; its log is unit\.log$"):
        cost_of(unit, {}, tmp_path)
    kept = {"cells": 1, "missing": {"fpga.ecp5": f"no room; its log is {tmp_path / 'a.log'}"}}
    monkeypatch.setattr("rtl.cost.cost_columns.measure", lambda *given: kept)
    assert cost_of(unit, {}, tmp_path) == {"cells": 1, "missing": {"fpga.ecp5": "no room; its log is a.log"}}


def clocked() -> tuple[Unit, Unit]:
    """A unit with a clock, and one with stages that stand for those that meet it."""
    unit = next(iter(space_of(SMALL + MEASURED).points())).unit
    assert unit is not None
    asked = replace(unit, implementation=replace(unit.implementation, clock_ns=5.0))
    return asked, replace(unit, implementation=replace(unit.implementation, stages=1, registers=("encode",)))


def test_unit_with_a_clock_is_measured_with_the_stages_that_meet_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, found = clocked()
    met = MetClock(found, 5.0, PipelineTiming((StageDelay("encode", 4.0),), 4.0, 1.0, 1.0, 1))
    asked_in = list[str]()

    def meets(unit: Unit, cells: str) -> MetClock:
        asked_in.append(cells)
        return met

    monkeypatch.setattr("mmau.explore.work.meet_clock", meets)
    monkeypatch.setattr(
        "rtl.cost.cost_columns.measure", lambda unit, *_: {"unit": unit, "missing": {"stages_for_clock": "no"}}
    )
    assert cost_of(asked, {}, tmp_path) == {"unit": found, "stages_for_clock": 1, "missing": {}}
    assert placed(asked, {"tools": cost_tools("osu035"), "cells": "osu035"}) == found
    assert asked_in == [DEFAULT, "osu035"]
    assert placed(found, {}) == found


@pytest.mark.attack("a worker with another OpenSTA, which would place registers elsewhere than the machine that asks")
def test_machine_with_other_tools_places_no_registers() -> None:
    with pytest.raises(ValueError, match=r"^tools must be those of the requesting machine: sta: "):
        placed(clocked()[0], {"tools": {**cost_tools(DEFAULT), "sta": "OpenSTA 1.0"}, "cells": DEFAULT})


def test_power_is_that_of_the_rows_of_a_workload(tmp_path: Path) -> None:
    """Held weights stay for their rows, and half of a's elements are zeros."""
    table = {"activity": {"workload": "normal", "rows": 200, "hold_b": 50, "zeros": 0.5}}
    activity = rows_of_cost(table["activity"], tmp_path)
    unit = next(iter(space_of(SMALL + MEASURED).points())).unit
    assert unit is not None
    found = rows_of_power(unit, activity)
    assert len(found.c) == 200
    assert all((found.b[50 * k : 50 * k + 50] == found.b[50 * k]).all() for k in range(4))
    assert not (found.b[49] == found.b[50]).all()
    assert 0.4 < (found.a == 0).mean() < 0.6
    assert rows_text(activity) == "200 rows of normal, b held for 50 rows, 50 % of a is zero"
    assert rows_text(rows_of_cost("normal", tmp_path)) == "1,000 rows of normal"
    assert rows_of_cost("normal", tmp_path) == {"workload": "normal", "rows": 1000, "hold_b": 1, "zeros": 0.0}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("norml", "workload must be one of normal"),
        ("chain-64", "activity takes a workload whose rows are steps of any unit, and chain-64 is none"),
        ({"rows": 10}, "activity must be a number, a workload, or a table with the key workload"),
        ({"workload": "normal", "zeros": 2}, "activity: zeros must be a number of at least 0 and at most 1, got 2"),
        ({"workload": "normal", "row": 2}, "activity: key must be one of workload, rows, hold_b, zeros; got 'row'"),
    ],
)
def test_what_is_no_activity_is_refused(given: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        rows_of_cost(given, tmp_path)
