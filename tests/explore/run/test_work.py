"""The work of a part, as a worker is given it."""

from pathlib import Path

import pytest

from explore.run.parts import cost_tools, parts_of
from explore.run.work import check_tools, work
from tests.explore.space.texts import MEASURED, SMALL, space_of


def test_machine_with_other_tools_does_not_measure(tmp_path: Path) -> None:
    """Its figures would be kept under those of the machine that asks."""
    check_tools(cost_tools())
    point = next(iter(space_of(SMALL + MEASURED).points()))
    cost = next(part.task for part in parts_of(space_of(SMALL + MEASURED), point) if part.kind == "cost")
    content = {**cost.content, "tools": {**cost_tools(), "sta": "OpenSTA 1.0"}}
    with pytest.raises(
        ValueError, match=r"^tools must be those of the machine that asks: sta: .* here, OpenSTA 1\.0 there; "
    ):
        work(content, tmp_path)
