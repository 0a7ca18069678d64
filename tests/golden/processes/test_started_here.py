"""All code of the project that starts a process does so by `golden.processes`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import PACKAGES, ROOT

STARTERS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
    | {f"spawn{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")},
    "pty": {"fork", "spawn"},
    "concurrent.futures": {"ProcessPoolExecutor"},
}
"""Functions and classes that start a process, by their module. `os.exec…` starts none: it goes on in the same."""

MODULES = ("multiprocessing", "asyncio.subprocess", "concurrent.futures.process")
"""Modules that are there to start processes."""


def started(root: Path, packages: tuple[str, ...]) -> Iterator[str]:
    """The places where a process is started without golden.processes, as `file:line: what`."""
    for path in sorted(path for package in packages for path in (root / package).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith("golden/processes/"):
            for line, what in _starts(ast.parse(path.read_text(encoding="utf-8"))):
                yield f"{name}:{line}: {what}"


def _starts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Uses of a module's starters, whatever the module is called, and imports of starters and of `MODULES`."""
    called: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            called |= {each.asname or each.name: each.name for each in node.names}
            yield from ((node.lineno, each.name) for each in node.names if each.name.startswith(MODULES))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                name = f"{node.module}.{each.name}"
                called[each.asname or each.name] = name
                if name.startswith(MODULES) or each.name in STARTERS.get(node.module, ()):
                    yield node.lineno, name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = called.get(ast.unparse(node.value), "")
            if node.attr in STARTERS.get(module, ()):
                yield node.lineno, f"{module}.{node.attr}"
            elif node.attr in ("create_subprocess_exec", "create_subprocess_shell"):
                yield node.lineno, node.attr


@pytest.mark.slow
def test_processes_are_started_by_golden_processes_alone() -> None:
    assert list(started(ROOT, (*PACKAGES, "examples"))) == []
    assert list(_starts(ast.parse((ROOT / "golden/processes/child.py").read_text(encoding="utf-8"))))


@pytest.mark.attack("a process that is started elsewhere")
@pytest.mark.parametrize(
    "line",
    [
        "import subprocess\nsubprocess.run(['git'])",
        "import subprocess as s\ndef f():\n    return s.check_output('git')",
        "from subprocess import Popen",
        "def f():\n    import os\n    os.system('git')",
        "import os\nrun = os.popen",
        "import multiprocessing",
        "from multiprocessing import Pool",
        "import multiprocessing.pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "import asyncio\nasyncio.create_subprocess_exec('git')",
        "from concurrent import futures\nfutures.ProcessPoolExecutor()",
    ],
)
def test_process_that_is_started_elsewhere_is_noticed(line: str, tmp_path: Path) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/one.py").write_text(line)
    assert list(started(tmp_path, ("studies",)))


@pytest.mark.parametrize("line", ["import subprocess\nerror = subprocess.TimeoutExpired", "import os\nos.execv('a', ['a'])"])
def test_what_starts_no_process_is_allowed(line: str, tmp_path: Path) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/one.py").write_text(line)
    assert list(started(tmp_path, ("studies",))) == []
