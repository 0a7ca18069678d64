"""What commands say of a design beyond its source: of the very Verilog that was simulated and proved, and of no other."""

import json
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import rtl
from formal import evidence
from formal.evidence import committed
from golden import Implementation, Unit, instruction
from golden.unit_file import unit_from_table
from jobs.contents import made_of, operation_key, sealed, unit_key, verilog_digest
from mmau import cli, listing
from rtl.verilog import emit
from tests.mmau.units import TINY

VOLTA = ("sm_70", "mma.m8n8k4.f32.f16.f16.f32")

PROVED = "// Proved: for all inputs, 5 obligations of the steps align; assumed: a reset came first (z3, 2026-11-22)."

NOT_RECORDED = "Proved: not recorded for this Verilog."


def tiny() -> Unit:
    return unit_from_table(tomllib.loads(TINY))


def subject(unit: Unit, verilog: str) -> dict[str, object]:
    """The row of a proved datapath."""
    return {
        "name": unit.name, "operation": unit.operation.name, "kind": "datapath", "built": unit.implementation.encoding,
        "verdict": "proved", "obligations": 5, "steps": {"align": [5, 5]}, "solvers": ["z3"],
        "assumed": ["a reset came first"], "not_proved": [], "problem": "", "design": unit_key(unit),
        "arithmetic": operation_key(unit.operation), "verilog": verilog,
    }  # fmt: skip


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Outcomes in which the tiny unit and Volta's are proved, and Volta's simulated."""
    operation = instruction(*VOLTA).operation
    volta = Unit(name="volta", operation=operation, implementation=Implementation(encoding="sign-magnitude"))
    units = {tiny(): verilog_digest(rtl.to_verilog(tiny())), volta: "of-volta"}
    proofs = {"date": "2026-11-22", "made_of": made_of(evidence.SOURCES)}
    rows = [subject(unit, digest) for unit, digest in units.items()]
    run = {"operation": "T-FDPA", "design": unit_key(volta), "verilog": "of-volta", "vectors": 1500, "mismatches": 0}
    simulations = {"operations": {"T-FDPA": {"date": "2026-11-21 05:53 UTC"}}, "runs": [run | {"passed": True}]}
    for name, content in (("PROOFS", proofs | {"subjects": rows}), ("SIMULATIONS", simulations)):
        (tmp_path / name).write_text(sealed(content))
        monkeypatch.setattr(evidence, name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    committed.cache_clear()
    listing.known_of.cache_clear()
    yield
    committed.cache_clear()
    listing.known_of.cache_clear()


@pytest.mark.usefixtures("recorded")
def test_the_header_of_verilog_tells_of_that_verilog_and_its_circuit_is_the_same_text() -> None:
    Path("tiny.toml").write_text(TINY)
    assert cli.main(["rtl", "--unit", "tiny.toml", "-o", "other.v"]) == 0
    text, plain = Path("other.v").read_text(), rtl.to_verilog(tiny(), "other")
    assert f"// Simulated: not recorded for this Verilog.\n{PROVED}\n\n/*" in text
    assert text.replace(f"//\n// Simulated: not recorded for this Verilog.\n{PROVED}\n", "") == plain
    assert "Proved" not in plain
    Path("tiny.toml").write_text(TINY.replace("F = 9", "F = 8"))
    assert cli.main(["rtl", "--unit", "tiny.toml", "-o", "other.v"]) == 0
    assert f"// {NOT_RECORDED}\n" in Path("other.v").read_text()


@pytest.mark.usefixtures("recorded")
def test_verilog_that_a_changed_generator_writes_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a source had changed and nobody had noticed: the text tells."""
    Path("tiny.toml").write_text(TINY)
    sound = emit.modules
    monkeypatch.setattr(emit, "modules", lambda *given: sound(*given).replace(" & ", " | ", 1))
    assert cli.main(["rtl", "--unit", "tiny.toml", "-o", "unit.v"]) == 0
    assert f"// {NOT_RECORDED}\n" in Path("unit.v").read_text()


@pytest.mark.usefixtures("recorded")
def test_the_list_tells_of_the_datapaths_of_each_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "--arch", "sm_70"]) == 0
    heading, first, _, third = capsys.readouterr().out.splitlines()
    assert heading.split()[-2:] == ["simulated", "proved"]
    assert first.endswith("  1,500      1 of 1")
    assert third.endswith("  -          -")
    assert cli.main(["list", "--arch", "sm_70", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["instructions"]
    assert listed[0]["datapaths"] == [{
        "design": "volta",
        "built": "sign-magnitude",
        "simulated": {"vectors": 1500, "simulator": "Verilator", "date": "2026-11-21"},
        "proved": {"steps": {"align": 5}, "assumed": ["a reset came first"], "solvers": ["z3"], "date": "2026-11-22"},
    }]  # fmt: skip
    assert listed[2]["datapaths"] == []


@pytest.mark.usefixtures("recorded")
def test_the_list_says_nothing_where_other_sources_are_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = made_of(evidence.SOURCES)
    monkeypatch.setattr(evidence, "made_of", lambda sources: here | {"mmau": "9.9.9"})
    assert cli.main(["list", "--arch", "sm_70"]) == 0
    assert "1 of 1" not in capsys.readouterr().out
    assert cli.main(["list", "--arch", "sm_70", "--json"]) == 0
    why = json.loads(capsys.readouterr().out)["not_recorded"]
    assert why == {"PROOFS": "what was proved was made of other mmau"}


@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is not installed")
@pytest.mark.usefixtures("recorded")
def test_reports_of_a_co_simulation_tell_of_the_verilog_that_was_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tiny.toml").write_text(TINY)
    request = ["cosim", "--unit", "tiny.toml", "--sim", "icarus", "--vectors", "20"]
    assert cli.main([*request, "--html", "page.html"]) == 0
    said = capsys.readouterr().out
    assert "tiny: proved: 5 obligations; simulated: not recorded\nrecorded of this Verilog: 1 of 1 proved, 0 " in said
    assert PROVED.removeprefix("// ") in Path("page.html").read_text()
    own = ["--dut", "own.v", "--top", "own"]
    Path("own.v").write_text(rtl.to_verilog(tiny(), "own"))
    assert cli.main([*request, *own, "--html", "page.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reports"][0]["recorded"] is None
    assert "Proved" not in Path("page.html").read_text()


def test_a_unit_that_is_not_the_same_has_no_key_of_another() -> None:
    assert unit_key(replace(tiny(), implementation=Implementation(stages=2))) != unit_key(tiny())
