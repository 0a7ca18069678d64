"""`mmau compare`."""

import json
from pathlib import Path

import numpy as np
import pytest

from mmau.cli.main import main

NUMBERS = ["--a=-2^13,-0.5,-0.25,-0.125", "--b=2^10,1,1,1", "--c=2^23"]


def test_numbers_and_codes_give_the_same_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *NUMBERS, "--on", "Volta", "--on", "sm_75", "--json"]) == 0
    from_numbers = json.loads(capsys.readouterr().out)
    a, b = np.zeros((2, 4), np.float16), np.zeros((2, 4), np.float16)
    a[1], b[1] = [-(2.0**13), -0.5, -0.25, -0.125], [2.0**10, 1, 1, 1]
    np.savez(tmp_path / "v.npz", a=a, b=b, c=np.full(2, 2.0**23, np.float32))
    codes = ["--arch", "sm_70", "--instr", "mma.m8n8k4.f32.f16.f16.f32", "--input", str(tmp_path / "v.npz"), "--row", "1"]
    assert main(["compare", *codes, "--on", "Volta", "--on", "sm_75", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == from_numbers
    assert [(r["arch"], r["value"]) for r in from_numbers["results"]] == [
        ("sm_70", "0.0"),
        ("sm_75", "-0.5"),
        ("sm_75", "0.0"),
    ]


def test_page_is_written_beside_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *NUMBERS, "--on", "sm_70", "--html", str(tmp_path / "page.html"), "--traces"]) == 0
    out = capsys.readouterr().out
    assert "max_exp      e_max = 23" in out
    assert out.endswith(f"every step of each: {tmp_path / 'page.html'}\n")
    assert "a[3]·b[3]" in (tmp_path / "page.html").read_text(encoding="utf-8")
