"""A machine that one has for minutes: golden, hwtests, `mmau conform` and `mmau probe --device` do with NumPy, ml_dtypes and
CuPy, although everything else is hidden from them and from the processes that they start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.hwtests.cpu.test_host_processor import HERE

HIDING = """
import sys

PROJECT = {"golden", "rtl", "cosim", "hwtests", "mmau", "studies", "tests"}
SEEN = {"numpy", "ml_dtypes", "cupy", *PROJECT, *sys.stdlib_module_names}

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in SEEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""
"""Python imports it, as `sitecustomize`, whenever it starts."""

IMPORT_ALL = """
import importlib, pkgutil, sys

for package in ("golden", "hwtests", "studies.lent_minutes", "studies.microbenchmarks"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if module.name != "golden.native._mmau":
            importlib.import_module(module.name)
            print(module.name)
above = [name for name in sys.modules if name.partition(".")[0] in ("rtl", "cosim", "mmau")]
assert set(above) <= {"mmau", "mmau.report", "mmau.report.figures"}, above
"""
"""Imports every module but the native library; `studies` draw by `mmau.report.figures`, which loads matplotlib only then."""

HONEST = f"{sys.executable} -m tests.golden.program.programs honest"


@pytest.fixture
def bare(tmp_path: Path) -> "Bare":
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    return Bare(tmp_path)


class Bare:
    """Runs Python where all else is hidden."""

    def __init__(self, folder: Path) -> None:
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), str(ROOT)))}

    def run(self, *words: object) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, *map(str, words)]
        return subprocess.run(command, cwd=ROOT, env=self._environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_module_is_imported(bare: Bare) -> None:
    done = bare.run("-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    assert {"hwtests.conform.campaign_worker", "studies.microbenchmarks.run"} <= set(done.stdout.split())


def test_the_rest_is_hidden(bare: Bare) -> None:
    done = bare.run("-c", "import pytest")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "ModuleNotFoundError: No module named 'pytest'")


@pytest.mark.slow
def test_conform_runs_its_worker(bare: Bare, tmp_path: Path) -> None:
    """On a program, whose answers are c: the campaign comes to its end, and says that they are wrong."""
    of = ("--arch", "aarch64", "--instr", "bfdot", "--vectors", 10_000, "--report", tmp_path / "report.json")
    done = bare.run("-m", "mmau", "conform", *of, "--program", HONEST)
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].endswith(", done")


@pytest.mark.slow
@pytest.mark.skipif(not HERE, reason="this processor has no dot product of the catalogue")
def test_probe_of_a_device_finds_its_operation(bare: Bare) -> None:
    instruction = next((i for i in HERE if i.m == 1), HERE[0])
    done = bare.run("-m", "mmau", "probe", "--device", f"{instruction.arch}:{instruction.name}", "--vectors", 3000)
    assert done.returncode == 0, done.stderr
    assert instruction.operation.name in done.stdout


@pytest.mark.slow
def test_probe_of_a_gpu_needs_no_simulator(bare: Bare) -> None:
    """A model stands in for the GPU here."""
    probe = ("-m", "mmau", "probe", "--arch", "sm_90", "--instr", "mma.m16n8k4.f64.f64.f64.f64", "--vectors", 100)
    done = bare.run(*probe)
    assert (done.returncode, done.stderr.count("Error")) == (0, 0), done.stderr
    done = bare.run(*probe, "--rtl")
    assert done.returncode == 2
    assert "which is not installed; install it with: pip install 'mmau[cosim]'" in done.stderr
