"""`mmau probe --features`: devices under test side by side, and what is refused."""

import json
from pathlib import Path

import pytest

from golden.units.unit_file import unit_to_toml
from mmau.cli import main
from tests.mmau.probe.devices import TINY, unit

VOLTA = "sm_70:mma.m8n8k4.f32.f16.f16.f32"


def run(*argv: object) -> int:
    return main.main([str(argument) for argument in argv])


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
