"""Golden's step as a term of its operands: its own Python, executed on symbolic integers.

A copy of golden's source is loaded in which what Python does not leave to the operands is a call: `is`, `in`, a set, and
some built-in functions; every function returns what all its runs give together. Nothing else of the source changes, and on
plain integers the copy computes what golden computes.
"""

import ast
import builtins
import copy
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from golden import Operation
from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.specification.numbers import Flag, Number, any_of
from studies.symbolic.decisions import collected
from studies.symbolic.model_copy import Change, Modules, copied, operation_in, unchanged
from studies.symbolic.symbolic_integers import SymbolicInt, condition, number_of
from studies.symbolic.symbolic_values import Choice, SymbolicSet, largest, merged

LIBRARY = "_symbolic"
"""The name under which a copy finds the functions of this module."""


def is_same(left: Any, right: Any) -> Any:
    """Compute `left is right`."""
    if isinstance(left, Choice):
        return left.is_(right)
    return left is right


def is_not_same(left: Any, right: Any) -> Any:
    """Compute `left is not right`."""
    return negated(is_same(left, right))


def negated(value: Any) -> Any:
    """`not value`, without a decision."""
    return condition(~value.flag) if isinstance(value, SymbolicInt) else not value


def is_in(item: Any, container: Any) -> Any:
    """Compute `item in container`."""
    if isinstance(container, SymbolicSet):
        return container.has(item)
    if isinstance(container, tuple | list):
        return any_true(item == each for each in container)
    return item in container


def set_of(items: Iterable[Any], element: Callable[[Any], Any], *conditions: Callable[[Any], Any]) -> Any:
    """Compute a set comprehension."""
    members: dict[Any, list[Flag]] = {}
    known = set()
    for item in items:
        for flag, value in item.alternatives if isinstance(item, Choice) else [(None, item)]:
            if all(holds(value) for holds in conditions):
                (members.setdefault(element(value), []).append(flag) if flag is not None else known.add(element(value)))
    if not members:
        return known
    flags = {value: any_of(found) for value, found in members.items()}
    sample = next(iter(flags.values()))
    return SymbolicSet(flags | dict.fromkeys(known, sample | ~sample))


def any_true(items: Iterable[Any]) -> Any:
    """Compute `any(items)` without a decision."""
    flags = []
    for item in items:
        if isinstance(item, SymbolicInt):
            flags.append(item.flag)
        elif item:
            return True
    return condition(any_of(flags)) if flags else False


def all_true(items: Iterable[Any]) -> Any:
    """Compute `all(items)` without a decision."""
    return negated(any_true(negated(item) for item in items))


def length_of(items: Any) -> Any:
    """Compute `len(items)`."""
    return items.size() if isinstance(items, SymbolicSet) else len(items)


def maximum(*items: Any) -> Any:
    """Compute `max(*items)`."""
    return largest(items[0] if len(items) == 1 else items)


def minimum(*items: Any) -> Any:
    """Compute `min(*items)`."""
    return largest(items[0] if len(items) == 1 else items, less=True)


def type_of(*items: Any) -> Any:
    """`type`: a symbolic integer is an integer."""
    return int if len(items) == 1 and isinstance(items[0], SymbolicInt) else builtins.type(*items)


def integer_of(value: Any) -> Any:
    """Compute `int(value)`."""
    return value if isinstance(value, SymbolicInt) else int(value)


BUILTINS = {
    "int": integer_of,
    "any": any_true,
    "all": all_true,
    "len": length_of,
    "max": maximum,
    "min": minimum,
    "type": type_of,
}

FUNCTIONS: dict[str, Any] = {
    "merged": merged, "is_same": is_same, "is_not_same": is_not_same, "is_in": is_in, "set_of": set_of, **BUILTINS
}  # fmt: skip


class _Overloadable(ast.NodeTransformer):
    """Makes calls of what operands cannot define."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:  # a < b < c: each comparison by itself
            middle = [node.left, *node.comparators]
            parts = [ast.Compare(left, [op], [right]) for left, op, right in zip(middle, node.ops, middle[1:], strict=False)]
            return ast.BoolOp(ast.And(), list(parts))
        name = {ast.Is: "is_same", ast.IsNot: "is_not_same", ast.In: "is_in"}.get(type(node.ops[0]))
        return node if name is None else _call(name, node.left, node.comparators[0])

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        (loop,) = node.generators
        assert isinstance(loop.target, ast.Name)
        return _call("set_of", loop.iter, *(_lambda(loop.target.id, part) for part in (node.elt, *loop.ifs)))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            node.func = ast.Attribute(ast.Name(LIBRARY, ast.Load()), node.func.id, ast.Load())
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if not node.decorator_list and not node.name.startswith("__"):
            node.decorator_list = [ast.Attribute(ast.Name(LIBRARY, ast.Load()), "merged", ast.Load())]
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(LIBRARY, ast.Load()), name, ast.Load()), list(arguments), [])


def _lambda(name: str, body: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body)


class _ComputedTable:
    """Stands for the table of a format's decoded codes: it decodes a code when it is read."""

    def __init__(self, fmt: Any) -> None:
        self._fmt = fmt

    def __getitem__(self, code: Any) -> Any:
        return self._fmt._decode(code)


def symbolic_golden(change: Change = unchanged) -> Modules:
    """Golden's reference for symbolic integers, or a changed one."""

    def overloadable(name: str, tree: ast.Module) -> ast.Module:
        changed: ast.Module = _Overloadable().visit(copy.deepcopy(change(name, tree)))
        return ast.fix_missing_locations(changed)

    library = SimpleNamespace(**FUNCTIONS)
    modules = copied(overloadable, given={LIBRARY: library})
    for value in vars(modules["golden.formats"]).values():
        if isinstance(value, modules["golden.format"].Format):
            vars(value)["_table"] = _ComputedTable(value)
    return modules


def model_term(terms: Terms, operation: Operation, ports: Mapping[str, Bits], modules: Modules) -> tuple[Bits, Flag]:
    """Golden's d of one step, and whether golden raises an error.

    Args:
        ports: the packed operands by name, as a specification takes them. modules: the modules of `symbolic_golden`.
    """
    model = operation_in(modules, operation)

    def codes(port: str, width: int, count: int) -> list[Any]:
        parts = [terms.part(ports[port], (k + 1) * width - 1, k * width) for k in range(count)]
        return [SymbolicInt(Number(terms, part, 0, (1 << width) - 1)) for part in parts]

    scale, count = operation.scale_format, operation.scales_per_step
    operands = [codes("a", operation.a.width, operation.length), codes("b", operation.b.width, operation.length)]
    scales = [] if scale is None else [codes(port, scale.width, count) for port in ("scale_a", "scale_b")]
    (c,) = codes("c", operation.c.width, 1)
    d, errors = collected(lambda: merged(model.step)(*operands, c, *scales))
    number = number_of(terms, d)
    outside = [number < 0, number > operation.d.codes - 1]
    return number.held_in(operation.d.width), any_of([*errors, *outside])
