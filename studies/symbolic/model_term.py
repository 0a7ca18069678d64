"""Golden's step as a term of its operands: its own Python, executed on symbolic integers.

A copy of golden's source is loaded in which what Python does not leave to the operands is a call: `is`, `in`, a set, and
some built-in functions; every function returns what all its runs give together. Nothing else of the source changes, and on
plain integers the copy computes what golden computes.
"""

import ast
import builtins
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from types import SimpleNamespace
from typing import Any

from golden import Operation
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Flag, Number, all_of, any_of, choose
from studies.symbolic.model_copy import Change, Modules, copied, operation_in, unchanged
from studies.symbolic.symbolic_integers import (
    Integer,
    Run,
    SymbolicInt,
    collected,
    condition,
    decide,
    integer,
    number_of,
    runs,
)


class Choice:
    """One of several values that are no numbers, or a number: None, a word, the member of an enumeration.

    Attributes:
        alternatives: each value with the flag that selects it. One flag is set.
    """

    __slots__ = ("alternatives",)
    __hash__ = None  # type: ignore[assignment]  # its value is not known

    def __init__(self, alternatives: Sequence[tuple[Flag, Any]]) -> None:
        self.alternatives = alternatives

    def __bool__(self) -> bool:
        return decide(self._flag(bool))

    def __eq__(self, other: object) -> Any:
        return condition(self._flag(lambda value: value == other))

    def __ne__(self, other: object) -> Any:
        return condition(self._flag(lambda value: value != other))

    def __lt__(self, other: Any) -> Any:
        return condition(self._flag(lambda value: value < other))

    def is_(self, other: Any) -> Integer:
        """Whether the choice is that value."""
        return condition(self._flag(lambda value: value is other))

    def _flag(self, holds: Callable[[Any], Any]) -> Flag:
        flags = [flag for flag, value in self.alternatives if holds(value)]
        if len(flags) in (0, len(self.alternatives)):
            terms = self.alternatives[0][0].terms
            return Flag(terms, terms.number(int(bool(flags)), 1))
        return any_of(flags)


class SymbolicSet:
    """A set of known values, each in it or not.

    Attributes:
        members: value to the flag of its membership.
    """

    def __init__(self, members: dict[Any, Flag]) -> None:
        self.members = members

    def __bool__(self) -> bool:
        return bool(self.members) and decide(any_of(list(self.members.values())))

    def size(self) -> Integer:
        """How many values are in it."""
        total: Integer = 0
        for flag in self.members.values():
            total = total + condition(flag)
        return total

    def has(self, value: Any) -> Integer:
        """Whether a value is in it."""
        return condition(self.members[value]) if value in self.members else 0

    def pop(self) -> Any:
        """The single value in the set."""
        return together([([flag], value) for value, flag in self.members.items()])


def merged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns what all its runs give together."""

    def all_runs(*arguments: Any, **named: Any) -> Any:
        given = [list(item) if _is_iterator(item) else item for item in arguments]
        return together([(run.conditions, _known(value, run)) for run, value in runs(lambda: function(*given, **named))])

    return all_runs


def _is_iterator(item: Any) -> bool:
    return hasattr(item, "__next__")


def _known(value: Any, run: Run) -> Any:
    """A value without the alternatives that this run has excluded."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_known(part, run) for part in value))
    if not isinstance(value, Choice):
        return value
    left = [(flag, each) for flag, each in value.alternatives if run.outcome(flag) is not False]
    return left[0][1] if len(left) == 1 else Choice(left)


def together(cases: Sequence[tuple[list[Flag], Any]]) -> Any:
    """One value that equals the value of a case where all flags of the case are set, and that of the last case where no
    other's are."""
    first = cases[0][1]
    values = [value for _, value in cases]
    if len(cases) == 1 or all(value is first for value in values):
        return first
    if all(isinstance(value, tuple | list) and type(value) is type(first) and len(value) == len(first) for value in values):
        parts = [together([(flags, value[place]) for flags, value in cases]) for place in range(len(first))]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if all(_is_number(value) for value in values):
        return _number(cases)
    return _choice(cases)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | SymbolicInt) and not isinstance(value, Enum)


def _number(cases: Sequence[tuple[list[Flag], Any]]) -> Integer:
    flags = [all_of(flags) for flags, _ in cases]
    *others, last = [number_of(flags[0].terms, value) for _, value in cases]
    for flag, number in zip(reversed(flags[:-1]), reversed(others), strict=True):
        last = choose(flag, number, last)
    return integer(last)


def _choice(cases: Sequence[tuple[list[Flag], Any]]) -> Choice:
    """The alternatives of all cases; numbers are one alternative, and so are equal words."""
    found: list[tuple[Flag, Any]] = []
    for flags, value in cases:
        alternatives = value.alternatives if isinstance(value, Choice) else [(None, value)]
        found += [(all_of([*flags, *([] if flag is None else [flag])]), each) for flag, each in alternatives]
    grouped: dict[Any, Flag] = {}
    numbers = [(flag, each) for flag, each in found if _is_number(each)]
    is_symbolic = any(isinstance(each, SymbolicInt) for _, each in numbers)
    for flag, each in found:
        if not (is_symbolic and _is_number(each)):
            grouped[each] = grouped[each] | flag if each in grouped else flag
    choices = [(flag, each) for each, flag in grouped.items()]
    if is_symbolic:
        choices.append((any_of([flag for flag, _ in numbers]), _number([([flag], each) for flag, each in numbers])))
    return Choice(choices)


def largest(values: Iterable[Any], less: bool = False) -> Any:
    """Python's `max`; `min` with `less`."""
    first, *rest = list(values)
    for value in rest:
        is_taken = value < first if less else value > first
        if isinstance(is_taken, SymbolicInt):
            x, y = (number_of(is_taken.number.terms, each) for each in (value, first))
            ends = min if less else max
            first = integer(choose(is_taken.flag, x, y).within(ends(x.low, y.low), ends(x.high, y.high)))
        elif is_taken:
            first = value
    return first


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
    for value in vars(modules["golden.arithmetic.formats"]).values():
        if isinstance(value, modules["golden.arithmetic.format"].Format):
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
