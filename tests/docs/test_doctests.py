"""The examples in docstrings run and give what they show."""

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.documents import PACKAGES, ROOT


def modules() -> list[object]:
    """The modules with an example, as test parameters; those of cosim run a simulator."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if ">>> " in path.read_text()]
    return [
        pytest.param(module, marks=pytest.mark.simulator) if module.startswith("cosim") else module
        for module in (module_name(path) for path in paths)
    ]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@pytest.mark.parametrize("module", modules())
def test_examples_in_docstrings(module: str) -> None:
    imported = importlib.import_module(module)
    assert skipped_examples(imported) == []
    failed, attempted = doctest.testmod(imported)
    assert attempted > 0
    assert failed == 0


def skipped_examples(module: ModuleType) -> list[str]:
    """The examples, in any docstring of a module, that doctest would not run."""
    found = doctest.DocTestFinder().find(module)
    return [
        f"{test.name}: {example.source}" for test in found for example in test.examples if doctest.SKIP in example.options
    ]
