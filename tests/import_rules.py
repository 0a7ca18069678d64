"""Which module imports which, and the rules for that, which CONTRIBUTING.md states in a table.

An import counts wherever it stands: at the top of a module, in a function, under `TYPE_CHECKING`, and by name, as the
argument of `import_module`: a string, or an f-string up to its first part that is not known, which stands for every module
that begins so.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

EVERYTHING = "everything"
"""In the table: any package of the project."""

IMPORTERS = ("import_module", "__import__")


@dataclass(frozen=True)
class Rules:
    """The permitted imports.

    Attributes:
        allowed: for each package, those that it may import besides itself; "a" allows "a.b".
        orders: for a package with layers, its layers, each of which may import those before it.
    """

    allowed: Mapping[str, frozenset[str]]
    orders: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, text: str) -> "Rules":
        """From the table whose first heading is `package`, and from lines `Within x: a < b < c`."""
        table = re.search(r"^\| package \|.*\n\| --- .*\n((?:\|.*\n)+)", text, re.MULTILINE)
        if table is None:
            raise ValueError("a table must say what each package imports; there is none that begins with | package |")
        allowed: dict[str, frozenset[str]] = {}
        for line in table[1].splitlines():
            packages, imports = line.strip("| ").split("|")
            named = {EVERYTHING} if EVERYTHING in imports else set(re.findall(r"`([\w.]+)`", imports))
            allowed |= {package: frozenset(named) for package in re.findall(r"`([\w.]+)`", packages)}
        orders = re.findall(r"Within `(\w+)`:\s+((?:`\w+`\s+<\s+)+`\w+`)", text)
        return cls(allowed, {package: tuple(re.findall(r"`(\w+)`", layers)) for package, layers in orders})

    def package_of(self, module: str) -> str | None:
        """The package of the table that holds a module, the innermost; None where it is of another project."""
        found = [package for package in self.allowed if _within(module, package)]
        return max(found, key=len, default=None)

    def allow(self, module: str, other: str) -> bool:
        """Whether one module may import another."""
        package, wanted = self.package_of(module), self.package_of(other)
        if package is None or wanted is None:
            return wanted is None
        allowed = self.allowed[package]
        if package != wanted:
            return EVERYTHING in allowed or any(_within(other, each) for each in allowed)
        layers = self.orders.get(package, ())
        layer, layer_wanted = (_layer(name, package) for name in (module, other))
        if layer not in layers:
            return True
        return other != package and (layer_wanted not in layers or layers.index(layer_wanted) <= layers.index(layer))


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _layer(module: str, package: str) -> str:
    return module.removeprefix(package).lstrip(".").split(".")[0]


@dataclass(frozen=True)
class Imports:
    """The modules of a project, each with the names that it imports.

    Attributes:
        names: as they are written: modules, and what is taken from modules. begun: beginnings of names that are put together
            when they are imported. unknown: modules that import what their text does not say.
    """

    names: Mapping[str, frozenset[str]]
    begun: Mapping[str, frozenset[str]]
    unknown: frozenset[str]

    @classmethod
    def of(cls, root: Path, folders: tuple[str, ...]) -> "Imports":
        """Of every Python file below some folders of a project."""
        names, begun, unknown = dict[str, frozenset[str]](), dict[str, frozenset[str]](), set[str]()
        for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
            module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            calls = [node for node in nodes if isinstance(node, ast.Call) and _imports(node)]
            by_name = [_named(call, module) for call in calls]
            names[module] = frozenset(_written(nodes, path)) | {name for name, whole in by_name if whole}
            begun[module] = frozenset(name for name, whole in by_name if name and not whole)
            unknown |= {module for name, _ in by_name if not name}
        return cls(names, begun, frozenset(unknown))

    def modules(self, module: str) -> set[str]:
        """The modules of the project that a module imports."""
        found = {known for name in self.names[module] if (known := self._known(name)) is not None}
        return (found | {other for other in self.names for start in self.begun[module] if other.startswith(start)}) - {
            module
        }

    def _known(self, name: str) -> str | None:
        """The module of the project that an imported name is, or is taken from."""
        return name if name in self.names else parent if (parent := name.rpartition(".")[0]) in self.names else None

    def violations(self, rules: Rules) -> list[str]:
        """Every import that the rules do not allow, and modules that they do not know."""
        found = [f"{module}: no rule says what it may import" for module in self.names if rules.package_of(module) is None]
        for module in self.names:
            wanted = {*self.names[module], *self.begun[module]}
            found += [f"{module} imports {name}" for name in sorted(wanted) if not rules.allow(module, name)]
        return found

    def ring(self) -> list[str] | None:
        """Modules that import each other in a ring, the first and the last the same; None where there are none."""
        return ring({module: self.modules(module) for module in self.names})

    def ring_of_parts(self, apart: frozenset[str]) -> list[str] | None:
        """The same of subpackages: the first two names of each module.

        Args:
            apart: modules that are taken for parts of their own.
        """
        graph: dict[str, set[str]] = {}
        for module in self.names:
            part = _part(module, apart)
            others = {_part(other, apart) for other in self.modules(module)}
            graph.setdefault(part, set()).update(other for other in others - {part} if "." in other and "." in part)
        return ring(graph)


def ring(graph: Mapping[str, set[str]]) -> list[str] | None:
    """A ring of a graph."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def _part(module: str, apart: frozenset[str]) -> str:
    return module if module in apart else ".".join(module.split(".")[:2])


def _written(nodes: Iterable[ast.AST], path: Path) -> Iterator[str]:
    """The names of import statements, in full."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise ValueError(f"{path}:{node.lineno}: imports must name their package, got a relative one")
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _imports(call: ast.Call) -> bool:
    """Whether a call imports by name."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return called in IMPORTERS


def _named(call: ast.Call, module: str) -> tuple[str, bool]:
    """The modules that a call imports, and whether that is the whole name; empty where its text leaves it open."""
    argument = call.args[0] if call.args else ast.Constant("")
    parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    name = ""
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            name += part.value
        elif isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__name__":
            name += module
        else:
            return name, False
    return name, True
