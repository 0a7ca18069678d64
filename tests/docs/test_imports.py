"""Imports go one way, as CONTRIBUTING.md says: no module imports what lies above it, and no packages import each other."""

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.docs.documents import PACKAGES, ROOT

LAYERS = ("golden", "jobs", "rtl", "cosim", "formal", "mmau")
"""Each may import those before it."""

RTL_LAYERS = ("arithmetic", "steps", "datapath", "operations", "designs", "verilog", "cost")
"""Within rtl likewise; `rtl` itself, which shows all of them, lies above."""

BESIDE = {
    "hwtests": {"golden", "jobs", "hwtests"},
    "probe": {"golden", "probe"},
    "analysis": {"golden", "analysis"},
    "explore": {*PACKAGES} - {"mmau", "benchmarks"},
    "benchmarks": {"golden", "jobs", "benchmarks", "tests"},
}
"""Packages that stand beside the layers, or above all but the command line, with all that they may import. A benchmark runs
the peer as its tests do."""

BENCH_ABOVE = ("cosim.compile", "cosim.runner", "cosim.regressions", "cosim.dut", "cosim.volume", "rtl.verilog", "rtl.cost")
"""What `cosim.bench` does without, so that it serves in a testbench of one's own."""

NOT_AT_LOAD = {
    "golden.native.catalogue": ("golden.catalogue", "golden.instruction"),
    "golden.format_checks": ("golden.format",),
}
"""Imports that would close a ring of subpackages and close none of modules: of the program that writes the C++ catalogue,
which nobody imports, and of a type alone."""

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
    if package == "cosim" and inner[0] == "bench":
        found += [name for name in names if name.startswith(BENCH_ABOVE)]
    return found


def part_of(module: str) -> str | None:
    """The subpackage of a module, or the module itself where it lies in none; None for a whole package, and for all else."""
    package, *inner = module.split(".")
    if package not in PACKAGES or not inner:
        return None
    folder = ROOT / package / inner[0]
    return f"{package}.{inner[0]}" if folder.is_dir() or folder.with_suffix(".py").is_file() else None


def imports_of_parts(modules: Iterable[tuple[str, list[str]]]) -> dict[str, set[str]]:
    """Which subpackages each subpackage imports, from modules and what they import."""
    graph: dict[str, set[str]] = {}
    for module, names in modules:
        part = part_of(module)
        if part is not None:
            graph.setdefault(part, set()).update({other for name in names if (other := part_of(name))} - {part})
    return graph


def cycle(graph: dict[str, set[str]]) -> list[str] | None:
    """Subpackages that import each other in a ring, the first and the last the same; None where there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def named(path: Path) -> str:
    """A file's module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def all_imports() -> list[tuple[str, list[str]]]:
    """Each module and what it imports, but for `NOT_AT_LOAD`."""
    found = []
    for path in MODULES:
        left_out = NOT_AT_LOAD.get(named(path), ())
        found.append((named(path), [name for name in imported(path) if part_of(name) not in left_out]))
    return found


def test_subpackages_import_each_other_in_no_ring() -> None:
    assert cycle(imports_of_parts(all_imports())) is None


@pytest.mark.parametrize("module", NOT_AT_LOAD)
def test_exceptions_are_needed(module: str) -> None:
    path = ROOT / f"{module.replace('.', '/')}.py"
    assert cycle(imports_of_parts([*all_imports(), (module, list(imported(path)))])) is not None


def test_ring_of_imports_is_noticed() -> None:
    probe = ("hwtests.nvidia.probe", ["hwtests.conform.check"])
    ring = cycle(imports_of_parts([*all_imports(), probe]))
    assert {"hwtests.nvidia", "hwtests.conform"} <= set(ring or ())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    assert upward(path, list(imported(path))) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("golden/steps.py", "rtl.steps.align"),
        ("golden/files.py", "jobs.store"),
        ("jobs/store.py", "rtl.tools"),
        ("rtl/steps/align.py", "rtl.datapath.base"),
        ("rtl/verilog/emit.py", "rtl.cost.flow"),
        ("rtl/designs/unit.py", "cosim"),
        ("rtl/designs/unit.py", "rtl.verilog.emit"),
        ("rtl/steps/align.py", "rtl"),
        ("cosim/bench/scoreboard.py", "cosim.runner.report"),
        ("cosim/bench/stimulus.py", "rtl.verilog.emit"),
        ("cosim/__init__.py", "mmau.cli"),
        ("hwtests/device.py", "rtl.steps.align"),
    ],
)
def test_import_of_what_lies_above_is_noticed(path: str, name: str) -> None:
    assert upward(ROOT / path, [name]) == [name]
