"""`mmau prove`: exit status and report."""

import json
from pathlib import Path

import pytest

from formal.obligations import units
from formal.specification import fused
from golden.unit_file import unit_to_toml
from mmau.cli import main
from tests.formal.units import SMALL, unit_of


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


def test_a_unit_that_is_refuted(unit_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    sound = fused.__dict__["align"]
    monkeypatch.setattr(fused, "align", lambda term, e_max, F, mode: sound(term, e_max, F, "RO"))
    assert main(["prove", "--unit", unit_file]) == 1
    assert capsys.readouterr().out.startswith("unit, ones-complement: refuted\n")


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
