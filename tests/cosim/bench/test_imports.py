"""The bench does not import the runner: users' testbenches need only the bench."""

import subprocess
import sys
from pathlib import Path

import pytest

import cosim.bench
from cosim.bench.run_vectors import exercise


@pytest.mark.slow
def test_bench_needs_neither_runner_nor_regressions() -> None:
    modules = [path.stem for path in Path(str(cosim.bench.__file__)).parent.glob("*.py") if path.stem != "__init__"]
    assert {"handshake", "scoreboard", "stimulus", "coverage"} <= set(modules)
    program = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module('cosim.bench.' + name)\n"
        "assert not [name for name in sys.modules if name.startswith(('cosim.runner', 'cosim.regressions'))]\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_everything_that_cosim_offers_is_there() -> None:
    for name in cosim.__all__:
        assert getattr(cosim, name) is not None
    assert exercise.__doc__ is not None
