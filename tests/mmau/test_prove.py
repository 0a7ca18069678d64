"""`mmau prove`: exit status and report."""

import json
from pathlib import Path

import pytest

import rtl
from formal.counterexample import golden_result
from formal.obligations import units
from formal.own_design import OwnDesign
from formal.specification import fused
from golden.unit_file import unit_to_toml
from mmau import prove
from mmau.cli import main
from tests.formal.obligations.test_units import FAULTS, faulty
from tests.formal.units import SMALL, unit_of, verilog_of


@pytest.fixture
def unit_file(tmp_path: Path) -> str:
    path = tmp_path / "unit.toml"
    path.write_text(unit_to_toml(unit_of(SMALL)), encoding="utf-8")
    return str(path)


def test_a_unit_that_is_proved(unit_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--unit", unit_file, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["not_proved"], found["problem"]) == ("proved", [], "")
    assert all(proved == count > 0 for proved, count in found["steps"].values())
    assert "accumulate" in found["steps"]


@pytest.mark.simulator
def test_a_unit_that_is_refuted_in_simulation_too(
    unit_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    verilog = faulty(verilog_of(SMALL), *FAULTS["a product of significands"])
    monkeypatch.setattr(rtl, "to_verilog", lambda unit, top: verilog)
    assert main(["prove", "--unit", unit_file, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    shown = found["counterexample"]
    assert shown["expected"] == golden_result(unit_of(SMALL), shown["inputs"]) != shown["got"]
    assert any("max_exp" in line for line in found["explanation"])


@pytest.mark.simulator
def test_a_fault_of_the_specification_is_no_counter_example(
    unit_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = fused.__dict__["align"]
    monkeypatch.setattr(fused, "align", lambda term, e_max, F, mode: sound(term, e_max, F, "RO"))
    assert main(["prove", "--unit", unit_file]) == 3
    told = capsys.readouterr().out
    assert told.startswith("unit, ones-complement: not decided\n")
    assert "give golden's result in simulation: the step's specification is wrong" in told


def test_a_step_that_is_refuted_where_no_operands_lead_is_not_decided(
    unit_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "vector", lambda *arguments: None)
    monkeypatch.setattr(prove, "_verdict", lambda question, end: "refuted")
    assert main(["prove", "--unit", unit_file]) == 3
    assert "no operands are found that lead to what refutes these steps" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        (OwnDesign("equal", assumed=("rst is not active",), decided=("zeros alone",), decided_by="bitwuzla"), 0, "proved equal to"),
        (OwnDesign("different", inputs={"a": 1}, got=2, expected=3, explanation=("a line",)), 1, "differs from"),
        (OwnDesign("not decided", "no solver finished in 1 s"), 3, "not decided whether equal to"),
    ],
)
def test_a_design_of_ones_own(
    unit_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    found: OwnDesign, status: int, said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(prove, "compare_own", lambda unit, dut, seconds: found)
    (tmp_path / "mine.sv").touch()
    dut = tmp_path / "dut.toml"
    dut.write_text('top = "mine"\nsources = ["mine.sv"]\n', encoding="utf-8")
    assert main(["prove", "--unit", unit_file, "--dut", str(dut)]) == status
    told = capsys.readouterr().out
    assert told.startswith(f"{dut}: {said} {found.equal_to} of unit\n")
    for line in (*(f"where {rule}" for rule in found.assumed), *found.decided, found.reason, *found.explanation):
        assert line in told
    assert main(["prove", "--unit", unit_file, "--dut", str(dut), "--json"]) == status
    table = json.loads(capsys.readouterr().out)
    assert (table["equal_to"], table["problem"], table["decided"]) == (found.equal_to, found.reason, list(found.decided))


def test_an_operation_that_has_no_specification(
    unit_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "SPECIFICATIONS", {})
    assert main(["prove", "--unit", unit_file]) == 3
    told = "unit, ones-complement: not decided\n  there is no specification of T-FDPA yet\n"
    assert capsys.readouterr().out == told


def test_wrong_requests(unit_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove"]) == 2
    assert main(["prove", "--unit", unit_file, "--seconds", "0"]) == 2
    path = tmp_path / "pipelined.toml"
    path.write_text(Path(unit_file).read_text().replace("stages = 0", "stages = 2"), encoding="utf-8")
    assert main(["prove", "--unit", str(path)]) == 2
    rule = "mmau prove: name one combinational unit: --unit UNIT.toml with stages = 0, or --arch and --instr"
    assert capsys.readouterr().err.splitlines() == [rule, "mmau prove: --seconds must be above 0, got 0", rule]
