"""Optional tools: `.ci/bare` hides those that are installed, and tests name them by their marker alone."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from golden.native.library import MODULE
from tests.optional_tools import TOOLS, why_missing

ROOT = Path(__file__).parents[1]

LOOK = """
import ctypes, importlib.util, shutil
from rtl.cost.library_files import files_of
from rtl.tools import MissingTool
def there(name):
    try:
        return bool(files_of(name))
    except MissingTool:
        return False
def loads(path):
    try:
        return bool(ctypes.CDLL(path))
    except OSError:
        return False
print(*(shutil.which(name) is not None for name in ("iverilog", "sta", "cmake", "g++", "make")))
print(*(importlib.util.find_spec(name) is not None for name in ("ziglang", "nvidia", "numpy")))
print(there("osu018"), loads("./libnvrtc.so.13"), loads("./libother.so"))
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with tools of every kind; what each would do does not matter here."""
    for name in ("iverilog", "sta", "cmake"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    for name in ("ziglang", "nvidia"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    cells = tmp_path / "qflow" / "tech" / "osu018"
    cells.mkdir(parents=True)
    (cells / "osu018_stdcells.lib").touch()
    native = find_spec(MODULE)
    assert native is not None
    assert native.origin is not None
    for name in ("libnvrtc.so.13", "libother.so"):
        shutil.copy(native.origin, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("command", "found"),
    [
        ([], ["True True True True True", "True True True", "True True True"]),
        ([ROOT / ".ci" / "bare"], ["False False False True True", "False False True", "False False True"]),
    ],
    ids=["as it is", "bare"],
)
def test_what_is_installed_is_hidden(command: list[Path], found: list[str]) -> None:
    done = subprocess.run([*command, sys.executable, "-c", LOOK], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.splitlines()) == (0, found), done.stderr


@pytest.mark.slow
def test_status_of_the_command_is_that_of_bare() -> None:
    assert subprocess.run([ROOT / ".ci" / "bare", "sh", "-c", "exit 3"], check=False, timeout=60).returncode == 3


@pytest.mark.slow
def test_pytest_starts_under_bare() -> None:
    """Its import hook calls what `.ci/bare` replaces."""
    pytest_itself = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", __file__]
    command = [str(ROOT / ".ci" / "bare"), *pytest_itself]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", [name for name in TOOLS if TOOLS[name].programs])
def test_a_tool_is_missing_without_one_of_its_programs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for program in TOOLS[name].programs:
        assert program in why_missing.__wrapped__(name)
        (tmp_path / program).touch(0o755)
    assert why_missing.__wrapped__(name) == ""


@pytest.mark.slow
def test_tool_that_comes_while_tests_run_fails_none(tmp_path: Path) -> None:
    """A test that uses cmake, beside one that does not: it is not there when they are collected, and both fail."""
    (tmp_path / "conftest.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.conftest import pytest_itemcollected, pytest_runtest_makereport\n"
    )
    (tmp_path / "test_them.py").write_text(
        "import os, pytest\n"
        "@pytest.mark.uses('cmake')\n"
        "def test_that_uses_it():\n    open('cmake', 'w').close(); os.chmod('cmake', 0o755); assert False\n"
        "def test_that_does_not():\n    assert False\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", ".", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert "1 failed, 1 skipped" in done.stdout, done.stdout + done.stderr
