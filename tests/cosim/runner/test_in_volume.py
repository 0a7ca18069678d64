"""Volume runs: the replay of the first mismatch in cocotb, and coverage, which counts where all vectors agree."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cosim.bench.mismatch import Minimised
from cosim.bench.schedule import Schedule
from cosim.bench.stimulus import specification_of
from cosim.build.errors import SimulationError
from cosim.coverage.coverage_model import whole
from cosim.runner import in_volume
from cosim.runner.in_volume import NOTHING, Sent, _covered, _replayed
from cosim.runner.job import Simulated
from cosim.runner.request import Request
from cosim.volume.segments import Segment
from cosim.volume.vector_files import write_rows
from golden import Unit
from golden.operations import TFDPA
from rtl import UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT
from tests.cosim.runner.reports import failed, passed, with_explanation
from tests.golden.native.native_rows import needs_native


def replayed(monkeypatch: pytest.MonkeyPatch, replay: Any) -> Minimised:
    """The first mismatch of a run, whose replay is replaced by `replay`."""
    monkeypatch.setattr(in_volume, "replay", replay)
    request = Request(vectors=2000, mode="volume")
    outcome = {"stopped": None, "rows": [{"vector": 7, "agrees": True}, {"vector": 9, "agrees": False}]}
    segment = Segment(first=0, vectors=2000, arguments=(), schedule=Schedule, classes={0: "ties"})
    found = _replayed(UnitDesign(T_UNIT), request, Path(), failed(), [Sent(segment, None, outcome)])
    assert found is not None
    assert (found.row, found.reproduced) == (failed().differing[0], False)
    return found


@pytest.mark.slow
def test_mismatch_stands_where_cocotb_cannot_send_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(design: Any, request: Any, folder: Any, vector: Any) -> None:
        assert vector == {"rows": [{"vector": 9, "agrees": False}], "classes": {0: "ties"}}
        raise SimulationError("the testbench of unit failed: no such pin\nlog: simulation.log")

    found = replayed(monkeypatch, fails)
    message = "the testbench of unit failed: no such pin; log: simulation.log"
    assert found.note == f"not minimised: it could not be sent again in cocotb: {message}"
    explanation = with_explanation(replace(failed(), minimised=found)).explanation
    assert explanation is not None
    assert f"first mismatch, {found.note}" in explanation.lines()


@pytest.mark.parametrize(
    ("stopped", "note"),
    [
        ("the simulation stood still", "ended before its result: the simulation stood still"),
        (None, "sent alone it agrees, so it depends on the vectors before or beside it, or on stalls"),
    ],
    ids=["stopped", "right"],
)
def test_mismatch_that_is_not_seen_alone_says_why(stopped: str | None, note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    again = Simulated(outcome=replace(passed(), stopped=stopped), seconds=1.0)
    assert replayed(monkeypatch, lambda *arguments: again).note.endswith(note)


DESIGN = UnitDesign(
    Unit(name="t", operation=TFDPA(a="fp16", b="fp16", c="fp16", L=2, F=12, rho="RNE-FP16", e_zero=-20))  # type: ignore[arg-type]
)


@needs_native
@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, True),
        ({"mismatches": 1}, False),
        ({"received": 299}, False),
        ({"stopped": "the simulation broke off"}, False),
    ],
)
def test_coverage_counts_where_all_vectors_agree(change: dict[str, Any], counts: bool, tmp_path: Path) -> None:
    rows = write_rows(DESIGN, specification_of(DESIGN), 300, 0, tmp_path / "rows.bin")
    found = _covered(rows, {**NOTHING, "sent": 300, "received": 300, **change})
    assert [each.rows for each in found] == ([300] if counts else [])
    assert (whole(found).hit > 80) is counts
