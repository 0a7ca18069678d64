"""Gates as clauses: each gate once, constants and equal inputs removed, and words of bits built of them.

A bit is a literal, a word a list of bits, the lowest first. The clauses of a gate hold exactly where its variable has the
gate's value, so no gate excludes any value of the inputs.
"""

from collections.abc import Callable, Sequence
from functools import reduce

TRUE, FALSE = 1, -1
"""Literals of the variable that the first clause makes true."""

Word = list[int]


class Gates:
    """Gates and their clauses.

    Attributes:
        clauses: of all gates so far. variables: their number.
    """

    def __init__(self) -> None:
        self.clauses: list[tuple[int, ...]] = [(TRUE,)]
        self.variables = 1
        self._known: dict[tuple[object, ...], int] = {}

    def free(self) -> int:
        """A new variable."""
        self.variables += 1
        return self.variables

    def both(self, x: int, y: int) -> int:
        """x and y."""
        if FALSE in (x, y) or x == -y:
            return FALSE
        if x in (TRUE, y):
            return y
        if y == TRUE:
            return x
        return self._gate(("and", *sorted((x, y))), lambda z: [(-z, x), (-z, y), (z, -x, -y)])

    def either(self, x: int, y: int) -> int:
        """x or y."""
        return -self.both(-x, -y)

    def differ(self, x: int, y: int) -> int:
        """x other than y."""
        if abs(x) == TRUE:
            return -y if x == TRUE else y
        if abs(y) == TRUE:
            return -x if y == TRUE else x
        if abs(x) == abs(y):
            return FALSE if x == y else TRUE
        sign = -1 if (x < 0) != (y < 0) else 1
        p, q = sorted((abs(x), abs(y)))
        return sign * self._gate(("xor", p, q), lambda z: [(-z, p, q), (-z, -p, -q), (z, -p, q), (z, p, -q)])

    def choice(self, condition: int, x: int, y: int) -> int:
        """x where the condition holds, else y."""
        if abs(condition) == TRUE or x == y:
            return y if condition == FALSE else x
        if condition < 0:
            return self.choice(-condition, y, x)
        if x == -y:
            return -self.differ(condition, x)
        if abs(x) == TRUE or x in (condition, -condition):
            return self.either(condition, y) if x in (TRUE, condition) else self.both(-condition, y)
        if abs(y) == TRUE or y in (condition, -condition):
            return self.both(condition, x) if y in (FALSE, condition) else self.either(-condition, x)
        return self._gate(
            ("mux", condition, x, y),
            lambda z: [
                (-condition, -x, z), (-condition, x, -z), (condition, -y, z), (condition, y, -z), (-x, -y, z), (x, y, -z),
            ],
        )  # fmt: skip

    def _gate(self, key: tuple[object, ...], clauses: Callable[[int], list[tuple[int, ...]]]) -> int:
        if key not in self._known:
            self._known[key] = z = self.free()
            self.clauses += clauses(z)
        return self._known[key]

    # words

    def number(self, value: int, width: int) -> Word:
        """A constant."""
        return [TRUE if value >> k & 1 else FALSE for k in range(width)]

    def any_of(self, bits: Sequence[int]) -> int:
        """Whether one of the bits is 1."""
        return reduce(self.either, bits, FALSE)

    def chosen(self, condition: int, x: Word, y: Word) -> Word:
        """`choice`, bit by bit."""
        return [self.choice(condition, a, b) for a, b in zip(x, y, strict=True)]

    def sum(self, x: Word, y: Word, carry: int = FALSE) -> Word:
        """x + y + carry, in their width."""
        found = []
        for a, b in zip(x, y, strict=True):
            half = self.differ(a, b)
            found.append(self.differ(half, carry))
            carry = self.either(self.both(a, b), self.both(half, carry))
        return found

    def product(self, x: Word, y: Word) -> Word:
        """x · y, in their width."""
        width = len(x)
        found = [FALSE] * width
        for k, bit in enumerate(y):
            row = [FALSE] * k + [self.both(bit, a) for a in x[: width - k]]
            found = self.sum(found, row)
        return found

    def unequal(self, x: Word, y: Word) -> int:
        """Whether x differs from y."""
        return self.any_of([self.differ(a, b) for a, b in zip(x, y, strict=True)])

    def less(self, x: Word, y: Word) -> int:
        """x < y, both unsigned."""
        found = FALSE
        for a, b in zip(x, y, strict=True):
            found = self.choice(self.differ(a, b), b, found)
        return found

    def shifted(self, x: Word, places: Word, fill: int, left: bool) -> Word:
        """x shifted by so many places, with `fill` in the places that become free."""
        found, width = list(x), len(x)
        near = (width - 1).bit_length()
        for k, bit in enumerate(places[:near]):
            moved = [fill] * (1 << k) + found[: -(1 << k)] if left else found[1 << k :] + [fill] * (1 << k)
            found = self.chosen(bit, moved, found)
        return self.chosen(self.any_of(places[near:]), [fill] * width, found)
