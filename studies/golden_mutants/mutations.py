"""Mutations of golden's reference: one comparison, constant, operator or branch of its source changed at a time."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from studies.symbolic.model_copy import Change, tree_of

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
}  # fmt: skip

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.FloorDiv: (ast.Mod,), ast.Mod: (ast.FloorDiv,),
    ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
}  # fmt: skip

WORDS = {
    "RZ": "RD", "RD": "RZ", "RU": "RD", "RNE": "RNA", "RNA": "RNE", "RO": "RZ",
    "ieee": "fn", "fn": "fnuz", "fnuz": "fn", "finite": "fn",
    "infinity": "saturate", "saturate": "infinity", "by-mode": "infinity",
    "quiet": "first", "first": "quiet", "wrap": "saturate",
}  # fmt: skip
"""Words that choose a rule, each with the word that replaces it."""

NO_CONSTANTS = ("Mode", "Overflow", "Special", "NaN", "BeyondRange", "MAX_LENGTH", "MAX_FRACTION", "EXPONENT_LIMIT")
"""Names of types, and limits of keys, which tests of refusals hold to their values."""

FUNCTIONS = {"max": "min", "min": "max", "any": "all", "all": "any"}


def short(module: str) -> str:
    """The name of a module of golden on the page."""
    return module.removeprefix("golden.").removeprefix("arithmetic.")


@dataclass(frozen=True)
class Mutation:
    """One change of one module.

    Attributes:
        module: the name of the module. where: the qualified name of the function, or of the constant of a module or class.
        is_constant: whether it is a constant or a default, which counts from the import on, not in a function's body.
        number: the index of the changed node in the order of `ast.walk`. text: the change, old → new. node: what replaces
            it.
    """

    module: str
    where: str
    is_constant: bool
    number: int
    text: str
    node: ast.AST

    @property
    def name(self) -> str:
        """The name of the mutation in a report."""
        return f"{short(self.module)}.{self.where}: {self.text}"

    @property
    def change(self) -> Change:
        """The change, for a copy of golden."""

        def changed(name: str, tree: ast.Module) -> ast.Module:
            if name != self.module:
                return tree
            mutated = copy.deepcopy(tree)
            target = list(ast.walk(mutated))[self.number]
            for parent in ast.walk(mutated):
                if _replaced(parent, target, self.node):
                    return ast.fix_missing_locations(mutated)
            raise ValueError(f"{self.name}: the source of {name} has changed")

        return changed


def mutations(module: str) -> list[Mutation]:
    """Every mutation of a module, in the order of its source; equal texts in one place are numbered #2, #3 …"""
    tree = tree_of(module)
    numbers = {node: number for number, node in enumerate(ast.walk(tree))}
    found, seen = list[Mutation](), dict[tuple[str, str], int]()
    for where, is_constant, node in _arithmetic(tree.body, "", is_function=False):
        for text, other in _changes(node):
            seen[where, text] = count = seen.get((where, text), 0) + 1
            text += f" #{count}" if count > 1 else ""
            found.append(Mutation(module, where, is_constant, numbers[node], text, other))
    return found


def _replaced(parent: ast.AST, target: ast.AST, other: ast.AST) -> bool:
    for field, value in ast.iter_fields(parent):
        if value is target:
            setattr(parent, field, other)
            return True
        if isinstance(value, list) and any(item is target for item in value):
            value[next(place for place, item in enumerate(value) if item is target)] = other
            return True
    return False


def _arithmetic(body: list[ast.stmt], place: str, is_function: bool) -> Iterator[tuple[str, bool, ast.AST]]:
    """The nodes of statements, each with its place and whether that is a constant or a default."""
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name, args=args):
                inner = f"{place}.{name}".lstrip(".")
                yield from ((inner, True, node) for default in args.defaults for node in _nodes(default))
                yield from _arithmetic(statement.body, inner, is_function=True)
            case ast.ClassDef(name=name):
                yield from _arithmetic(statement.body, f"{place}.{name}".lstrip("."), is_function=False)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value) if (
                not is_function
            ):
                inner = f"{place}.{ast.unparse(target)}".lstrip(".")
                if inner not in NO_CONSTANTS:
                    yield from ((inner, True, node) for node in _nodes(value))
            case ast.stmt() if is_function:
                yield from ((place, False, node) for node in _nodes(statement))


def _nodes(root: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, without docstrings, annotations, messages and errors."""
    if isinstance(root, ast.Raise | ast.JoinedStr):
        return
    if isinstance(root, ast.Expr) and isinstance(root.value, ast.Constant):
        return
    yield root
    for field, value in ast.iter_fields(root):
        if field in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not (isinstance(child, ast.keyword) and child.arg == "strict"):
                yield from _nodes(child)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The changes of one node: what is written before and after, and the node that replaces it."""
    for other in _others(node):
        yield f"`{_written(node)}` → `{_written(other)}`", other


def _written(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text.splitlines()[0].removesuffix(":") if isinstance(node, ast.stmt) else " ".join(text.split())


def _others(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op]):
            yield from (_with(node, ops=[other()]) for other in COMPARISONS.get(type(op), ()))
        case ast.Compare(left=left, ops=[_, _], comparators=[middle, right]):
            yield ast.Compare(left, node.ops[:1], [middle])
            yield ast.Compare(middle, node.ops[1:], [right])
        case ast.BinOp(op=op):
            yield from (_with(node, op=other()) for other in OPERATORS.get(type(op), ()))
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            yield from (_without(node, place) for place in range(len(values)))
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.If():
            yield from (_with(node, test=ast.Constant(value)) for value in (True, False))
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from (ast.Constant(value + step) for step in (1, -1))
        case ast.Constant(value=str(value)) if value in WORDS:
            yield ast.Constant(WORDS[value])
        case ast.Name(id=name) if name in FUNCTIONS:
            yield ast.Name(FUNCTIONS[name], node.ctx)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _without(node: ast.BoolOp, place: int) -> ast.AST:
    rest = [value for number, value in enumerate(node.values) if number != place]
    return rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
