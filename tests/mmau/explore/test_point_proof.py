"""The proof in a point's record: true for the Verilog that was simulated, false for known operands, else why not."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from golden.units.unit_file import unit_from_table
from mmau.explore import work as work_module
from mmau.explore.explore import known_of
from mmau.explore.tasks import proof_of, record_of
from mmau.explore.work import prove_unit, work
from mmau.jobs import CRASHED, DONE, Record, Task
from mmau.prove import deadline
from mmau.prove.deadline import Failed, Seen
from mmau.prove.decision import OPEN, PROVED, REFUTED, DesignDecision, WrongCycles, WrongResult
from tests.mmau.explore.test_cosimulation import TEXT
from tests.mmau.explore.test_tasks import parts
from tests.mmau.explore.texts import MEASURED, SMALL, space_of

UNIT = unit_from_table(tomllib.loads(TEXT))

SIMULATED: dict[str, Any] = {"vectors": 9, "sent": 9, "received": 9, "mismatches": 0, "verilog": "v"}


def record(result: Any, status: str = DONE, message: str = "") -> Record:
    return Record(Task("proof", {}), status, result, message, 1.0, None, None)


@pytest.mark.slow
def test_a_point_that_is_proved(tmp_path: Path) -> None:
    found = work({"part": "proof", "unit": TEXT, "seconds": 60.0}, tmp_path)
    assert (found["proved"], found["reason"], found["open"]) == (True, "", [])
    assert found["obligations"] > 10


@pytest.mark.parametrize(
    ("decision", "proved", "reason"),
    [
        (DesignDecision(verdict=PROVED), True, ""),
        (DesignDecision(verdict=REFUTED, counterexample=WrongResult({"a": 1}, 2, 3)), False,
         "refuted: a=0x1: got 0x2, expected 0x3"),
        (DesignDecision(verdict=REFUTED, counterexample=WrongCycles(["cycle 0: rst", "cycle 1: no result"])), False,
         "refuted: cycle 1: no result"),
        (DesignDecision(verdict=OPEN, reason="there is no specification of X yet"), None,
         "not decided: there is no specification of X yet"),
    ],
)  # fmt: skip
def test_a_decision_as_a_record(
    decision: DesignDecision, proved: bool | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_module, "prove", lambda *given: decision)
    found = prove_unit(UNIT, 1.0)
    assert (found["proved"], found["reason"]) == (proved, reason)


@pytest.mark.parametrize(
    ("proof", "told"),
    [
        (None, None),
        (record({"proved": True, "reason": "", "verilog": "v"}), {"proved": True, "reason": ""}),
        (record({"proved": False, "reason": "refuted: a=0x1", "verilog": "v"}),
         {"proved": False, "reason": "refuted: a=0x1"}),
        (record({"proved": True, "reason": "", "verilog": "other"}),
         {"proved": None, "reason": "not decided: the proved Verilog differs from the simulated Verilog"}),
        (record(None, CRASHED, "its process was ended by SIGSEGV"),
         {"proved": None, "reason": "not decided: crashed: its process was ended by SIGSEGV"}),
    ],
)  # fmt: skip
def test_only_the_verilog_that_was_simulated_is_reported_as_proved(
    proof: Record | None, told: dict[str, Any] | None
) -> None:
    assert proof_of(SIMULATED, proof) == told


def test_a_proof_whose_process_ends_by_itself_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(ending="its process was ended by SIGKILL", crashed=True)
    monkeypatch.setattr(deadline, "watched", lambda *given: seen)
    with pytest.raises(Failed, match=r"its obligations were not all generated: its process was ended by SIGKILL$"):
        prove_unit(UNIT, 7.0)


def test_a_proof_that_crashes_leaves_the_point_done() -> None:
    space = space_of(SMALL + MEASURED + "[proof]\nseconds = 7\n")
    point = next(iter(space.points()))
    found = parts(space)
    outcomes = {
        **{part.task.key: record({}) for part in found.values()},
        found["cosimulation"].task.key: record(SIMULATED),
        found["proof"].task.key: record(None, CRASHED, "its process was ended by SIGKILL"),
    }
    said = record_of(space, point, list(found.values()), outcomes)
    assert (said["status"], said["proof"]["proved"]) == ("done", None)
    assert said["proof"]["reason"] == "not decided: crashed: its process was ended by SIGKILL"


@pytest.mark.parametrize(
    ("simulated", "is_waiting", "proof", "lines"),
    [
        (record(None), False, None, ("Simulated: no.", "Proved: no.")),
        (record(SIMULATED), False, None, ("Simulated: 9 vectors in Verilator, 0 mismatches.", "Proved: no; not asked.")),
        (record(SIMULATED | {"mismatches": 2}), True, None,
         ("Simulated: 9 vectors in Verilator, 2 mismatches.", "Proved: no; its proof has not ended.")),
        (record(SIMULATED), False, record({"proved": True, "reason": "", "obligations": 7, "verilog": "v"}),
         ("Simulated: 9 vectors in Verilator, 0 mismatches.", "Proved: for all inputs, 7 obligations.")),
        (record(SIMULATED), False, record({"proved": True, "reason": "", "obligations": 7, "verilog": "w"}),
         ("Simulated: 9 vectors in Verilator, 0 mismatches.",
          "Proved: no; not decided: the proved Verilog differs from the simulated Verilog.")),
    ],
)  # fmt: skip
def test_the_header_of_a_points_verilog(
    simulated: Record, is_waiting: bool, proof: Record | None, lines: tuple[str, str]
) -> None:
    assert known_of(simulated, is_waiting, proof) == lines
