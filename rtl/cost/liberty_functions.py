"""The functions of a cell library's pins, as Liberty writes them: `(!((A B)+C))`, computed on many vectors at once."""

import re
from collections.abc import Callable, Mapping

Function = Callable[[Mapping[str, int], int], int]
"""A function from the values of a cell's inputs, by pin, and a mask to the value of a pin. Bit i of every value belongs to
vector i; the mask has the bits of all vectors."""

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[01!'^&*|+()])")

_STARTS = re.compile(r"[A-Za-z_01!(]")
"""First tokens of an operand; a space between two operands stands for AND."""


def function_of(text: str) -> Function:
    """Parse a Liberty expression to a function.

    Operators from tight to loose: `!` before and `'` behind an operand, `^`, AND (`&`, `*` or nothing between two operands),
    OR (`+` or `|`), as the Liberty reference manual orders them.

    Raises:
        ValueError: not a Liberty expression.
    """
    tokens, position = [], 0
    stripped = text.strip()
    while position < len(stripped):
        token = _TOKEN.match(stripped, position)
        if token is None:
            raise ValueError(f"a pin's function must consist of names, !, ', ^, &, *, |, + and parentheses, got {text!r}")
        tokens.append(token[1])
        position = token.end()
    reader = _Reader(tokens)
    try:
        function = reader.sum()
    except IndexError:
        raise ValueError(f"a pin's function ends too early: {text!r}") from None
    if reader.tokens:
        raise ValueError(f"a pin's function must be one expression, {reader.tokens[0]!r} remains in {text!r}")
    return function


class _Reader:
    """A parser by recursive descent, with a method for each level of operators."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def _next_is(self, choices: str) -> bool:
        return bool(self.tokens) and self.tokens[0] in choices

    def sum(self) -> Function:
        found = self._product()
        while self._next_is("+|"):
            self.tokens.pop(0)
            found = _joined(found, self._product(), int.__or__)
        return found

    def _product(self) -> Function:
        found = self._difference()
        while self.tokens and (self._next_is("&*") or _STARTS.match(self.tokens[0])):
            if self._next_is("&*"):
                self.tokens.pop(0)
            found = _joined(found, self._difference(), int.__and__)
        return found

    def _difference(self) -> Function:
        found = self._operand()
        while self._next_is("^"):
            self.tokens.pop(0)
            found = _joined(found, self._operand(), int.__xor__)
        return found

    def _operand(self) -> Function:
        token = self.tokens.pop(0)
        if token == "!":
            return _inverted(self._operand())
        if token == "(":
            found = self.sum()
            if self.tokens.pop(0) != ")":
                raise ValueError("a pin's function lacks a closing parenthesis")
        elif token in "01":
            found = _constant(token == "1")
        elif _STARTS.match(token):
            found = _value_of(token)
        else:
            raise ValueError(f"a pin's function must have an operand where it has {token!r}")
        while self._next_is("'"):
            self.tokens.pop(0)
            found = _inverted(found)
        return found


def _joined(left: Function, right: Function, operator: Callable[[int, int], int]) -> Function:
    return lambda pins, mask: operator(left(pins, mask), right(pins, mask))


def _inverted(function: Function) -> Function:
    return lambda pins, mask: function(pins, mask) ^ mask


def _value_of(name: str) -> Function:
    return lambda pins, mask: pins[name]


def _constant(high: bool) -> Function:
    return lambda pins, mask: mask if high else 0
