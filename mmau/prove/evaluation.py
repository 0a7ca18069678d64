"""Evaluation of terms for given values of their variables, in Python's integers and without a solver."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce

from bitwuzla import Kind, Term


def in_order(roots: Iterable[Term], known: Collection[Term] = ()) -> Iterator[Term]:
    """These terms and all their subterms, each once, after its own subterms.

    Args:
        known: terms to omit, with the subterms that only they use.
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
    """The width of a term in bits; 0 for a Boolean term."""
    return 0 if term.sort().is_bool() else int(term.sort().bv_size())


def number(term: Term) -> int:
    """The value of a constant term; 0 or 1 for a Boolean term."""
    return int(term.is_true()) if term.sort().is_bool() else int(term.value(2), 2)


def evaluate(roots: Iterable[Term], values: Mapping[Term, int]) -> dict[Term, int]:
    """The values of terms and of all their subterms.

    Args:
        values: the value of each variable.

    Raises:
        ValueError: an operation that is not known here.
    """
    return Evaluation(roots).every(values)


class Evaluation:
    """Evaluates the same terms repeatedly for different values of their variables.

    Raises:
        ValueError: an operation that is not known here.
    """

    def __init__(self, roots: Iterable[Term]) -> None:
        self._roots = list(roots)
        self._terms = list(in_order(self._roots))
        places = {term: place for place, term in enumerate(self._terms)}
        self._places = places
        self._variables = [(place, term) for place, term in enumerate(self._terms) if term.is_const()]
        #: For every term that is not a variable: its index, the indices of its subterms, its function, its width in bits.
        self._steps = [
            (place, [places[child] for child in term.children()], function_of(term), (1 << max(1, width(term))) - 1)
            for place, term in enumerate(self._terms)
            if not term.is_const()
        ]

    def of(self, values: Mapping[Term, int]) -> list[int]:
        """The values of the roots.

        Args:
            values: the values of the variables.
        """
        found = self._found(values)
        return [found[self._places[root]] for root in self._roots]

    def every(self, values: Mapping[Term, int]) -> dict[Term, int]:
        """The values of the roots and of all their subterms."""
        return dict(zip(self._terms, self._found(values), strict=True))

    def _found(self, values: Mapping[Term, int]) -> list[int]:
        found = [0] * len(self._terms)
        for place, term in self._variables:
            found[place] = values[term]
        for place, operands, operation, mask in self._steps:
            found[place] = int(operation([found[operand] for operand in operands])) & mask
        return found


def apply_to(term: Term, children: Sequence[Term]) -> int:
    """Apply the operation of a term to numbers.

    Raises:
        ValueError: an operation that is not known here.
    """
    return int(function_of(term)([number(child) for child in children])) & ((1 << max(1, width(term))) - 1)


Apply = Callable[[list[int]], int]
"""The function of an operation on its operands; the caller drops bits above the result's width."""


def function_of(term: Term) -> Apply:
    """The function of a term that is not a variable on the values of its subterms."""
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
"""Functions of two operands, or of several operands from left to right."""

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
