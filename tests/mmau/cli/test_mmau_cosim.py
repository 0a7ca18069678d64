"""`mmau cosim`: exit status, table, mismatch report, and one's own Verilog."""

import json
from pathlib import Path

import pytest

from cosim import Request
from mmau.cli import cosim as command
from mmau.cli import main
from mmau.cli.parser import parser
from mmau.cli.streams import progress
from tests.cosim.runner.reports import nothing_done
from tests.mmau.cli.unit_texts import TINY as UNIT

VOLTA = ["--arch", "sm_70", "--instr", "mma.m8n8k4.f32.f16.f16.f32"]


@pytest.fixture
def unit_file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(UNIT)
    return path


def run(*argv: object) -> int:
    return main.main(["cosim", *(str(argument) for argument in argv)])


def test_a_command_without_options_asks_for_the_defaults_of_a_request() -> None:
    asked = command.chosen_request(parser().parse_args(["cosim"]))
    assert asked == Request(progress=progress)


@pytest.mark.simulator
def test_agreeing_unit_ends_with_status_0_and_its_sums(unit_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--unit", unit_file, "--vectors", 500, "--seed", 7) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "seed 7; 500 sent, 500 received, queue empty; 1 of 1 units passed"
    assert "tiny: building with verilator" in captured.err


@pytest.mark.long
@pytest.mark.simulator
def test_tile_and_several_formats(unit_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*VOLTA, "--tile", "1x2", "--stages", 2, "--encoding", "twos-complement", "--vectors", 200) == 0
    assert "sm_70 mma.m8n8k4.f32.f16.f16.f32, 1x2 tile" in capsys.readouterr().out
    narrow = unit_file.with_name("narrow.toml")
    unit_file.write_text(UNIT.replace("e3m2", "e4m3"))
    narrow.write_text(
        UNIT.replace('"tiny"', '"tinier"').replace("L = 2", "L = 4").replace("e4m3", "e2m1").replace("e3m2", "e2m1")
    )
    assert run("--unit", unit_file, "--also", narrow, "--vectors", 400) == 0
    assert "tiny in 2 formats" in capsys.readouterr().out


@pytest.mark.core
@pytest.mark.simulator
def test_own_verilog_that_differs_ends_with_status_1(unit_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, verilog = unit_file.with_name("other.toml"), unit_file.with_name("other.v")
    other.write_text(UNIT.replace("F = 9", "F = 8"))
    assert main.main(["rtl", "--unit", str(other), "-o", str(verilog)]) == 0
    capsys.readouterr()
    assert run("--unit", unit_file, "--vectors", 2000, "--dut", verilog, "--top", "other", "--json") == 1
    result = json.loads(capsys.readouterr().out)
    report = result["reports"][0]
    assert not result["passed"]
    assert report["sent"] == report["received"] == 2000
    assert report["mismatches"] > 0
    assert "  got      fp16 0x" in report["first_mismatch"]
    assert "  expected fp16 0x" in report["first_mismatch"]


@pytest.mark.long
@pytest.mark.simulator
def test_own_verilog_under_other_port_names_and_a_waveform(
    unit_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = unit_file.parent
    monkeypatch.chdir(folder)
    assert main.main(["rtl", "--unit", str(unit_file), "-o", "inner.v"]) == 0
    Path("mine.v").write_text(
        "module mine(input [15:0] va, input [11:0] vb, input [15:0] acc, output [15:0] res);\n"
        "  inner i (.a(va), .b(vb), .c(acc), .d(res));\nendmodule\n"
    )
    Path("ports.toml").write_text('[ports]\na = "va"\nb = "vb"\nc = "acc"\nd = "res"\n')
    capsys.readouterr()
    argv = ["--unit", unit_file, "--vectors", 300, "--dut", "mine.v", "--dut", "inner.v", "--top", "mine"]
    assert run(*argv, "--ports", "ports.toml", "--waves") == 0
    assert "waveform: tiny.vcd" in capsys.readouterr().out
    assert Path("tiny.vcd").stat().st_size > 1000


def test_coverage_that_a_broken_off_simulation_did_not_leave_is_no_file(
    tmp_path: Path, unit_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mmau.cli.cosim.run", lambda *_, **__: nothing_done())
    info = tmp_path / "unit.info"
    assert run("--unit", unit_file, "--work", tmp_path / "work", "--rtl-coverage", info) == 1
    assert "no coverage of the RTL: the simulation ended before it wrote one" in capsys.readouterr().err
    assert not info.exists()


def test_missing_tool_is_named_before_anything_happens(
    unit_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(unit_file.parent))
    assert run("--unit", unit_file) == 2
    assert "needs g++, make, perl" in capsys.readouterr().err
