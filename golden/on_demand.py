"""Public names of a package that are imported when they are first asked for, and alone listed by `dir`."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def on_demand(
    package: str, modules: Mapping[str, str], public: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Functions for a package's `__getattr__` and `__dir__` (PEP 562).

    Args:
        package: the package's name.
        modules: public name to the module of the package that defines it, such as "products.tiled"; "" for a name that is
            itself a module of the package.
        public: the names that `dir` lists.
    """

    def __getattr__(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not modules[name]:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    def __dir__() -> list[str]:
        return list(public)

    return __getattr__, __dir__
