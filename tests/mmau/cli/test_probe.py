"""`mmau probe` and `mmau distinguish`: exit statuses, what is printed and written, and what a solver says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import golden
from golden.stimulus import Operands
from golden.units.unit_file import unit_to_toml
from mmau.cli import distinguish, main
from mmau.cli.devices_under_test import chosen_device
from mmau.cli.distinguish import proved
from mmau.cli.parser import parser
from mmau.probe.distinguish import differs, sides
from tests.mmau.cli.wrong_request import wrong
from tests.mmau.probe.devices import TINY, unit

HOPPER = "sm_90:mma.m16n8k8.f32.f16.f16.f32"
AMPERE = "sm_80:mma.m16n8k8.f32.f16.f16.f32"


@pytest.fixture
def dut(tmp_path: Path) -> Path:
    path = tmp_path / "box.toml"
    path.write_text(unit_to_toml(unit(TINY)))
    return path


DUT = """
top = "top"
sources = ["top.sv"]
include = ["."]
[formats]
a = "fp16"
b = "fp16"
c = "fp32"
d = "fp32"
K = 2
"""

TOP = """
module top(input logic [31:0] a, input logic [31:0] b, input logic [31:0] c, output logic [31:0] d);
  logic [31:0] table_ [1];
  initial $readmemh("rom.hex", table_);
  `include "below.svh"
endmodule
"""


def run(*argv: object) -> int:
    return main.main([str(argument) for argument in argv])


@pytest.mark.slow
def test_a_unit_is_found_and_written(dut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, state = tmp_path / "found.toml", tmp_path / "state.npz"
    assert run("probe", "--unit", dut, "--vectors", 3000, "-o", output, "--state", state) == 0
    text = capsys.readouterr().out
    assert "found       T-FDPA" in text
    assert "F = 9" in text
    assert golden.load_unit(output).operation.parameters()["F"] == 9
    assert run("probe", "--unit", dut, "--vectors", 3000, "--json", "--state", state) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["explained"] is True
    assert found["keys"]["sticky"] is True
    assert found["vectors"] == 2 * 24  # all but the rows asked again for the same answers came from the state


@pytest.mark.slow
@pytest.mark.attack("answers of something that has changed since")
def test_state_of_a_unit_that_has_changed_is_refused(dut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A unit of the same name and shape that truncates elsewhere: what its predecessor answered says nothing of it."""
    state = tmp_path / "state.npz"
    assert run("probe", "--unit", dut, "--vectors", 600, "--state", state) == 0
    capsys.readouterr()
    dut.write_text(unit_to_toml(unit(TINY.changed(F=8))))
    message = wrong(capsys, "probe", "--unit", dut, "--vectors", 600, "--state", state)
    assert message.endswith("its design, unit, program, device or driver has changed since; name another file")


@pytest.mark.simulator
@pytest.mark.attack("answers of something that has changed since")
def test_state_of_verilog_is_bound_to_all_that_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A design of one name: with another file in an include folder, and with another table that it reads when it runs."""
    found: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cosim.volume.answers.build_program", lambda sources, folder: folder / "program")
    for name, text in {"dut.toml": DUT, "top.sv": TOP, "below.svh": "assign d = c ^ table_[0];", "rom.hex": "0"}.items():
        Path(name).write_text(text)
    arguments = parser().parse_args(["probe", "--dut", "dut.toml"])
    for name, text in (("rom.hex", "0"), ("rom.hex", "0"), ("rom.hex", "1"), ("below.svh", "assign d = ~c ^ table_[0];")):
        Path(name).write_text(text)
        with chosen_device(arguments) as answering:
            found.append(answering.identity)
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_what_is_not_explained_ends_with_1(dut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "found.toml"
    assert run("probe", "--unit", dut, "--vectors", 3000, "--seconds", 0, "-o", output) == 1
    captured = capsys.readouterr()
    assert "used up its limit of 0 s" in captured.err
    assert "stopped     box has answered 0 vectors" in captured.out
    assert not output.exists()


@pytest.mark.slow
def test_a_difference_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("distinguish", HOPPER, AMPERE) == 1
    text = capsys.readouterr().out
    assert text.startswith(
        "parameters that differ:\n   F = 25 in x, 24 in y: makes the difference: x with y's value gives y's result\n"
    )
    assert "\nx  sm_90 mma.m16n8k8.f32.f16.f16.f32: fp32 " in text
    assert "they first differ in" in text
    assert run("distinguish", HOPPER, AMPERE, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["x"]["d"] != found["y"]["d"]
    assert len(found["input"]["a"]) == 8


@pytest.mark.slow
def test_equal_units_and_units_that_are_not_distinguished(
    dut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("distinguish", dut, dut) == 0
    assert capsys.readouterr().out == "equal: both have the same steps with the same keys\n"
    low, lower = tmp_path / "low.toml", tmp_path / "lower.toml"
    low.write_text(unit_to_toml(unit(TINY.changed(e_zero=-200))))
    lower.write_text(unit_to_toml(unit(TINY.changed(e_zero=-300))))
    monkeypatch.setattr(distinguish, "proved", lambda x, y, seconds: f"no solver finished in {seconds:g} s")
    assert run("distinguish", low, lower, "--vectors", 2000, "--prove", 3) == 3
    said = capsys.readouterr().out
    assert said.startswith("no difference found in ")
    assert said.endswith("\nnot proved: no solver finished in 3 s\n")

    def lacks(*given: object, **named: object) -> None:
        raise ModuleNotFoundError("No module named 'bitwuzla'", name="bitwuzla")

    monkeypatch.setattr(distinguish, "proved", lacks)
    assert run("distinguish", low, lower, "--vectors", 2000) == 3
    assert "not proved: needs the package bitwuzla, which is not installed" in capsys.readouterr().out


@pytest.mark.slow
def test_what_no_unit_file_can_say_is_reported_and_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "found.toml"
    command = ("probe", "--arch", "aarch64", "--instr", "bfdot", "--vectors", 1000, "-o", output)
    assert run(*command) == 2
    captured = capsys.readouterr()
    assert "found       FMA in pairs" in captured.out
    assert captured.err.splitlines()[-1].startswith("mmau probe: a unit file cannot describe FMA in pairs")
    assert not output.exists()


VOLTA = "sm_70:mma.m8n8k4.f32.f16.f16.f32"


def test_devices_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, html = tmp_path / "box.toml", tmp_path / "features.html"
    path.write_text(unit_to_toml(unit(TINY)))
    assert run("probe", "--features", VOLTA, path) == 0
    assert "T_3_bits_fin_rnd" in capsys.readouterr().out
    assert run("probe", "--features", "--unit", path, "--json") == 0
    (only,) = json.loads(capsys.readouterr().out)["boxes"]
    assert only["name"] == "box"
    assert run("probe", "--features", VOLTA, "--html", html) == 0
    assert capsys.readouterr().out == f"1 devices under test: {html}\n"
    assert html.read_text().startswith("<!DOCTYPE html>")


def written(path: Path, operation: golden.Operation) -> str:
    path.write_text(unit_to_toml(unit(operation)))
    return str(path)


@pytest.mark.slow
def test_a_solver_says_equal_of_what_no_input_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the exponents of all terms an e_zero never counts."""
    low = written(tmp_path / "low.toml", TINY.changed(e_zero=-200))
    lower = written(tmp_path / "lower.toml", TINY.changed(e_zero=-300))
    assert main.main(["distinguish", low, lower, "--vectors", "500", "--prove", "60"]) == 0
    assert capsys.readouterr().out.startswith("equal: the specifications are proved equal for every input; ")


@pytest.mark.slow
def test_a_solver_gives_an_input_on_which_the_models_differ() -> None:
    both = sides(unit(TINY), unit(TINY.changed(sticky=False)))
    x, y = (replace(side, shape=replace(side.shape, K=TINY.length)) for side in both)
    row = proved(x, y, 60)
    assert isinstance(row, Operands)
    assert differs(x, y, row).all()
