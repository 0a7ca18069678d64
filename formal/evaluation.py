"""What a term gives for numbers in the place of its variables, worked out with Python's integers and without a solver."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from bitwuzla import Kind, Term


def in_order(roots: Iterable[Term], known: Collection[Term] = ()) -> Iterator[Term]:
    """Every term below these, each once, after those that it is made of.

    Args:
        known: terms that are left out, with what lies below them alone.
    """
    done: set[Term] = set()
    waiting = [(root, False) for root in reversed(list(roots))]
    while waiting:
        term, is_ready = waiting.pop()
        if term in done or term in known:
            continue
        if is_ready:
            done.add(term)
            yield term
        else:
            waiting.append((term, True))
            waiting += [(child, False) for child in reversed(term.children()) if child not in done]


def variables(roots: Iterable[Term]) -> list[Term]:
    """The variables that terms depend on, in the order in which they are met."""
    return [term for term in in_order(roots) if term.is_const()]


def width(term: Term) -> int:
    """Bits of a term; 0 of a Boolean one."""
    return 0 if term.sort().is_bool() else int(term.sort().bv_size())


def number(term: Term) -> int:
    """The number that a constant term is; 0 or 1 of a Boolean one."""
    return int(term.is_true()) if term.sort().is_bool() else int(term.value(2), 2)


def evaluate(roots: Iterable[Term], values: Mapping[Term, int]) -> dict[Term, int]:
    """What terms and all below them give.

    Args:
        values: of the variables.

    Raises:
        ValueError: an operation that is not known here.
    """
    found: dict[Term, int] = {}
    for term in in_order(roots):
        if term.is_const():
            found[term] = values[term]
        elif term.is_value():
            found[term] = number(term)
        else:
            children = term.children()
            found[term] = _applied(term, children, [found[child] for child in children])
    return found


def apply_to(term: Term, children: Sequence[Term]) -> int:
    """What the operation of a term gives for numbers.

    Raises:
        ValueError: an operation that is not known here.
    """
    return _applied(term, children, [number(child) for child in children])


def _applied(term: Term, children: Sequence[Term], operands: Sequence[int]) -> int:
    kind, bits = term.kind(), width(term)
    if kind in _CHAINED:
        value = operands[0]
        for operand in operands[1:]:
            value = _CHAINED[kind](value, operand)
    elif kind in _SIGNED:
        value = _SIGNED[kind](*(_signed(operand, width(child)) for child, operand in zip(children, operands, strict=True)))
    elif kind == Kind.ITE:
        value = operands[1] if operands[0] else operands[2]
    elif kind in (Kind.BV_NOT, Kind.NOT, Kind.BV_NEG):
        value = -operands[0] if kind == Kind.BV_NEG else ~operands[0]
    elif kind == Kind.BV_CONCAT:
        value = 0
        for child, operand in zip(children, operands, strict=True):
            value = value << width(child) | operand
    elif kind == Kind.BV_EXTRACT:
        value = operands[0] >> term.indices()[1]
    elif kind == Kind.BV_ZERO_EXTEND:
        value = operands[0]
    elif kind == Kind.BV_SIGN_EXTEND:
        value = _signed(operands[0], width(children[0]))
    elif kind in (Kind.BV_SHL, Kind.BV_SHR):
        value = (
            0 if operands[1] >= bits else operands[0] << operands[1] if kind == Kind.BV_SHL else operands[0] >> operands[1]
        )
    elif kind == Kind.BV_ASHR:
        value = _signed(operands[0], bits) >> operands[1]
    elif kind == Kind.BV_REDOR:
        value = int(operands[0] != 0)
    elif kind == Kind.BV_REDAND:
        value = int(operands[0] == (1 << width(children[0])) - 1)
    elif kind == Kind.BV_REDXOR:
        value = operands[0].bit_count() & 1
    else:
        raise ValueError(f"{kind} has no value here")
    return int(value) & ((1 << max(1, bits)) - 1)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


_CHAINED: Mapping[Kind, Callable[[int, int], int]] = {
    Kind.BV_ADD: lambda x, y: x + y, Kind.BV_SUB: lambda x, y: x - y, Kind.BV_MUL: lambda x, y: x * y,
    Kind.BV_AND: lambda x, y: x & y, Kind.BV_OR: lambda x, y: x | y, Kind.BV_XOR: lambda x, y: x ^ y,
    Kind.AND: lambda x, y: x & y, Kind.OR: lambda x, y: x | y, Kind.BV_XNOR: lambda x, y: ~(x ^ y),
    Kind.EQUAL: lambda x, y: x == y, Kind.DISTINCT: lambda x, y: x != y, Kind.IMPLIES: lambda x, y: ~x | y,
    Kind.BV_ULT: lambda x, y: x < y, Kind.BV_ULE: lambda x, y: x <= y,
    Kind.BV_UGT: lambda x, y: x > y, Kind.BV_UGE: lambda x, y: x >= y,
}  # fmt: skip
"""Of two operands each, or of several taken from the left."""

_SIGNED: Mapping[Kind, Callable[[int, int], int]] = {
    Kind.BV_SLT: lambda x, y: x < y, Kind.BV_SLE: lambda x, y: x <= y,
    Kind.BV_SGT: lambda x, y: x > y, Kind.BV_SGE: lambda x, y: x >= y,
}  # fmt: skip
