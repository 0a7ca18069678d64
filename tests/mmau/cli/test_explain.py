"""`mmau eval --explain`: which row, in which form, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import golden
from mmau.cli import main

VOLTA = ("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
BY_NAME = ["--arch", VOLTA[0], "--instr", VOLTA[1]]
A = np.array([[1, 2, 3, 4], [-8192, -0.5, -0.25, -0.125]], np.float16)
B = np.array([[1, 1, 1, 1], [1024, 1, 1, 1]], np.float16)
C = np.array([0.5, 8388608], np.float32)


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    np.savez(tmp_path / "v.npz", a=A, b=B, c=C)
    return tmp_path / "v.npz"


def explain(*argv: object) -> int:
    return main.main(["eval", "--explain", *(str(argument) for argument in argv)])


def test_text_of_a_row(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(*BY_NAME, "--input", vectors, "--row", 1) == 0
    assert capsys.readouterr().out == golden.instruction(*VOLTA).explain(A[1], B[1], C[1]).text()


def test_json_of_a_row_holds_the_engines_result(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(*BY_NAME, "--input", vectors, "--row", 0, "--json") == 0
    trace = json.loads(capsys.readouterr().out)
    volta = golden.instruction(*VOLTA)
    assert trace["d"] == int(volta.dot(A, B, C)[0].view(np.uint32))
    assert trace == {"schema": "mmau.explain/1"} | json.loads(json.dumps(volta.explain(A[0], B[0], C[0]).as_dict()))
    assert [part["part"] for part in trace["steps"][0]["parts"]] == ["sum", "rounding"]


def test_html_is_written_and_named(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "trace.html"
    assert explain(*BY_NAME, "--input", vectors, "--row", 1, "--html", target) == 0
    assert capsys.readouterr().out == f"sm_70 {VOLTA[1]}: d = fp32 0x0, explained in {target}\n"
    assert "set by a[0]·b[0], c" in target.read_text(encoding="utf-8")


def test_html_to_stdout(vectors: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert explain(*BY_NAME, "--input", vectors, "--row", 1, "--html", "-") == 0
    assert capsysbinary.readouterr().out.endswith(b"</html>\n")


def test_name_of_a_unit_is_escaped(vectors: Path, tmp_path: Path) -> None:
    unit, target = tmp_path / "u.toml", tmp_path / "t.html"
    keys = 'operation = "E-FDPA"\nL = 4\na = "fp16"\nb = "fp16"\nc = "fp32"\n'
    unit.write_text(f'name = "<script>alert(1)</script>"\n{keys}')
    assert explain("--unit", unit, "--input", vectors, "--row", 0, "--html", target) == 0
    assert "<script" not in target.read_text(encoding="utf-8")


def test_one_row_needs_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "v.npz", a=A[0], b=B[0], c=C[0])
    assert explain(*BY_NAME, "--input", tmp_path / "v.npz") == 0
    assert "e_max = 2, set by a[3]·b[3]" in capsys.readouterr().out
