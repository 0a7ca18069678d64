"""`--program` in the commands: a program is probed, compared, conformed and told apart; one that dies loses nothing."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from golden.recordings.npz import read_npz
from mmau.cli import main
from tests.golden.program.programs import AFTER

ROOT = Path(__file__).resolve().parents[3]
IDPA = f"{sys.executable} {ROOT / 'examples/program/idpa.py'}"
FORMATS = "a=int8 b=int8 c=int32 d=int32 K=4"


def program(kind: str) -> str:
    return f"env PYTHONPATH={ROOT} {sys.executable} -m tests.golden.program.programs '{kind}'"


def run(*argv: object) -> int:
    return main.main([str(argument) for argument in argv])


@pytest.mark.slow
def test_program_is_probed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("probe", "--program", IDPA, "--formats", FORMATS, "--vectors", 2000, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["operation"], found["keys"]["overflow"]) == ("IDPA", "wrap")


@pytest.mark.slow
@pytest.mark.attack("programs that answer rows")
def test_program_that_dies_loses_no_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = tmp_path / "state.npz"
    assert run("probe", "--program", program("dies"), "--formats", FORMATS, "--vectors", 2000, "--state", state) == 1
    assert f"answered {AFTER} of " in capsys.readouterr().out
    rows = read_npz(state, ("a", "b", "c", "d", "header"))
    assert len(rows["d"]) == AFTER
    assert np.array_equal(rows["c"], rows["d"])
    assert run("probe", "--program", program("dies"), "--formats", FORMATS, "--vectors", 2000, "--state", state) == 1
    assert len(read_npz(state, ("a", "b", "c", "d", "header"))["d"]) > AFTER  # the next run went on from there


@pytest.mark.slow
@pytest.mark.attack("programs that answer rows")
@pytest.mark.parametrize(("kind", "says"), [("changes its mind", "dependent: row"), ("dies", "failed: the program")])
def test_conform_reports_a_program_that_misbehaves(
    kind: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    of = ("--arch", "aarch64", "--instr", "bfdot", "--vectors", 30_000, "--report", report)
    assert run("conform", *of, "--program", program(kind)) == 1
    assert f"bfdot: {says}" in capsys.readouterr().out
    assert json.loads(report.read_text())["agreed"] is False


@pytest.mark.slow
@pytest.mark.attack("programs that answer rows")
def test_program_that_rounds_by_lot_is_called_so_by_its_first_answers(capsys: pytest.CaptureFixture[str]) -> None:
    formats = "a=fp16 b=fp16 c=fp32 d=fp32 K=4"
    assert run("probe", "--program", program("rounds by lot"), "--formats", formats, "--vectors", 2000, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert "must give the same result whenever it is asked" in found["stopped"]
    assert found["two_answers"]["d"] ^ found["two_answers"]["d_again"] == 1
    assert (found["operation"], found["vectors"] < 100) == (None, True)


@pytest.mark.slow
def test_compare_and_distinguish_take_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = ("--a=1,2", "--b=3,4", "--c=5", "--on", "x86-amx")
    assert run("compare", *numbers, "--program", IDPA, "--formats", FORMATS, "--json") == 0
    assert json.loads(capsys.readouterr().out)["program"] == {"name": IDPA, "value": "16.0"}
    assert run("distinguish", "x86-avx512:vpdpbusds", "--program", program("honest"), "--vectors", 100, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["y"]["d"] == found["input"]["c"] != found["x"]["d"]
