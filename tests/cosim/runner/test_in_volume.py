"""The replay of a volume run's first mismatch in cocotb: the mismatch remains, whatever the replay's outcome."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cosim import Report
from cosim.build.errors import SimulationError
from cosim.runner import in_volume
from cosim.runner.in_volume import Sent, _with_replay
from cosim.runner.request import Request
from cosim.volume.segments import Segment
from rtl import UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT
from tests.cosim.runner.reports import failed, passed


def replayed(monkeypatch: pytest.MonkeyPatch, replay: Any) -> Report:
    """The report of a run with a mismatch, whose replay is replaced by `replay`."""
    monkeypatch.setattr(in_volume, "replay", replay)
    request = Request(vectors=2000, mode="volume")
    outcome = {"stopped": None, "rows": [{"vector": 7, "agrees": True}, {"vector": 9, "agrees": False}]}
    segment = Segment(first=0, vectors=2000, arguments=(), classes={0: "ties"}, write=None)
    return _with_replay(UnitDesign(T_UNIT), request, Path(), failed(), [Sent(segment, None, outcome)])


@pytest.mark.slow
def test_mismatch_stands_where_cocotb_cannot_send_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(design: Any, request: Any, folder: Any, vector: Any) -> Report:
        assert vector == {"rows": [{"vector": 9, "agrees": False}], "classes": {0: "ties"}}
        raise SimulationError("the testbench of unit failed: no such pin\nlog: simulation.log")

    report = replayed(monkeypatch, fails)
    assert report.minimised is not None
    assert replace(report, minimised=None) == failed()
    assert (report.minimised.row, report.minimised.reproduced) == (failed().differing[0], False)
    message = "the testbench of unit failed: no such pin; log: simulation.log"
    assert report.minimised.note == f"not minimised: it could not be sent again in cocotb: {message}"
    explained = report.explained(UnitDesign(T_UNIT)).explanation
    assert explained is not None
    assert f"first mismatch, {report.minimised.note}" in explained.lines()


@pytest.mark.parametrize(
    ("stopped", "note"),
    [
        ("the simulation stood still", "ended before its result: the simulation stood still"),
        (None, "sent alone it agrees, so it depends on the vectors before or beside it, or on stalls"),
    ],
    ids=["stopped", "right"],
)
def test_mismatch_that_is_not_seen_alone_says_why(stopped: str | None, note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    again = replace(passed(), stopped=stopped)
    report = replayed(monkeypatch, lambda *arguments: again)
    assert report.minimised is not None
    assert (report.minimised.row, report.minimised.reproduced) == (failed().differing[0], False)
    assert report.minimised.note.endswith(note)
    assert report.failures == failed().failures
