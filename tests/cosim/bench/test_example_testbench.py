"""examples/testbench, a user's testbench with cocotb's makefile: it passes a sound design and fails a broken one."""

import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from cocotb_tools.check_results import get_results

from tests.cosim.bench.user_builds import UNOPTIMISED, cached_runtime

EXAMPLE = Path(__file__).parents[3] / "examples" / "testbench"

pytestmark = pytest.mark.simulator


def made(folder: Path, old: str = "", new: str = "") -> tuple[int, int]:
    """`make` in a copy of the example, a piece of its design replaced: tests, and how many of them failed.

    The sound design is built as anybody would; the others take what is the same for each of them from the cache.
    """
    shutil.copytree(EXAMPLE, folder)
    design = folder / "scaled_dot.sv"
    assert old in design.read_text()
    design.write_text(design.read_text().replace(old, new, 1))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    if old:
        environment["MAKEFLAGS"] = UNOPTIMISED
    with cached_runtime(folder / "sim_build") if old else nullcontext():
        result = subprocess.run(["make"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    tests, failed = get_results(folder / "results.xml")
    assert (result.returncode != 0) == (failed > 0), result.stdout[-2000:] + result.stderr[-2000:]
    return tests, failed


@pytest.mark.long
def test_sound_design_passes(tmp_path: Path) -> None:
    assert made(tmp_path / "example") == (2, 0)


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        pytest.param("scaled >= 255", "scaled > 255", 2, id="overflow one late", marks=pytest.mark.long),
        pytest.param("10'(shift_q)", "10'({2'b0, shift_q})", 2, id="shift without its sign", marks=pytest.mark.long),
        pytest.param("if (!rst_n) {valid_q, valid_o} <= '0;\n    else ", "", 1, id="no reset", marks=pytest.mark.long),
        pytest.param("{valid_i, valid_q}", "{valid_i, valid_i}", 2, id="valid one early", marks=pytest.mark.long),
    ],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_wrong_design_fails(old: str, new: str, failed: int, tmp_path: Path) -> None:
    assert made(tmp_path / "example", old, new) == (2, failed)
