"""`mmau probe` and `mmau distinguish`: exit statuses, what is printed and written, and what is refused."""

import json
from pathlib import Path

import pytest

import golden
from golden.unit_file import unit_to_toml
from mmau import cli, distinguish
from tests.mmau.wrong_request import wrong
from tests.probe.boxes import TINY, unit

HOPPER = "sm_90:mma.m16n8k8.f32.f16.f16.f32"
AMPERE = "sm_80:mma.m16n8k8.f32.f16.f16.f32"


@pytest.fixture
def box(tmp_path: Path) -> Path:
    path = tmp_path / "box.toml"
    path.write_text(unit_to_toml(unit(TINY)))
    return path


def run(*argv: object) -> int:
    return cli.main([str(argument) for argument in argv])


def test_a_unit_is_found_and_written(box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, state = tmp_path / "found.toml", tmp_path / "state.npz"
    assert run("probe", "--unit", box, "--vectors", 3000, "-o", output, "--state", state) == 0
    text = capsys.readouterr().out
    assert "found       T-FDPA" in text
    assert "F = 9" in text
    assert golden.load_unit(output).operation.parameters()["F"] == 9
    assert run("probe", "--unit", box, "--vectors", 3000, "--json", "--state", state) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["explained"] is True
    assert found["keys"]["sticky"] is True
    assert found["vectors"] == 2 * 24  # all but the rows asked again for the same answers came from the state


def test_what_is_not_explained_ends_with_1(box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "found.toml"
    assert run("probe", "--unit", box, "--vectors", 3000, "--seconds", 0, "-o", output) == 1
    captured = capsys.readouterr()
    assert "which uses up the 0 s it was given" in captured.err
    assert "stopped     box has answered 0 vectors" in captured.out
    assert not output.exists()


def test_wrong_requests(box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    which = "mmau probe: say what to probe: --arch with --instr, --unit, --dut, --device, or --recording"
    assert wrong(capsys, "probe") == which
    assert wrong(capsys, "probe", "--arch", "sm_90") == which
    assert wrong(capsys, "probe", "--arch", "sm_90", "--instr", "x", "--unit", box) == which
    assert wrong(capsys, "probe", "--unit", box, "--vectors", 0) == (
        "mmau probe: vectors must be at least 1 and seed at least 0, got 0 and 0"
    )
    assert wrong(capsys, "probe", "--arch", "sm_90", "--instr", HOPPER[6:], "-K", 8) == (
        "mmau probe: -K goes with --unit; an instruction has its own"
    )
    assert wrong(capsys, "probe", "--unit", box, "--state", "-").startswith("mmau probe: --state must name a file")
    assert wrong(capsys, "probe", "--unit", box, "-o", "-", "--json").startswith("mmau probe: --json and -o -")
    assert "must be another file than the input" in wrong(capsys, "probe", "--unit", box, "-o", box)


def test_a_difference_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("distinguish", HOPPER, AMPERE) == 1
    text = capsys.readouterr().out
    assert text.startswith("x  sm_90 mma.m16n8k8.f32.f16.f16.f32: fp32 ")
    assert "they part in" in text
    assert run("distinguish", HOPPER, AMPERE, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["x"]["d"] != found["y"]["d"]
    assert len(found["input"]["a"]) == 8


def test_equal_and_not_told_apart(
    box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("distinguish", box, box) == 0
    assert capsys.readouterr().out == "equal: both are the same steps with the same keys\n"
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


def test_distinguish_refuses_what_takes_other_operands(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(capsys, "distinguish", box, HOPPER) == (
        "mmau distinguish: a must be the same for both, to give them the same inputs; got e4m3 and fp16"
    )
    assert wrong(capsys, "distinguish", HOPPER, HOPPER, "--vectors", 0).startswith("mmau distinguish: vectors must be")


def test_what_no_unit_file_can_say_is_reported_and_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "found.toml"
    command = ("probe", "--arch", "aarch64", "--instr", "bfdot", "--vectors", 1000, "-o", output)
    assert run(*command) == 2
    captured = capsys.readouterr()
    assert "found       FMA in pairs" in captured.out
    assert captured.err.splitlines()[-1].startswith("mmau probe: no unit file can say FMA in pairs")
    assert not output.exists()
