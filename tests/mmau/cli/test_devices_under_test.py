"""`mmau probe --dut`, `--rtl` and `--device`: what is asked, and what does not go together."""

import json
from pathlib import Path

import pytest

import golden
from golden.stimulus import OperandShape
from golden.units.unit_file import unit_to_toml
from mmau.cli import main
from mmau.cli.simulated_devices import stand_in
from tests.hwtests.cpu.test_host_processor import HERE
from tests.mmau.probe.devices import TINY, unit

FOLDER = Path(__file__).parents[2] / "third_party"
FORMATS = '\n[formats]\na = "fp16"\nb = "fp16"\nc = "fp32"\nd = "fp32"\nK = 2\n'


def described(tmp_path: Path, formats: str = FORMATS) -> Path:
    """The design `simd` and its formats, in a file of its own beside the sources."""
    text = (FOLDER / "simd" / "dut.toml").read_text()
    for name in ("../lanes", "dot2_simd.sv"):
        text = text.replace(f'"{name}', f'"{FOLDER / "simd" / name}')
    path = tmp_path / "dut.toml"
    path.write_text(text + formats)
    return path


@pytest.mark.long
@pytest.mark.simulator
def test_somebodys_verilog_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = described(tmp_path), tmp_path / "found.toml"
    assert main.main(["probe", "--dut", str(path), "--vectors", "2000", "-o", str(output), "--json", "--tree"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["device_under_test"] == f"Verilog of dot2_simd of {path}"
    assert (found["operation"], found["keys"]["F"], found["keys"]["rho"]) == ("T-FDPA", 23, "RZ-FP32")
    assert found["order"]["tree"] == ["c", "p0", "p1"]
    assert golden.load_unit(output).operation.parameters()["L"] == 2


@pytest.mark.simulator
@pytest.mark.long
def test_a_bug_in_somebodys_verilog_is_a_key_of_what_it_computes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = described(tmp_path)
    path.write_text(path.read_text().replace("results = 2\n", "results = 2\ndefines = {BUG_SUBNORMALS_FLUSHED = 1}\n"))
    assert main.main(["probe", "--dut", str(path), "--vectors", "2000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["keys"]["flush_results"] is True


@pytest.mark.simulator
@pytest.mark.long
def test_generated_verilog_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "unit.toml"
    path.write_text(unit_to_toml(unit(TINY)))
    assert main.main(["probe", "--unit", str(path), "--rtl", "--vectors", "2000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["device_under_test"], found["operands"]["K"]) == ("Verilog of box", 2)
    assert (found["keys"]["F"], found["keys"]["sticky"]) == (9, True)


@pytest.mark.slow
@pytest.mark.skipif(not HERE, reason="this processor has no dot product of the catalogue")
def test_this_machines_instruction_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    instruction = next((i for i in HERE if i.m == 1), HERE[0])
    assert main.main(["probe", "--device", f"{instruction.arch}:{instruction.name}", "--vectors", "3000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["operation"] == instruction.operation.name


def test_a_stand_in_has_the_operands_of_a_design() -> None:
    shape = OperandShape.of_operation(TINY)
    assert OperandShape.of_operation(stand_in(shape).operation) == shape
    fp64 = golden.FORMATS["fp64"]
    with pytest.raises(ValueError, match="no operation takes operands and gives results of these formats in one step"):
        stand_in(OperandShape(a=fp64, b=fp64, c=shape.c, d=shape.d, K=2))
