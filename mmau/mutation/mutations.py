"""All mutations of an assignment of a datapath, by kind."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mmau.prove.netlist.syntax import (
    Assignment,
    Binary,
    Choice,
    Concatenation,
    Constant,
    Copy,
    Expression,
    Module,
    Operand,
    Signed,
    Slice,
    Unary,
)  # fmt: skip

OTHER_OPERATORS: dict[str, tuple[str, ...]] = {
    "&": ("|", "^"), "|": ("^", "&"), "^": ("|", "&"), "+": ("-",), "-": ("+",), "*": ("+",),
    "<<": (">>",), ">>": ("<<",), "==": ("!=",), "!=": ("==",),
    "<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="),
}  # fmt: skip
"""The operators that replace each binary operator."""

OTHER_REDUCTIONS: dict[str, tuple[str, ...]] = {"|": ("^", "&"), "&": ("|", "^"), "^": ("|", "&")}

STICKY_WORDS = ("sticky", "lost")
"""Words in the name of a signal that holds the OR of dropped bits."""

HANDSHAKE_WORDS = ("valid", "ready", "takes")
"""Words in the name of a signal of the handshake."""

RESET = "rst"

KINDS = (
    "operator", "reduction", "constant", "stuck bit", "shifted bits", "signedness", "branches", "operand", "sticky",
    "rounding", "connection", "reset", "handshake",
)  # fmt: skip
"""Kinds of mutations, in the order of the table; docs/guides/mutation.md describes them."""

VALUE = "$value"
"""Placeholder in the text of a mutation for the value of the original expression, in the target's width."""

Draw = Callable[[int], int]
"""A number below its argument, drawn at random."""


@dataclass(frozen=True)
class Change:
    """One mutation of an expression: its kind, and the replacement text, which may contain `VALUE`."""

    kind: str
    after: str


def changes(module: Module, step: str, assignment: Assignment, draw: Draw) -> Iterator[Change]:
    """Every mutation of an assignment; a mutation of one bit is made for a randomly drawn bit."""
    expression, width = assignment.expression, assignment.target.width
    for kind, after in _changes(module, expression, width, draw):
        yield Change(kind, after.text)
    yield from (Change("shifted bits", text) for text in _shifted(expression, width))
    yield from (Change("stuck bit", text) for text in _stuck(expression, width, draw(width)))
    if is_about(STICKY_WORDS, [assignment.target]):
        yield Change("sticky", Constant.of(0, width).text)
    if step == "round" and width == 1:
        yield from (Change("rounding", text) for text in ("1'h0", "1'h1", f"! {VALUE}"))
    if step == "round":
        yield from (Change("rounding", after.text) for after in _without_operand(expression))
    if is_about(HANDSHAKE_WORDS, [assignment.target, *expression.operands]):
        yield from _handshake(expression, assignment)


def _changes(module: Module, expression: Expression, width: int, draw: Draw) -> Iterator[tuple[str, Expression]]:
    if isinstance(expression, Binary):
        for operator in OTHER_OPERATORS.get(expression.operator, ()):
            yield "operator", replace(expression, operator=operator)
    if isinstance(expression, Unary) and expression.operator in OTHER_REDUCTIONS:
        for operator in OTHER_REDUCTIONS[expression.operator]:
            yield "reduction", replace(expression, operator=operator)
    elif isinstance(expression, Unary):
        yield "operator", Copy(expression.operand)
    if isinstance(expression, Choice):
        yield "branches", replace(expression, yes=expression.no, no=expression.yes)
        if not _is_reset(expression):
            yield "operand", Copy(expression.yes)
            yield "operand", Copy(expression.no)
        else:
            yield "reset", Copy(expression.no)
    elif not isinstance(expression, Copy):
        for after in _without_operand(expression):
            yield "operand", after
    for place, operand in enumerate(expression.operands):
        for other in _off_by_one(operand):
            yield "constant", _with_operand(expression, place, other)
        for other in _shifted_slices(module, operand, draw):
            yield "shifted bits", _with_operand(expression, place, other)
    if any(isinstance(operand, Signed) for operand in expression.operands):
        plain = expression
        for place, operand in enumerate(expression.operands):
            if isinstance(operand, Signed):
                plain = _with_operand(plain, place, operand.operand)
        yield "signedness", plain


def _with_operand(expression: Expression, place: int, operand: Operand) -> Expression:
    names = {Copy: ("operand",), Unary: ("operand",), Binary: ("left", "right"), Choice: ("condition", "yes", "no")}
    return replace(expression, **{names[type(expression)][place]: operand})  # type: ignore[arg-type]


def _without_operand(expression: Expression) -> Iterator[Expression]:
    """One of two operands is lost; not for comparisons and shifts, of which no sensible expression would remain."""
    if isinstance(expression, Binary) and expression.operator in ("&", "|", "^", "+", "-", "*"):
        yield Copy(expression.left)
        yield Copy(expression.right)
    if isinstance(expression, Unary) and expression.operator in OTHER_REDUCTIONS:
        reduced = expression.operand
        if isinstance(reduced, Concatenation) and len(reduced.parts) > 1 and reduced.times == 1:
            yield replace(expression, operand=replace(reduced, parts=reduced.parts[1:]))
            yield replace(expression, operand=replace(reduced, parts=reduced.parts[:-1]))


def _off_by_one(operand: Operand) -> Iterator[Operand]:
    """One more and one less, for a number that is an operand or a part of a concatenation."""
    if isinstance(operand, Constant) and operand.value is not None:
        for value in dict.fromkeys((operand.value + by) % (1 << operand.width) for by in (1, -1)):
            yield Constant.of(value, operand.width)
    elif isinstance(operand, Signed):
        yield from map(Signed, _off_by_one(operand.operand))
    elif isinstance(operand, Concatenation):
        for place, part in enumerate(operand.parts):
            for other in _off_by_one(part):
                yield replace(operand, parts=(*operand.parts[:place], other, *operand.parts[place + 1 :]))


def _shifted_slices(module: Module, operand: Operand, draw: Draw) -> Iterator[Operand]:
    """The bits of a wire one position up and one position down."""
    if isinstance(operand, Slice) and not operand.whole and operand.high >= operand.low:
        first, second = module.ranges[operand.name]
        top, bottom = max(first, second), min(first, second)
        if first >= second and operand.high < top:
            yield replace(operand, high=operand.high + 1, low=operand.low + 1)
        if first >= second and operand.low > bottom:
            yield replace(operand, high=operand.high - 1, low=operand.low - 1)
    elif isinstance(operand, Signed):
        yield from map(Signed, _shifted_slices(module, operand.operand, draw))
    elif isinstance(operand, Concatenation):
        place = draw(len(operand.parts))
        for other in _shifted_slices(module, operand.parts[place], draw):
            yield replace(operand, parts=(*operand.parts[:place], other, *operand.parts[place + 1 :]))


def _shifted(expression: Expression, width: int) -> Iterator[str]:
    """The whole result one place up and one place down."""
    if width > 1 and not isinstance(expression, Copy):
        yield f"{VALUE} << 1"
        yield f"{VALUE} >> 1"


def _stuck(expression: Expression, width: int, bit: int) -> Iterator[str]:
    """One bit of the result always 0, and always 1."""
    if isinstance(expression, Copy) and isinstance(expression.operand, Constant):
        return
    one = 1 << bit
    yield f"{VALUE} & {Constant.of(((1 << width) - 1) ^ one, width).text}"
    yield f"{VALUE} | {Constant.of(one, width).text}"


def _is_reset(expression: Choice) -> bool:
    return isinstance(expression.condition, Slice) and expression.condition.name == RESET


def _handshake(expression: Expression, assignment: Assignment) -> Iterator[Change]:
    """A control signal stuck or inverted, and a register that does not keep its value while it waits."""
    if assignment.target.width == 1:
        yield from (Change("handshake", text) for text in ("1'h0", "1'h1", f"! {VALUE}"))
    if isinstance(expression, Choice) and not _is_reset(expression):
        yield Change("handshake", expression.yes.text)
    yield from (Change("handshake", after.text) for after in _without_operand(expression))


def is_about(words: tuple[str, ...], operands: list[Operand]) -> bool:
    """Whether a wire among the operands has one of the words in its name."""
    return any(word in operand.name for operand in operands if isinstance(operand, Slice) for word in words)
