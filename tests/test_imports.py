"""Imports go one way, as CONTRIBUTING.md says, and no modules import each other in a ring."""

from functools import cache
from pathlib import Path

import pytest

from tests.docs.documents import PACKAGES, ROOT
from tests.import_rules import Imports, Rules

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RULES = Rules.read(CONTRIBUTING)

BENCH_ABOVE = (
    "cosim.build",
    "cosim.lint",
    "cosim.runner",
    "cosim.regressions",
    "cosim.dut",
    "cosim.volume",
    "rtl.verilog",
    "rtl.cost",
)
"""Packages that `cosim.bench` does not need, so that it serves in a testbench of a user."""

BY_A_NAME_FROM_ELSEWHERE = {
    "mmau.jobs.task": "the work of a task, which names its module",
    "studies.symbolic.model_copy": "modules of golden and of the specification, which its caller names",
    "mmau.cli.main": "the module of a command, which the parser names",
    "studies.site.generated_pages": "the modules of the API reference, which its table names",
}
"""Modules that import what their text does not say, and what that is."""

CATALOGUE_WRITER = frozenset({"golden.native.catalogue_table"})
"""The program that writes the C++ catalogue from the Python one; nothing imports it, so it closes no ring of modules."""


@cache
def imports() -> Imports:
    """Those of the project."""
    return Imports.of(ROOT, (*PACKAGES, "examples"))


def test_imports_go_one_way() -> None:
    assert len(imports().names) > 500
    assert imports().violations(RULES) == []


def test_no_modules_import_each_other_in_a_ring() -> None:
    assert imports().ring() is None


def test_no_subpackages_import_each_other_in_a_ring() -> None:
    assert imports().ring_of_parts(CATALOGUE_WRITER) is None
    assert imports().ring_of_parts(frozenset()) is not None, "the exception is needed no more"
    assert not [module for module in imports().names if CATALOGUE_WRITER & imports().modules(module)]


def test_bench_does_without_the_compiler_and_the_runner() -> None:
    bench = [module for module in imports().names if module.startswith("cosim.bench")]
    assert bench
    assert not [(module, name) for module in bench for name in imports().modules(module) if name.startswith(BENCH_ABOVE)]


def test_names_from_elsewhere_are_known() -> None:
    assert imports().unknown == set(BY_A_NAME_FROM_ELSEWHERE)


def test_rules_are_those_of_every_package() -> None:
    """The table has a row for each folder of mmau, and no row for what is not there."""
    folders = {f"mmau.{path.parent.name}" for path in (ROOT / "mmau").glob("*/__init__.py")}
    modules = {"mmau.__main__", "mmau.signals"}
    assert set(RULES.allowed) == {*PACKAGES, "examples", "tests", *modules, *folders}
    assert set(RULES.orders["rtl"]) == {path.parent.name for path in (ROOT / "rtl").glob("*/__init__.py")}
    assert {"golden", "rtl", "cosim", "hwtests"} & set().union(*(RULES.allowed[p] for p in ("golden", "mmau"))) == set()
    for package in ("golden", "rtl", "cosim", "hwtests"):
        assert not [name for name in RULES.allowed[package] if name.startswith(("mmau", "studies", "everything"))]
    assert [package for package, names in RULES.allowed.items() if {"studies", "everything"} & names] == ["tests"]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("golden.steps", "rtl.steps.align"),
        ("golden.files", "mmau.jobs.store"),
        ("rtl.steps.align", "rtl.datapath.base"),
        ("rtl.verilog.emit", "rtl.cost.flow"),
        ("rtl.designs.unit", "cosim"),
        ("rtl.designs.unit", "rtl.verilog.emit"),
        ("rtl.steps.align", "rtl"),
        ("rtl.tools", "mmau"),
        ("cosim", "mmau.cli.main"),
        ("cosim.bench.driver", "hwtests.device"),
        ("hwtests.device", "rtl.steps.align"),
        ("hwtests.device", "mmau.jobs.store"),
        ("mmau.jobs.store", "rtl.tools"),
        ("mmau.jobs.store", "mmau.report.page"),
        ("mmau.report.page", "mmau.jobs.store"),
        ("mmau.formal.design_proof", "mmau.mutation.unit_work"),
        ("mmau.probe.loop", "cosim.runner.run"),
        ("mmau.probe.loop", "mmau.analysis.risks"),
        ("mmau.analysis.risks", "mmau.explore.run.point_work"),
        ("mmau.explore.run.point_work", "mmau.cli.options"),
        ("mmau.explore.run.point_work", "mmau.__main__"),
        ("mmau.cli.main", "studies.area.designs"),
        ("mmau.report.page", "tests.docs.documents"),
        ("studies.coverage_table", "tests.golden.rows"),
        ("examples.accumulation", "studies.area.designs"),
    ],
)
def test_import_of_what_lies_above_is_noticed(module: str, name: str) -> None:
    assert not RULES.allow(module, name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("rtl.verilog.emit", "rtl.designs.unit"),
        ("rtl.steps.align", "rtl.tools"),
        ("mmau.cli.main", "mmau"),
        ("mmau.explore.run.point_work", "mmau.formal.design_proof"),
        ("studies.proofs.tasks", "mmau.cli.parser"),
        ("golden.formats", "numpy"),
        ("golden.formats", "rtlib"),
    ],
)
def test_import_of_what_lies_below_is_allowed(module: str, name: str) -> None:
    assert RULES.allow(module, name)


def project(root: Path, **files: str) -> Imports:
    """A small project: file a__b is a/b.py, with what is written there."""
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Imports.of(root, ("golden", "rtl", "mmau", "other"))


WAYS = {
    "at the top": "import {package}.{module}",
    "from its package": "from {package} import {module}",
    "from the module": "from {package}.{module} import x",
    "under another name": "import {package}.{module} as y",
    "in a function": "def f():\n    from {package} import {module}",
    "for a type": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {package}.{module} import x",
    "by name": "from importlib import import_module\nimport_module('{package}.{module}')",
    "by name, in full": "import importlib\nimportlib.import_module('{package}.{module}')",
    "by a beginning": "from importlib import import_module\nimport_module(f'{package}.{module}{{x}}')",
    "by a package": "from importlib import import_module\nimport_module(f'{package}.{{x}}')",
    "as a builtin": "__import__('{package}.{module}')",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_planted_import_from_above_is_found(way: str, tmp_path: Path) -> None:
    planted = project(tmp_path, rtl__above="x = 1", golden__below=way.format(package="rtl", module="above"))
    (violation,) = planted.violations(RULES)
    assert violation.startswith("golden.below imports rtl")


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_planted_ring_of_modules_is_found(way: str, tmp_path: Path) -> None:
    one, other = way.format(package="golden", module="one"), "from golden.one import x"
    planted = project(tmp_path, golden__one=other.replace("one", "other"), golden__other=one)
    assert planted.violations(RULES) == []
    assert set(planted.ring() or ()) == {"golden.one", "golden.other"}
    assert project(tmp_path, golden__other="x = 1").ring() is None


def test_ring_through_a_package_is_found(tmp_path: Path) -> None:
    offers = "def __getattr__(name):\n    return import_module(f'{__name__}.{name}')"
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden/__init__.py").write_text(offers)
    planted = project(tmp_path, golden__one="from golden import x")
    assert set(planted.ring() or ()) == {"golden", "golden.one"}


def test_ring_of_subpackages_alone_is_found(tmp_path: Path) -> None:
    files = {"golden__a__one": "import golden.b.one", "golden__b__other": "import golden.a.other"}
    planted = project(tmp_path, golden__a__other="", golden__b__one="", **files)
    assert planted.ring() is None
    assert set(planted.ring_of_parts(frozenset()) or ()) == {"golden.a", "golden.b"}
    assert planted.ring_of_parts(frozenset({"golden.b.other"})) is None


def test_layers_of_a_package_are_held(tmp_path: Path) -> None:
    planted = project(
        tmp_path, rtl__steps__one="import rtl.cost.flow", rtl__cost__flow="import rtl.steps.two", rtl__steps__two=""
    )
    assert planted.violations(RULES) == ["rtl.steps.one imports rtl.cost.flow"]


def test_package_without_a_rule_is_found(tmp_path: Path) -> None:
    assert project(tmp_path, other__one="").violations(RULES) == ["other.one: no rule says what it may import"]
    planted = project(tmp_path, mmau__new__one="import mmau.cli.main", mmau__cli__main="")
    assert "mmau.new.one imports mmau.cli.main" in planted.violations(RULES)


def test_name_from_elsewhere_and_relative_import_are_found(tmp_path: Path) -> None:
    assert project(tmp_path, golden__one="import_module(name)").unknown == {"golden.one"}
    with pytest.raises(ValueError, match=r"one.py:1: imports must name their package, got a relative one$"):
        project(tmp_path, golden__one="from . import two")


def test_rules_must_be_written_down() -> None:
    with pytest.raises(ValueError, match=r"^a table must say what each package imports"):
        Rules.read(CONTRIBUTING.replace("| package |", "| folder |"))
