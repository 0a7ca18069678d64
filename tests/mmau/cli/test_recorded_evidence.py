"""Recorded evidence in the output of commands: for the very Verilog that was simulated and proved, and for no other."""

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import rtl
from golden import Implementation, Unit, instruction
from golden.units.unit_file import unit_from_table
from mmau.cli import list_catalogue, main
from mmau.jobs.provenance import sealed
from mmau.prove import records
from mmau.prove.proof_identity import operation_specification_digest, put_together
from mmau.prove.records import asked_by, changes, committed, made_of
from rtl.designs.identity import operation_key, unit_key
from rtl.designs.unit_design import as_design
from rtl.verilog import emit
from tests.mmau.cli.unit_texts import TINY

VOLTA = ("sm_70", "mma.m8n8k4.f32.f16.f16.f32")

PROVED = "// Proved: for all inputs, 5 obligations of the steps align; assumed: a reset came first (z3, 2026-11-22)."

NOT_SIMULATED = "// Simulated: not recorded for this Verilog: no simulation of this design is recorded."

NOT_RECORDED = "Proved: not recorded for this Verilog: "


def tiny() -> Unit:
    return unit_from_table(tomllib.loads(TINY))


def subject(unit: Unit, verilog: str, questions: str) -> dict[str, object]:
    """The row of a proved datapath."""
    return {
        "name": unit.name, "operation": unit.operation.name, "kind": "datapath", "built": unit.implementation.encoding,
        "verdict": "proved", "obligations": 5, "steps": {"align": [5, 5]}, "solvers": ["z3"],
        "assumed": ["a reset came first"], "not_proved": [], "problem": "", "design": unit_key(unit),
        "arithmetic": operation_key(unit.operation), "verilog": verilog,
        "specification": operation_specification_digest(unit.operation), "questions": questions,
    }  # fmt: skip


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Outcomes in which the tiny unit and Volta's are proved, and Volta's simulated."""
    operation = instruction(*VOLTA).operation
    volta = Unit(name="volta", operation=operation, implementation=Implementation(encoding="sign-magnitude"))
    of_tiny = put_together("datapath", as_design(tiny()))[0]
    proofs = {"date": "2026-11-22", "made_of": dict(made_of()), "asked_by": asked_by()}
    rows = [subject(tiny(), of_tiny.verilog, of_tiny.questions), subject(volta, "of-volta", "of-volta")]
    run = {"operation": "T-FDPA", "design": unit_key(volta), "verilog": "of-volta", "vectors": 1500, "mismatches": 0,
           "specification": rows[1]["specification"]}  # fmt: skip
    of_operation = {"date": "2026-11-21 05:53 UTC", "made_of": dict(made_of())}
    simulations = {"operations": {"T-FDPA": of_operation}, "runs": [run | {"passed": True}]}
    for name, content in (("PROOFS", proofs | {"subjects": rows}), ("SIMULATIONS", simulations)):
        (tmp_path / name).write_text(sealed(content))
        monkeypatch.setattr(records, name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    committed.cache_clear()
    list_catalogue.known_of.cache_clear()
    yield
    committed.cache_clear()
    list_catalogue.known_of.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("recorded")
def test_the_header_of_verilog_tells_of_that_verilog_and_its_circuit_is_the_same_text() -> None:
    Path("tiny.toml").write_text(TINY)
    assert main.main(["rtl", "--unit", "tiny.toml", "-o", "other.v"]) == 0
    text, plain = Path("other.v").read_text(), rtl.to_verilog(tiny(), "other")
    assert f"{NOT_SIMULATED}\n{PROVED}\n\n/*" in text
    assert text.replace(f"//\n{NOT_SIMULATED}\n{PROVED}\n", "") == plain
    assert "Proved" not in plain
    Path("tiny.toml").write_text(TINY.replace("F = 9", "F = 8"))
    assert main.main(["rtl", "--unit", "tiny.toml", "-o", "other.v"]) == 0
    assert f"// {NOT_RECORDED}no proof of this design is recorded.\n" in Path("other.v").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("recorded")
@pytest.mark.attack("recorded evidence, edited or of something else")
def test_verilog_that_a_changed_generator_writes_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a source had changed and nobody had noticed: the text tells."""
    Path("tiny.toml").write_text(TINY)
    sound = emit.modules
    monkeypatch.setattr(emit, "modules", lambda *given: sound(*given).replace(" & ", " | ", 1))
    assert main.main(["rtl", "--unit", "tiny.toml", "-o", "unit.v"]) == 0
    assert f"// {NOT_RECORDED}the recorded proof of this design is for another text.\n" in Path("unit.v").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("recorded")
def test_the_list_tells_of_the_datapaths_of_each_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["list", "--arch", "sm_70"]) == 0
    heading, first, _, third = capsys.readouterr().out.splitlines()
    assert heading.split()[-2:] == ["simulated", "proved"]
    assert first.endswith("  1,500      1 of 1")
    assert third.endswith("  -          -")
    assert main.main(["list", "--arch", "sm_70", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["instructions"]
    assert listed[0]["datapaths"] == [{
        "design": "volta",
        "built": "sign-magnitude",
        "compared": True,
        "simulated": {"vectors": 1500, "simulator": "Verilator", "date": "2026-11-21"},
        "proved": {"steps": {"align": 5}, "assumed": ["a reset came first"], "solvers": ["z3"], "date": "2026-11-22"},
        "why_not": {"simulated": None, "proved": None},
    }]  # fmt: skip
    assert listed[2]["datapaths"] == []


IN_PARENTHESES = (
    "In parentheses: recorded with other python. The specifications are still the same; `mmau rtl` and `mmau cosim` compare "
    "a design's Verilog and questions too, `make formal-compare` those of all."
)


@pytest.mark.slow
@pytest.mark.usefixtures("recorded")
def test_the_list_says_where_the_record_was_made_with_others_and_compares_specifications_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = made_of()
    monkeypatch.setattr(records, "made_of", lambda: {**here, "python": "3.99"})
    assert changes(here) == ["python"]
    assert main.main(["list", "--arch", "sm_70"]) == 0
    _, first, *_, last = capsys.readouterr().out.splitlines()
    assert first.endswith("  (1,500)    (1 of 1)")
    assert last == IN_PARENTHESES
    list_catalogue.known_of.cache_clear()
    assert main.main(["list", "--arch", "sm_70", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["not_recorded"], listed["not_compared"]) == ({}, IN_PARENTHESES)
    assert listed["instructions"][0]["datapaths"][0]["compared"] is False
    list_catalogue.known_of.cache_clear()
    monkeypatch.setattr(records, "_operation_specification", lambda operation: "another")
    assert main.main(["list", "--arch", "sm_70"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("  -          -")


@pytest.mark.slow
@pytest.mark.usefixtures("recorded")
def test_the_list_says_in_a_line_why_nothing_is_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    records.PROOFS.write_text("{}")
    committed.cache_clear()
    assert main.main(["list", "--arch", "sm_70"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "PROOFS: it is no outcome with a digest of itself: KeyError('digest')"
    assert main.main(["list", "--arch", "sm_70", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_recorded"] == {"PROOFS": last}


@pytest.mark.slow
@pytest.mark.usefixtures("recorded")
def test_what_cannot_be_compared_is_not_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another Python, and no package of solvers."""
    here = made_of()
    monkeypatch.setattr(records, "made_of", lambda: {**here, "python": "3.99"})
    monkeypatch.setitem(sys.modules, "mmau.prove.proof_identity", None)
    assert main.main(["list", "--arch", "sm_70"]) == 0
    _, first, *_, last = capsys.readouterr().out.splitlines()
    assert first.endswith("  -          -")
    assert last.startswith("PROOFS: recorded with other python; import of mmau.prove.proof_identity halted; ")
    assert last.endswith("; install it with: pip install 'mmau[formal]'")
    Path("tiny.toml").write_text(TINY)
    assert main.main(["rtl", "--unit", "tiny.toml", "-o", "unit.v"]) == 0
    assert (
        f"// {NOT_RECORDED}the recorded proof cannot be compared with what is installed: import "
        in Path("unit.v").read_text()
    )


@pytest.mark.simulator
@pytest.mark.needs("icarus")
@pytest.mark.usefixtures("recorded")
def test_reports_of_a_co_simulation_tell_of_the_verilog_that_was_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tiny.toml").write_text(TINY)
    request = ["cosim", "--unit", "tiny.toml", "--sim", "icarus", "--vectors", "20"]
    assert main.main([*request, "--html", "page.html"]) == 0
    said = capsys.readouterr().out
    assert f"{NOT_SIMULATED}\n{PROVED}\n".replace("// ", "") in said
    assert PROVED.removeprefix("// ") in Path("page.html").read_text()
    own = ["--dut", "own.v", "--top", "own"]
    Path("own.v").write_text(rtl.to_verilog(tiny(), "own"))
    assert main.main([*request, *own, "--html", "page.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reports"][0]["recorded"] is None
    assert "Proved" not in Path("page.html").read_text()
