"""The public Python names, a line each, and which changes of them break a caller."""

import ast
import inspect
from collections.abc import Iterator, Sequence
from enum import Enum
from importlib import import_module
from typing import Any

MODULES = ("golden", "rtl", "cosim", "cosim.bench", "hwtests.device", "mmau.testing")
"""The modules whose public names are promised."""

PACKAGES = ("golden", "rtl", "cosim", "hwtests", "mmau")


def lines() -> list[str]:
    """`golden.gemm(model, a, b, c=None, *, order=None)`, `golden.Format.bias`: every public name as it is today."""
    return [line for module in MODULES for line in _of_module(module)]


def broken(promised: Sequence[str], today: Sequence[str]) -> list[str]:
    """The promised lines that today's names do not keep, each with the reason."""
    found = {_name(line): line for line in today}
    kept = [(line, _reason(line, found.get(_name(line)))) for line in promised]
    return [f"{line}: {reason}" for line, reason in kept if reason]


def _of_module(module: str) -> Iterator[str]:
    members = vars(import_module(module))
    names = members.get("__all__") or [name for name, value in members.items() if _is_own_class(value, module)]
    for name in sorted(names):
        value = getattr(import_module(module), name)
        yield from _of_value(f"{module}.{name}", value)


def _is_own_class(value: Any, module: str) -> bool:
    return inspect.isclass(value) and value.__module__ == module and not value.__name__.startswith("_")


def _of_value(name: str, value: Any) -> Iterator[str]:
    if inspect.isfunction(value):
        yield name + _signature(value)
    elif inspect.isclass(value):
        yield name + (_signature(value) if _is_made_by_callers(value) else "")
        for member in sorted(_members(value)):
            found = inspect.getattr_static(value, member, None)
            plain = found.__func__ if isinstance(found, staticmethod | classmethod) else found
            yield f"{name}.{member}" + (_signature(getattr(value, member)) if inspect.isfunction(plain) else "")
    else:
        yield name


def _is_made_by_callers(value: type) -> bool:
    return not issubclass(value, Enum) and ("__init__" in vars(value) or "__new__" in vars(value))


def _members(value: type) -> set[str]:
    """Public attributes of a class and of the project's classes that it derives from."""
    own = [each for each in value.__mro__ if each.__module__.partition(".")[0] in PACKAGES]
    return {name for each in own for name in (*vars(each), *vars(each).get("__annotations__", {})) if name[0] != "_"}


def _signature(value: Any) -> str:
    """Parameters with their defaults, which are `...` where they are no literal; without types."""
    parameters = [
        each.replace(annotation=each.empty, default=each.default if each.default is each.empty else _literal(each.default))
        for each in inspect.signature(value).parameters.values()
    ]
    return str(inspect.Signature(parameters)).replace("Ellipsis", "...")


def _literal(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | bytes | None) or value == () else ...


def _name(line: str) -> str:
    return line.partition("(")[0]


def _reason(promised: str, today: str | None) -> str:
    """Why a line breaks its promise; empty where it keeps it."""
    if today is None:
        return "is gone"
    if "(" not in promised or promised == today:
        return ""
    if "(" not in today:
        return "can no longer be called so"
    old, new = _arguments(promised), _arguments(today)
    if (old.vararg and not new.vararg) or (old.kwarg and not new.kwarg):
        return "takes no more arguments of any number or name"
    for kind in ("positional", "named"):
        for place, (name, default) in enumerate(_parameters(old, kind)):
            there = dict(_parameters(new, "positional") + (_parameters(new, "named") if kind == "named" else []))
            if name not in there or (kind == "positional" and _parameters(new, kind)[place][0] != name):
                return f"the parameter {name} is gone or has moved"
            if default is not None and there[name] != default:
                return f"the default of {name} is {there[name] or 'gone'}, was {default}"
    known = {name for kind in ("positional", "named") for name, _ in _parameters(old, kind)}
    added = [name for kind in ("positional", "named") for name, default in _parameters(new, kind) if default is None]
    return "".join(f"the parameter {name} is new and has no default" for name in added if name not in known)


def _arguments(line: str) -> ast.arguments:
    """The parameters of a line. Those before `/` are positional too."""
    function = ast.parse(f"def f({line.partition('(')[2]}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    return function.args


def _parameters(arguments: ast.arguments, kind: str) -> list[tuple[str, str | None]]:
    """Name and default of the positional parameters, or of those that are given by name alone."""
    if kind == "named":
        return [
            (each.arg, None if default is None else ast.unparse(default))
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        ]
    every = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(every) - len(arguments.defaults)) + [ast.unparse(each) for each in arguments.defaults]
    return [(each.arg, default) for each, default in zip(every, defaults, strict=True)]
