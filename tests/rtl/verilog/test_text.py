"""The Verilog text of each kind of top: the same in every process and with every Python and Yosys, and clean in Icarus."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from golden import Implementation, Unit
from golden.operations import GSTFDPA, GTRFDPA
from mmau.jobs.provenance import ROOT, sources
from rtl import MultiFormatDesign, TileDesign, UnitDesign, to_verilog
from rtl.verilog.emit import in_order_of_names, with_signs_in_top_bits
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
    script = "from tests.rtl.verilog.test_text import TEXTS\nfor text in TEXTS: print(text())"
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
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


PART = r"""module \part
  wire width 8 \x
  cell $not $1
    connect \A \a [3:0]
    connect \Y \x [5:2]
  end
  cell $not $2
    connect \A { \x [5] \x [5:4] \y [5] }
    connect \Y \z [5:0]
  end
  connect \x [7:6] { \x [5] \x [5] }
  connect \y [5] \a [3]
end
"""


def test_a_sign_is_driven_in_the_top_bit() -> None:
    assert (
        with_signs_in_top_bits(PART)
        == r"""module \part
  wire width 8 \x
  cell $not $1
    connect \A \a [3:0]
    connect \Y { \x [7] \x [4] \x [3] \x [2] }
  end
  cell $not $2
    connect \A { { \x [7] } { \x [7] \x [4] } \y [5] }
    connect \Y \z [5:0]
  end
  connect \x [6:5] { \x [7] \x [7] }
  connect \y [5] \a [3]
end
"""
    )


def test_signs_of_another_module_stay() -> None:
    other = PART.replace("part", "other").replace("\\x [7:6] { \\x [5] \\x [5] }", "\\x [7:6] { \\b [5] \\b [5] }")
    assert with_signs_in_top_bits(PART + other) == with_signs_in_top_bits(PART) + other
    assert with_signs_in_top_bits(other) == other


@pytest.mark.parametrize("copies", [r"\x [7:6] { \x [4] \x [4] }", r"\x [7:6] { \x [5] \x [4] }", r"\x [4] \x [5]"])
def test_other_copies_stay(copies: str) -> None:
    text = PART.replace(r"\x [7:6] { \x [5] \x [5] }", copies)
    assert with_signs_in_top_bits(text) == text


def test_declarations_come_by_name() -> None:
    b, a, others = "  input [3:0] b;\n  wire [3:0] b;\n", "  output a;\n  reg a;\n  wire \\a$1 ;\n", "  wire [1:0] \\$2 ;\n"
    begins, ends = "module part(b, a);\n", "  assign a = b[0];\nendmodule\n"
    assert in_order_of_names(f"{begins}{b}{a}{others}{ends}") == f"{begins}{others}{a}{b}{ends}"


def unnamed(text: str) -> list[int]:
    """Lines that assign a Signal without a name to one of several names."""
    return [
        value.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
        for value in node.value.elts
        if isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "Signal"
        and not any(keyword.arg == "name" for keyword in value.keywords)
    ]


@pytest.mark.slow
def test_no_signal_is_assigned_beside_another() -> None:
    """Amaranth reads names from bytecode, and Pythons differ in theirs where several names are assigned at once."""
    found = {
        path.relative_to(ROOT).as_posix(): unnamed(path.read_text(encoding="utf-8")) for path in sources(("rtl/**/*.py",))
    }
    assert {name: lines for name, lines in found.items() if lines} == {}
