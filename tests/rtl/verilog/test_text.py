"""The Verilog text of each kind of top: the same in every process, and clean in Icarus Verilog."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from golden import Implementation, Unit
from golden.operations import GSTFDPA, GTRFDPA
from rtl import MultiFormatDesign, TileDesign, UnitDesign, to_verilog
from tests.rtl.designs.test_multi_format import units
from tests.rtl.designs.test_tile import small


def unit_text() -> str:
    operation = GTRFDPA(a="e4m3fnuz", b="e5m2fnuz", c="fp32", L=4, F=24, F2=31)  # type: ignore[arg-type]
    return to_verilog(UnitDesign(Unit(name="grouped", operation=operation, implementation=Implementation(stages=3))))


def scaled_unit_text() -> str:
    keys = {"a": "e2m1", "b": "e2m1", "c": "fp32", "L": 4, "G": 2, "K_block": 2, "scale": "ue4m3"}
    operation = GSTFDPA(**keys, F=35, rho="RZ-FP32", e_zero=-139)  # type: ignore[arg-type]
    return to_verilog(UnitDesign(Unit(name="scaled", operation=operation)))


def multi_format_text() -> str:
    return to_verilog(MultiFormatDesign(tuple(units(stages=2))))


def tile_text() -> str:
    return to_verilog(TileDesign(small("sm_70", "mma.m8n8k4.f32.f16.f16.f32", 1, 2), Implementation(stages=1)), "tile")


TEXTS: list[Callable[[], str]] = [unit_text, scaled_unit_text, multi_format_text, tile_text]


def printed(hash_seed: str) -> str:
    """All the texts, from a process of its own whose sets and dicts of strings hash by that seed."""
    root = Path(__file__).parents[3]
    script = "from tests.rtl.verilog.test_text import TEXTS\nfor text in TEXTS: print(text())"
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=root, capture_output=True, text=True, check=True
    )
    return result.stdout


@pytest.mark.long
def test_text_is_the_same_whatever_the_hash_seed() -> None:
    first, second = printed("1"), printed("2")
    assert first.count("endmodule") > len(TEXTS)
    assert first == second


@pytest.mark.slow
@pytest.mark.needs("icarus")
@pytest.mark.parametrize("text", TEXTS)
def test_icarus_has_nothing_to_say_with_all_warnings_on(text: Callable[[], str], tmp_path: Path) -> None:
    path = tmp_path / "top.v"
    path.write_text(text())
    command = ["iverilog", "-g2005", "-Wall", "-t", "null", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
