"""The evidence for a design follows from the outcomes by content; any difference takes the proof away."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from golden import Implementation, Unit
from mmau.jobs.provenance import sealed
from mmau.prove import proof_identity, records
from mmau.prove.datapath.unit_questions import Question
from mmau.prove.proof_identity import Identity, identity, specification_digest
from mmau.prove.records import Known, Records, asked_by, made_of
from rtl.designs.identity import unit_key, verilog_digest
from rtl.designs.unit_design import UnitDesign
from studies.proofs.outcome import Settled, table
from studies.proofs.proved_designs import Target
from studies.proofs.tasks import question_key
from tests.mmau.prove.provable_units import SMALL, unit_of, verilog_of

UNIT = unit_of(SMALL)

QUESTIONS = tuple(Question(name, f"; {name}", ()) for name in ("decode_x_0", "decode_x_1", "d"))


@pytest.fixture(autouse=True, scope="module")
def _made_once() -> Iterator[None]:
    """The texts of a design are the same in every test."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proof_identity, "identity", cache(identity))
        patched.setattr(proof_identity, "specification_digest", cache(specification_digest))
        yield


def outcome(*verdicts: str, problem: str = "", unit: Unit = UNIT) -> dict[str, Any]:
    """The outcome for one datapath with these answers to its questions."""
    asked = QUESTIONS[: len(verdicts)]
    answers = {
        question_key(question): [{"solver": "bitwuzla", "verdict": verdict}]
        for question, verdict in zip(asked, verdicts, strict=True)
    }
    target = Target("datapath", UnitDesign(unit))
    settled = Settled(target, asked, answers, today(), problem)
    return {"date": "2026-11-22", "made_of": dict(made_of()), "asked_by": asked_by(), **table([settled])}


def simulations(**changed: Any) -> dict[str, Any]:
    """The outcome of one run."""
    run = {"operation": "T-FDPA", "design": unit_key(UNIT), "verilog": verilog_digest(verilog_of(SMALL)), "vectors": 1000,
           "mismatches": 0, "passed": True, "specification": today().specification}  # fmt: skip
    of_operation = {"date": "2026-11-22 05:53 UTC", "made_of": dict(made_of())}
    return {"operations": {"T-FDPA": of_operation}, "runs": [run | changed]}


def said(folder: Path, proofs: dict[str, Any] | str, simulated: dict[str, Any] | str = "") -> Records:
    """The evidence of two files."""
    paths = []
    for name, content in (("proofs.json", proofs), ("simulations.json", simulated)):
        paths.append(folder / name)
        paths[-1].write_text(content if isinstance(content, str) else sealed(content))
    return Records(*paths)


def of(found: Records, unit: Unit = UNIT, verilog: str | None = None) -> Known:
    return found.of_design(UnitDesign(unit), verilog_digest(verilog_of(SMALL) if verilog is None else verilog))


@cache
def today() -> Identity:
    return identity("datapath", UnitDesign(UNIT))


@cache
def proven() -> dict[str, Any]:
    return outcome("never", "never", "never")


NO_SIMULATION, NO_PROOF = (f"{what}: not recorded for this Verilog: " for what in ("Simulated", "Proved"))


FOR_OTHERS = "the recorded {} of this design is for another text."

OF_OTHERS = (f"{NO_SIMULATION}{FOR_OTHERS.format('simulation')}", f"{NO_PROOF}{FOR_OTHERS.format('proof')}")
"""The lines if evidence for the design is recorded, and does not count."""

NOTHING = (
    f"{NO_SIMULATION}no simulation of this design is recorded.", f"{NO_PROOF}no proof of this design is recorded.",
)  # fmt: skip


def test_a_proved_datapath(tmp_path: Path) -> None:
    found = said(tmp_path, proven(), simulations())
    known = of(found, replace(UNIT, name="another"))
    assert known.lines() == (
        "Simulated: 1,000 vectors in Verilator, no mismatch (2026-11-22).",
        "Proved: for all inputs, 3 obligations of the steps decode, normalise, round, encode; assumed: nothing "
        "(bitwuzla, 2026-11-22).",
    )
    assert known.as_dict()["proved"] == {
        "steps": {"decode": 2, "normalise, round, encode": 1}, "assumed": [], "solvers": ["bitwuzla"],
        "date": "2026-11-22",
    }  # fmt: skip
    assert found.of_operation(SMALL) == [known]
    assert found.of_operation(SMALL.changed(F=8)) == []
    assert found.problems == {}


@pytest.mark.attack("recorded evidence, edited or of something else")
def test_verilog_with_one_gate_changed_is_not_proved(tmp_path: Path) -> None:
    changed = verilog_of(SMALL).replace(" & ", " | ", 1)
    assert changed != verilog_of(SMALL)
    assert of(said(tmp_path, proven(), simulations()), verilog=changed).lines() == OF_OTHERS


@pytest.mark.parametrize(
    "unit",
    [
        replace(UNIT, implementation=Implementation(encoding="sign-magnitude")),
        replace(UNIT, implementation=Implementation(stages=1)),
        replace(UNIT, operation=SMALL.changed(F=8)),
    ],
    ids=["encoding", "stages", "F"],
)
@pytest.mark.attack("recorded evidence, edited or of something else")
def test_another_unit_is_not_proved_though_its_verilog_were_the_same(unit: Unit, tmp_path: Path) -> None:
    assert of(said(tmp_path, proven(), simulations()), unit).lines() == NOTHING


def of_others(folder: Path, **digests: str) -> Records:
    """The evidence of files that were made with another Python and other questions, with some digests of the row changed."""
    proofs, runs = json.loads(json.dumps(proven())), simulations()
    for made in (proofs["made_of"], runs["operations"]["T-FDPA"]["made_of"]):
        made |= {"python": "3.99", "prover": "another"}
    proofs["subjects"][0] |= {"questions": today().questions} | digests
    runs["runs"][0] |= {key: value for key, value in digests.items() if key in runs["runs"][0]}
    return said(folder, proofs, runs)


def test_a_record_of_others_stands_where_every_text_is_the_same(tmp_path: Path) -> None:
    found = of_others(tmp_path)
    assert found.changes() == ["prover", "python"]
    assert of(found).proved is not None
    assert of(found).simulated is not None
    (listed,) = found.of_operation(SMALL)
    assert (listed.is_compared, listed.proved) == (False, of(found).proved)


@pytest.mark.parametrize("text", ["specification", "questions"])
@pytest.mark.attack("recorded evidence, edited or of something else")
def test_a_record_of_others_falls_where_one_text_differs(text: str, tmp_path: Path) -> None:
    found = of_others(tmp_path, **{text: "0" * 64})
    assert of(found).lines()[1] == OF_OTHERS[1]
    assert (of(found).simulated is None) is (text == "specification")
    assert len(found.of_operation(SMALL)) == (text == "questions")


@pytest.mark.attack("recorded evidence, edited or of something else")
def test_a_record_falls_where_other_code_asks_the_solvers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = said(tmp_path, proven(), simulations())
    assert of(found).proved is not None
    monkeypatch.setattr(records, "asked_by", lambda: "another")
    known = of(found)
    assert known.proved is None
    assert known.lines()[1] == OF_OTHERS[1]
    assert found.of_operation(SMALL) == []


@pytest.mark.attack("recorded evidence, edited or of something else")
def test_a_record_of_others_falls_where_the_verilog_is_not_what_is_written_here(tmp_path: Path) -> None:
    found = of_others(tmp_path, verilog="0" * 64)
    known = found.of_design(UnitDesign(UNIT), "0" * 64)
    assert known.lines()[1] == OF_OTHERS[1]


@pytest.mark.parametrize("name", ["sources", "prover", "amaranth", "pyosys", "python"])
def test_what_the_texts_were_made_of_is_compared(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = made_of()
    assert set(here) == {"sources", "prover", "amaranth", "pyosys", "python"}
    monkeypatch.setattr(records, "made_of", lambda: {**here, name: "another"})
    proofs = json.loads(json.dumps(proven()))
    text = "questions" if name == "prover" else "specification"  # the same code makes the same questions of the same texts
    proofs["subjects"][0][text] = "0" * 64
    found = said(tmp_path, proofs, simulations())
    assert found.changes() == [name]
    assert of(found).lines()[1] == OF_OTHERS[1]
    monkeypatch.setattr(records, "made_of", lambda: {**here, name: "missing"})
    assert found.changes() == []


@pytest.mark.parametrize("made", [{}, {"more": "1"}, {"python": "3.11"}])
def test_a_record_that_does_not_say_all_that_it_was_made_of_is_compared(made: dict[str, str], tmp_path: Path) -> None:
    proofs = json.loads(json.dumps(proven())) | {"made_of": made}
    proofs["subjects"][0]["questions"] = "0" * 64
    assert of(said(tmp_path, proofs)).proved is None


@pytest.mark.parametrize(
    ("verdicts", "problem", "line"),
    [
        (["never", "unknown", "never"], "", "Proved: no; open obligations: 1."),
        (["never", "sometimes", "unknown"], "", "Proved: no; open obligations: 2."),
        ([], "NotProvable: no specification", f"{NO_PROOF}NotProvable: no specification."),
        ([], "", f"{NO_PROOF}the record contradicts itself."),
        (["never"], "crashed", f"{NO_PROOF}crashed."),
    ],
)
@pytest.mark.attack("recorded evidence, edited or of something else")
def test_what_is_open_is_not_proved(verdicts: list[str], problem: str, line: str, tmp_path: Path) -> None:
    assert of(said(tmp_path, outcome(*verdicts, problem=problem))).lines()[1] == line


def test_a_proof_that_another_solver_contradicts_is_not_proved(tmp_path: Path) -> None:
    proofs = proven()
    second = {"asked": 3, "confirmed": 2, "contradicted": 1}
    found = said(tmp_path, proofs | {"subjects": [proofs["subjects"][0] | {"second": second}]})
    assert of(found).lines()[1] == f"{NO_PROOF}solvers contradict each other on its questions: 1."


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
        row(second={"contradicted": None}),
        row(second=1),
        row(verdict="open"),
        row(assumed=["nothing\nmodule evil; endmodule"]),
        row(assumed=[7]),
        row(steps={"decode\n": [3, 3]}),
        row(solvers=None),
        row(steps=None),
        row(steps={"decode": 3}),
        row(steps={"decode": [2.5, 2.5], "d": [1, 1]}),
        row(steps={"decode": [True, True], "d": [2, 2]}),
        row(steps={"decode": [3, 3], "d": [-1, -1]}, obligations=2),
        row(solvers=[]),
        row(obligations=True),
        row(verdict=["proved"]),
        lambda found: found["subjects"].append({**found["subjects"][0], "verdict": "open", "not_proved": ["d: open"]}),
        row(verilog=None),
        row(specification=None),
        row(questions=None),
        row(kind=None),
        lambda found: found["subjects"].append(None),
        lambda found: found.update(subjects=None),
        lambda found: found.update(made_of=None),
        lambda found: found.update(date="2026\nwire x;"),
    ],
)
@pytest.mark.attack("recorded evidence, edited or of something else")
def test_an_outcome_that_is_none_proves_nothing(spoil: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    """The file is sealed anew, as by a program that writes it wrongly."""
    spoiled = json.loads(json.dumps(proven()))
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
@pytest.mark.attack("recorded evidence, edited or of something else")
def test_a_file_that_was_edited_or_truncated_proves_nothing(spoil: Callable[[str], str], tmp_path: Path) -> None:
    found = said(tmp_path, spoil(sealed(proven())), spoil(sealed(simulations())))
    assert of(found).lines() == (
        f"{NO_SIMULATION}{found.problems['simulations.json']}.", f"{NO_PROOF}{found.problems['proofs.json']}.",
    )  # fmt: skip
    assert (of(found).simulated, of(found).proved) == (None, None)


def test_files_that_are_missing_say_nothing(tmp_path: Path) -> None:
    found = Records(tmp_path / "a.json", tmp_path)
    assert (of(found).simulated, of(found).proved) == (None, None)
    assert len(found.problems) == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("passed", False), ("passed", 1), ("mismatches", 1), ("mismatches", False), ("verilog", ""), ("vectors", "many"),
        ("vectors", 0), ("vectors", -1000), ("vectors", 1000.5), ("vectors", True), ("design", None), ("specification", ""),
    ],
)  # fmt: skip
@pytest.mark.attack("recorded evidence, edited or of something else")
def test_a_run_that_did_not_pass_or_is_of_other_verilog_counts_no_vector(key: str, value: Any, tmp_path: Path) -> None:
    assert of(said(tmp_path, proven(), simulations(**{key: value}))).simulated is None
