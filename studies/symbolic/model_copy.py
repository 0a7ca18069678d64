"""Copies of golden's reference, loaded from its source text beside the one that this process uses.

A copy may be changed on the way, one syntax tree for each module: by a mutation, or so that it takes terms of a solver for
integers. A copy has its own classes, so its operations are made from the keys of golden's operations.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, MappingProxyType, ModuleType
from typing import Any

from golden import Operation

ROOT = Path(__file__).resolve().parents[2]

REFERENCE = (
    "golden.arithmetic.steps",
    "golden.arithmetic.specials",
    "golden.arithmetic.rounding",
    "golden.arithmetic.conversion",
    "golden.arithmetic.formats",
    "golden.operations",
)
"""The modules of the reference's step; what they import is copied with them."""

Change = Callable[[str, ast.Module], ast.Module]
"""Function from a module's name and syntax tree to the tree that is loaded, which is the same where nothing changes."""

Modules = dict[str, ModuleType]


def unchanged(name: str, tree: ast.Module) -> ast.Module:
    """Every module as it is."""
    return tree


def copied(
    change: Change = unchanged,
    names: Sequence[str] = REFERENCE,
    packages: Sequence[str] = ("golden",),
    given: Mapping[str, Any] = MappingProxyType({}),
) -> Modules:
    """A copy of modules and of all that they import from the same packages.

    Args:
        names: the names of the modules. packages: packages whose modules are copied; other modules are those of this
            process.
        given: name to value of globals that every copied module begins with; they may replace built-in functions.
    """
    with _apart(_Finder(change, packages, given), packages):
        for name in names:
            import_module(name)
        return {name: module for name, module in sys.modules.items() if _is_in(name, packages)}


def operation_in(modules: Modules, operation: Operation) -> Any:
    """The operation of a copy that has the same keys."""
    return modules["golden.operations"].OPERATIONS[operation.name](**operation.parameters())


def _is_in(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@contextmanager
def _apart(finder: "_Finder", packages: Sequence[str]) -> Iterator[None]:
    """Import modules of these packages anew, and forget them afterwards."""
    kept = {name: module for name, module in sys.modules.items() if _is_in(name, packages)}
    for name in kept:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_in(name, packages)]:
            del sys.modules[name]
        sys.modules.update(kept)


class _Finder(MetaPathFinder, Loader):
    """Finds and loads the modules of some packages from their changed source."""

    def __init__(self, change: Change, packages: Sequence[str], given: Mapping[str, Any]) -> None:
        self._change, self._packages, self._given = change, packages, given

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if not _is_in(name, self._packages):
            return None
        source = source_of(name)
        spec = spec_from_loader(name, self, origin=str(source), is_package=source.name == "__init__.py")
        if spec is not None and spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(str(source.parent))
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if name == "golden":  # its __init__ imports engines and the catalogue, which a step does without
            module.__getattr__ = _from_operations  # type: ignore[method-assign]
            return
        module.__file__ = str(source_of(name))  # of data beside a module
        vars(module).update(self._given)
        tree = tree_of(name)
        changed = self._change(name, tree)
        code = _code_of(name) if changed is tree else compile(changed, str(source_of(name)), "exec", dont_inherit=True)
        exec(code, module.__dict__)


def _from_operations(name: str) -> Any:
    return getattr(import_module("golden.operations"), name)


def source_of(name: str) -> Path:
    """The source file of a module of this project."""
    path = ROOT.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def tree_of(name: str) -> ast.Module:
    """The syntax tree of a module, which no change may alter in place."""
    return ast.parse(source_of(name).read_text(encoding="utf-8"))


@cache
def _code_of(name: str) -> CodeType:
    return compile(tree_of(name), str(source_of(name)), "exec", dont_inherit=True)
