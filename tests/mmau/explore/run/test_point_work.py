"""The work of a part, as a worker is given it."""

from pathlib import Path

import pytest

from golden import Unit
from mmau.explore.run.point_tasks import cost_tools, parts_of
from mmau.explore.run.point_work import check_tools, cost_of, work
from rtl.cost.cost_columns import CostError
from tests.mmau.explore.space.texts import MEASURED, SMALL, space_of


def test_machine_with_other_tools_does_not_measure(tmp_path: Path) -> None:
    """Its figures would be kept under those of the machine that asks."""
    check_tools(cost_tools())
    point = next(iter(space_of(SMALL + MEASURED).points()))
    cost = next(part.task for part in parts_of(space_of(SMALL + MEASURED), point) if part.kind == "cost")
    content = {**cost.content, "tools": {**cost_tools(), "sta": "OpenSTA 1.0"}}
    with pytest.raises(
        ValueError, match=r"^tools must be those of the requesting machine: sta: .* here, OpenSTA 1\.0 there; "
    ):
        work(content, tmp_path)


def test_log_is_named_where_it_will_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(unit: Unit, wanted: object, folder: Path) -> None:
        raise CostError(f"unit: OpenSTA failed; its log is {folder / 'unit.log'}")

    unit = next(iter(space_of(SMALL + MEASURED).points())).unit
    assert unit is not None
    monkeypatch.setattr("rtl.cost.cost_columns.measure", fails)
    with pytest.raises(CostError, match=r"^unit: OpenSTA failed; its log is unit\.log$"):
        cost_of(unit, {}, tmp_path)
    kept = {"cells": 1, "missing": {"fpga.ecp5": f"no room; its log is {tmp_path / 'a.log'}"}}
    monkeypatch.setattr("rtl.cost.cost_columns.measure", lambda *given: kept)
    assert cost_of(unit, {}, tmp_path) == {"cells": 1, "missing": {"fpga.ecp5": "no room; its log is a.log"}}
