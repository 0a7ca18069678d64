"""What a point's record says of a proof: true for the Verilog that was simulated, false for known operands, else why not."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explore.run import proving
from explore.run.output import known_of
from explore.run.proof import co_simulate
from explore.run.proving import prove
from explore.run.records import is_verified, joined, record_of
from explore.run.work import work
from formal.outcome import OPEN
from formal.proving import Decision
from golden import Implementation
from golden.unit_file import unit_from_table
from jobs import CRASHED, DONE, Record, Task
from tests.explore.run.test_parts import parts
from tests.explore.run.test_proof import TEXT
from tests.explore.space.texts import MEASURED, SMALL, space_of
from tests.formal.obligations.test_units import FAULTS, faulty
from tests.formal.units import SMALL as OPERATION
from tests.formal.units import unit_of, verilog_of

UNIT = unit_from_table(tomllib.loads(TEXT))

SIMULATED: dict[str, Any] = {"vectors": 9, "sent": 9, "received": 9, "mismatches": 0, "verilog": "v"}


def record(result: Any, status: str = DONE, message: str = "") -> Record:
    return Record(Task("formal", {}), status, result, message, 1.0, None, None)


@pytest.mark.slow
def test_a_point_that_is_proved(tmp_path: Path) -> None:
    found = work({"part": "formal", "unit": TEXT, "seconds": 60.0}, tmp_path)
    assert (found["proved"], found["proved_note"], found["open"]) == (True, "", [])
    assert found["obligations"] > 10
    assert co_simulate(UNIT, 0, 0, tmp_path) is None


@pytest.mark.slow
def test_a_point_with_registers_is_proved_with_its_handshake() -> None:
    found = prove(replace(UNIT, implementation=Implementation(stages=2)), 60.0)
    assert (found["proved"], found["proved_note"]) == (True, "")
    assert found["obligations"] > prove(UNIT, 60.0)["obligations"]


@pytest.mark.slow
def test_a_point_whose_verilog_is_wrong_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = faulty(verilog_of(OPERATION), *FAULTS["a product of significands"])
    monkeypatch.setattr(proving, "to_verilog", lambda unit, top: wrong)
    found = prove(unit_of(OPERATION), 60.0)
    assert found["proved"] is False
    assert found["proved_note"].startswith("refuted: a=0x")
    proof = joined(SIMULATED | {"verilog": found["verilog"]}, record(found))
    assert is_verified({"proof": proof}) is False


def test_what_is_not_decided_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "decide", lambda *given: Decision(OPEN, problem="there is no specification of X yet"))
    assert prove(UNIT, 1.0)["proved_note"] == "not decided: there is no specification of X yet"
    monkeypatch.setattr(proving, "decide", lambda *given: Decision(OPEN))
    assert prove(UNIT, 1.5)["proved_note"] == "not decided: 0 of 0 obligations are open after 1.5 s"


@pytest.mark.parametrize(
    ("proof", "proved", "note"),
    [
        (None, None, "not asked"),
        (record({"proved": True, "proved_note": "", "verilog": "v"}), True, ""),
        (record({"proved": False, "proved_note": "refuted: a=0x1", "verilog": "v"}), False, "refuted: a=0x1"),
        (record({"proved": True, "proved_note": "", "verilog": "other"}), None,
         "not decided: other Verilog was proved than was simulated"),
        (record(None, CRASHED, "its process was ended by SIGSEGV"), None,
         "not decided: crashed: its process was ended by SIGSEGV"),
    ],
)  # fmt: skip
def test_proved_is_said_of_the_verilog_that_was_simulated(proof: Record | None, proved: bool | None, note: str) -> None:
    found = joined(SIMULATED, proof)
    assert (found["proved"], found["proved_note"], found["vectors"]) == (proved, note, 9)
    assert "verilog" not in found


def test_a_proof_that_crashes_leaves_the_point_done() -> None:
    space = space_of(SMALL + MEASURED + "seconds = 7\n")
    point = next(iter(space.points()))
    found = parts(space)
    outcomes = {
        found["proof"].task.key: record(SIMULATED),
        found["formal"].task.key: record(None, CRASHED, "its process was ended by SIGKILL"),
    }
    said = record_of(space, point, list(found.values()), outcomes)
    assert (said["status"], said["proof"]["proved"]) == ("done", None)
    assert said["proof"]["proved_note"] == "not decided: crashed: its process was ended by SIGKILL"


@pytest.mark.parametrize(
    ("simulated", "is_waiting", "proof", "lines"),
    [
        (record(None), False, None, ("Simulated: no.", "Proved: no.")),
        (record(SIMULATED), False, None, ("Simulated: 9 vectors in Verilator, 0 mismatches.", "Proved: no; not asked.")),
        (record(SIMULATED | {"mismatches": 2}), True, None,
         ("Simulated: 9 vectors in Verilator, 2 mismatches.", "Proved: no; its proof has not ended.")),
        (record(SIMULATED), False, record({"proved": True, "proved_note": "", "obligations": 7, "verilog": "v"}),
         ("Simulated: 9 vectors in Verilator, 0 mismatches.", "Proved: for all inputs, 7 obligations.")),
        (record(SIMULATED), False, record({"proved": True, "proved_note": "", "obligations": 7, "verilog": "w"}),
         ("Simulated: 9 vectors in Verilator, 0 mismatches.",
          "Proved: no; not decided: other Verilog was proved than was simulated.")),
    ],
)  # fmt: skip
def test_the_header_of_a_points_verilog(
    simulated: Record, is_waiting: bool, proof: Record | None, lines: tuple[str, str]
) -> None:
    assert known_of(simulated, is_waiting, proof) == lines
