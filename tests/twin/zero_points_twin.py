"""Zero points of the twin: a code q of an integer stands for q − z, on `Fraction` alone (numerics.md, section 13)."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.twin import twin
from tests.twin.own_numbers import numbers_of
from tests.twin.twin_numbers import VALUES


def dot(
    operation: Any, zeros: Mapping[str, Sequence[int]], a: Sequence[int], b: Sequence[int], c: int, *scales: Sequence[int]
) -> int:
    """The result of an operation for elements with zero points: `zero_a`, `zero_b`, one for each block or one for all."""
    if not zeros:
        return twin.dot(operation, a, b, c, *scales)
    codes = {"a": list(a), "b": list(b)}
    formats = dict[str, Any]()
    for name, of_blocks in zeros.items():
        side = name[-1]
        formats[side] = difference = Difference(getattr(operation, side).name)
        block = operation.block_size or len(codes[side])
        codes[side] = [difference.code(q, of_blocks[k // block]) for k, q in enumerate(codes[side])]
    return twin.dot(Renamed(operation, formats), codes["a"], codes["b"], c, *scales)


class Difference:
    """The integer format of q − z: one bit more than that of q, with a sign and the same last place."""

    def __init__(self, of: str) -> None:
        self._numbers = VALUES[of]
        self._last = min(abs(each.value) for each in self._numbers if each.value)
        self._codes = 2 * len(self._numbers)
        bits, places = self._codes.bit_length() - 1, self._last.denominator.bit_length() - 1
        self.name = f"int{bits}_{places}" if places else f"int{bits}"  # a name says how many bits there are
        VALUES[self.name] = list(numbers_of({"bits": bits, "fraction": places}))

    def code(self, q: int, z: int) -> int:
        """The code of the difference of two codes."""
        found = (self._numbers[q].value - self._numbers[z].value) / self._last
        assert found.denominator == 1
        return int(found) % self._codes


class Renamed:
    """An operation with other formats of a and b, by name."""

    def __init__(self, operation: Any, formats: Mapping[str, Any]) -> None:
        self._operation, self._formats = operation, formats

    def __getattr__(self, key: str) -> Any:
        return self._formats.get(key) or getattr(self._operation, key)
