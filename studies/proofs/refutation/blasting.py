"""A question as clauses, from its text alone: no solver has a part in it.

The text is what `mmau.formal.smtlib` writes: declarations of variables, definitions of terms of those before them, and one
assertion. Anything else is refused.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from studies.proofs.refutation.gates import FALSE, Gates, Word

Expression = Any
"""A word of the text, or a list of expressions in parentheses."""


class UnreadableQuestion(ValueError):
    """A text that `mmau.formal.smtlib` would not write."""


@dataclass(frozen=True)
class Blasted:
    """A question as clauses.

    Attributes:
        clauses: they contradict each other if and only if the assertion is false for all values of the variables. The last
            one is the assertion; the others follow from any values of the variables.
        variables: the literals of each variable, by its name, the lowest bit first.
    """

    clauses: list[tuple[int, ...]]
    variables: Mapping[str, Word]


def blasted(question: str) -> Blasted:
    """The clauses of a question.

    Raises:
        UnreadableQuestion: another kind of text.
    """
    blasting, variables, asserted = _Blasting(), dict[str, Word](), list[int]()
    for command in _expressions(question):
        match command:
            case ["set-logic", "QF_BV"]:
                pass
            case ["declare-const", str(name), sort]:
                variables[name] = [blasting.gates.free() for _ in range(_width(sort))]
                blasting.define(name, variables[name])
            case ["define-fun", str(name), [], sort, body]:
                blasting.define(name, blasting.word(body), _width(sort))
            case ["assert", body]:
                asserted += blasting.word(body)
            case _:
                raise UnreadableQuestion(f"a question has no command {command}")
    if len(asserted) != 1:
        raise UnreadableQuestion(f"a question asserts one bit, got {len(asserted)}")
    return Blasted([*blasting.gates.clauses, (asserted[0],)], variables)


def _expressions(text: str) -> list[Expression]:
    stack: list[list[Expression]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            closed = stack.pop()
            stack[-1].append(closed)
        elif token == ")":
            raise UnreadableQuestion("a parenthesis closes that was not opened")
        else:
            stack[-1].append(token)
    if len(stack) > 1:
        raise UnreadableQuestion("a parenthesis is not closed")
    return stack[0]


def _width(sort: Expression) -> int:
    match sort:
        case "Bool":
            return 1
        case ["_", "BitVec", str(width)] if width.isdecimal() and int(width):
            return int(width)
    raise UnreadableQuestion(f"a question has no sort {sort}")


class _Blasting:
    """Words of the terms that are defined so far; a Boolean term is a word of one bit."""

    def __init__(self) -> None:
        self.gates = Gates()
        self._words: dict[str, Word] = {"true": [1], "false": [FALSE]}

    def define(self, name: str, word: Word, width: int | None = None) -> None:
        """Give a word a name; `width` is that of its sort."""
        if name in self._words or len(word) != (len(word) if width is None else width):
            raise UnreadableQuestion(f"{name} is defined twice, or has another width than its definition")
        self._words[name] = word

    def word(self, expression: Expression) -> Word:
        """The word of an expression."""
        match expression:
            case str(name) if name in self._words:
                return self._words[name]
            case ["_", str(value), str(width)] if re.fullmatch(r"bv\d+", value) and width.isdecimal():
                return self.gates.number(int(value[2:]), int(width))
            case [["_", "extract", str(high), str(low)], of]:
                return self.word(of)[int(low) : int(high) + 1]
            case [["_", "zero_extend", str(more)], of]:
                return self.word(of) + [FALSE] * int(more)
            case [["_", "sign_extend", str(more)], of]:
                word = self.word(of)
                return word + word[-1:] * int(more)
            case [str(name), *operands] if name in _OPERATIONS and operands:
                return _OPERATIONS[name](self.gates, *map(self.word, operands))
        raise UnreadableQuestion(f"a question has no term {expression}")


Apply = Callable[..., Word]


def _chained(apply: Callable[[Gates, Word, Word], Word]) -> Apply:
    """An operation of several operands, from left to right."""
    return lambda gates, *words: reduce(lambda x, y: apply(gates, x, y), words)


def _bitwise(apply: Callable[[Gates, int, int], int]) -> Apply:
    return _chained(lambda gates, x, y: [apply(gates, a, b) for a, b in zip(x, y, strict=True)])


def _inverted(word: Word) -> Word:
    return [-bit for bit in word]


def _less(swap: bool, negate: bool, signed: bool) -> Apply:
    """x < y, y < x, or the negation of either."""

    def apply(gates: Gates, x: Word, y: Word) -> Word:
        if signed:  # as unsigned numbers, negative ones come after the others
            x, y = ([*word[:-1], -word[-1]] for word in (x, y))
        found = gates.less(y, x) if swap else gates.less(x, y)
        return [-found if negate else found]

    return apply


_OPERATIONS: Mapping[str, Apply] = {
    "bvadd": _chained(lambda gates, x, y: gates.sum(x, y)),
    "bvsub": _chained(lambda gates, x, y: gates.sum(x, _inverted(y), 1)),
    "bvmul": _chained(lambda gates, x, y: gates.product(x, y)),
    "bvneg": lambda gates, x: gates.sum(_inverted(x), gates.number(1, len(x))),
    "bvand": _bitwise(Gates.both), "bvor": _bitwise(Gates.either), "bvxor": _bitwise(Gates.differ),
    "bvxnor": _bitwise(lambda gates, a, b: -gates.differ(a, b)), "bvnot": lambda gates, x: _inverted(x),
    "bvshl": lambda gates, x, y: gates.shifted(x, y, FALSE, left=True),
    "bvlshr": lambda gates, x, y: gates.shifted(x, y, FALSE, left=False),
    "bvashr": lambda gates, x, y: gates.shifted(x, y, x[-1], left=False),
    "concat": lambda gates, *words: [bit for word in reversed(words) for bit in word],
    "bvult": _less(False, False, False), "bvuge": _less(False, True, False),
    "bvugt": _less(True, False, False), "bvule": _less(True, True, False),
    "bvslt": _less(False, False, True), "bvsge": _less(False, True, True),
    "bvsgt": _less(True, False, True), "bvsle": _less(True, True, True),
    "=": lambda gates, x, y: [-gates.unequal(x, y)], "distinct": lambda gates, x, y: [gates.unequal(x, y)],
    "ite": lambda gates, condition, x, y: gates.chosen(condition[0], x, y),
    "not": lambda gates, x: _inverted(x), "and": _bitwise(Gates.both), "or": _bitwise(Gates.either),
    "=>": lambda gates, x, y: [gates.either(-x[0], y[0])],
}  # fmt: skip
"""The value of each operation by SMT-LIB."""
