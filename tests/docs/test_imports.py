"""Imports go one way, as CONTRIBUTING.md says: no module imports what lies above it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import PACKAGES, ROOT

LAYERS = ("golden", "rtl", "cosim", "mmau")
"""Each may import those before it."""

RTL_LAYERS = ("arithmetic", "steps", "datapath", "operations", "designs", "verilog", "cost")
"""Within rtl likewise; `rtl` itself, which shows all of them, lies above."""

BESIDE = {"hwtests": {"golden", "hwtests"}, "benchmarks": {"golden", "benchmarks", "tests"}}
"""Packages that stand beside the layers, with all that they may import. A benchmark runs the peer as its tests do."""

MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, anywhere in it, in full; of `from package import module`, both."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def upward(path: Path, names: list[str]) -> list[str]:
    """Those of the imported modules that lie above the file's own."""
    package, *inner = path.relative_to(ROOT).parts
    below = PACKAGES if package == "mmau" else BESIDE.get(package) or LAYERS[: LAYERS.index(package) + 1]
    found = [name for name in names if name.split(".")[0] in {*PACKAGES, "tests"} - {*below}]
    if package == "rtl" and inner[0] in RTL_LAYERS:
        above = RTL_LAYERS[RTL_LAYERS.index(inner[0]) + 1 :]
        found += [name for name in names if name == "rtl" or name.startswith(tuple(f"rtl.{layer}." for layer in above))]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    assert upward(path, list(imported(path))) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("golden/steps.py", "rtl.steps.align"),
        ("rtl/steps/align.py", "rtl.datapath.base"),
        ("rtl/verilog/emit.py", "rtl.cost.flow"),
        ("rtl/designs/unit.py", "cosim"),
        ("rtl/designs/unit.py", "rtl.verilog.emit"),
        ("rtl/steps/align.py", "rtl"),
        ("cosim/__init__.py", "mmau.cli"),
        ("hwtests/tiles.py", "rtl.steps.align"),
    ],
)
def test_import_of_what_lies_above_is_noticed(path: str, name: str) -> None:
    assert upward(ROOT / path, [name]) == [name]
