"""What a term gives for numbers in the place of its variables, worked out with Python's integers and without a solver."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce

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
    return Evaluation(roots).every(values)


class Evaluation:
    """Works terms out again and again, for other values of their variables.

    Raises:
        ValueError: an operation that is not known here.
    """

    def __init__(self, roots: Iterable[Term]) -> None:
        self._roots = list(roots)
        self._terms = list(in_order(self._roots))
        places = {term: place for place, term in enumerate(self._terms)}
        self._places = places
        #: Of every term that is not a variable: its place, those of what it is made of, what it makes of them, its bits.
        self._steps = [
            (place, [places[child] for child in term.children()], _operation(term), (1 << max(1, width(term))) - 1)
            for place, term in enumerate(self._terms)
            if not term.is_const()
        ]

    def of(self, values: Mapping[Term, int]) -> list[int]:
        """What the roots give.

        Args:
            values: of the variables.
        """
        found = self._found(values)
        return [found[self._places[root]] for root in self._roots]

    def every(self, values: Mapping[Term, int]) -> dict[Term, int]:
        """The same of the roots and all below them."""
        return dict(zip(self._terms, self._found(values), strict=True))

    def _found(self, values: Mapping[Term, int]) -> list[int]:
        found = [values[term] if term.is_const() else 0 for term in self._terms]
        for place, operands, operation, mask in self._steps:
            found[place] = int(operation([found[operand] for operand in operands])) & mask
        return found


def apply_to(term: Term, children: Sequence[Term]) -> int:
    """What the operation of a term gives for numbers.

    Raises:
        ValueError: an operation that is not known here.
    """
    return int(_operation(term)([number(child) for child in children])) & ((1 << max(1, width(term))) - 1)


Apply = Callable[[list[int]], int]
"""What an operation makes of its operands; bits above its own are to be dropped."""


def _operation(term: Term) -> Apply:
    """What a term that is not a variable makes of what it is made of."""
    if term.is_value():
        value = number(term)
        return lambda operands: value
    kind, bits, widths = term.kind(), width(term), [width(child) for child in term.children()]
    if kind in _CHAINED:
        return partial(reduce, _CHAINED[kind])
    if kind in _SIGNED:
        return lambda operands: _SIGNED[kind](_signed(operands[0], widths[0]), _signed(operands[1], widths[1]))
    if kind == Kind.BV_CONCAT:
        return lambda operands: reduce(lambda value, part: value << part[0] | part[1], zip(widths, operands, strict=True), 0)
    if kind == Kind.BV_EXTRACT:
        low = term.indices()[1]
        return lambda operands: operands[0] >> low
    if kind in (Kind.BV_SHL, Kind.BV_SHR):
        return lambda operands: _shifted(kind, operands, bits)
    if kind == Kind.BV_ASHR:
        return lambda operands: _signed(operands[0], bits) >> operands[1]
    if kind == Kind.BV_SIGN_EXTEND:
        return lambda operands: _signed(operands[0], widths[0])
    if kind == Kind.BV_REDAND:
        return lambda operands: int(operands[0] == (1 << widths[0]) - 1)
    if kind not in _OTHERS:
        raise ValueError(f"{kind} has no value here")
    return _OTHERS[kind]


def _shifted(kind: Kind, operands: list[int], bits: int) -> int:
    value, places = operands
    if places >= bits:
        return 0
    return value << places if kind == Kind.BV_SHL else value >> places


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

_OTHERS: Mapping[Kind, Apply] = {
    Kind.ITE: lambda operands: operands[1] if operands[0] else operands[2],
    Kind.BV_NOT: lambda operands: ~operands[0], Kind.NOT: lambda operands: ~operands[0],
    Kind.BV_NEG: lambda operands: -operands[0], Kind.BV_ZERO_EXTEND: lambda operands: operands[0],
    Kind.BV_REDOR: lambda operands: int(operands[0] != 0), Kind.BV_REDXOR: lambda operands: operands[0].bit_count() & 1,
}  # fmt: skip
