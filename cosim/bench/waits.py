"""Gaps and stalls of each length that meet each class of results: some designs fail for one count of waiting cycles and one
rare value at once."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np

from cosim.bench.products import Bits, Rows, Vector
from cosim.bench.schedule import WAITS
from cosim.coverage.covergroup import classes
from golden import Cls, Format
from golden.arithmetic.integer_format import IntegerFormat

GAP, STALL = "gap", "stall"
"""The kinds of waits: cycles without an offer before a vector, and cycles for which its result waits to be taken."""

FLOAT_CLASSES = ("zero", "subnormal", "normal", "largest", "infinity", "NaN")
"""The classes of floating-point results; `largest` is the largest finite number, of either sign."""

OTHER_CLASSES = ("zero", "nonzero")
"""The classes of other results."""


def classes_of(result: Format | Bits) -> tuple[str, ...]:
    """The classes of results of a format."""
    return FLOAT_CLASSES if isinstance(result, Format) and not isinstance(result, IntegerFormat) else OTHER_CLASSES


def class_numbers(rows: Rows) -> list[int]:
    """The index into `classes_of` of the class of each expected result."""
    result = rows.result
    if not isinstance(result, Format) or isinstance(result, IntegerFormat):
        return [int(result.decode(code).cls is not Cls.ZERO) for code in rows.expected]
    codes = np.array(rows.expected, np.uint64)
    found = classes(result, codes) // 2
    fields = codes >> np.uint64(result.pad_bits) & np.uint64((1 << result.exp_bits + result.man_bits) - 1)
    is_largest = fields == result.max_finite >> result.pad_bits
    numbers: list[int] = (found + (found > Cls.NORMAL) + is_largest).tolist()
    return numbers


class Waits:
    """The lengths of gaps and stalls that each class of results has met in a simulation, and which it meets next.

    Args:
        lengths: every length, in the order in which a class meets them.
    """

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = lengths
        self._kinds: list[str] = []
        self._result: Format | Bits | None = None
        self._met: dict[tuple[str, int], set[int]] = {}
        self._numbers: dict[int, tuple[Rows, list[int]]] = {}

    def watch(self, kind: str) -> None:
        """Count waits of this kind, which the design's protocol has."""
        self._kinds.append(kind)

    def wanted(self, kind: str, vector: Vector) -> int:
        """The length of the wait that a vector is to meet; 0 for none."""
        if not self._lengths:
            return 0
        number = self._numbers_of(vector)[vector.number % len(vector.elements)]
        met = self._met.get((kind, number), ())
        return 0 if len(met) == len(self._lengths) else next(length for length in self._lengths if length not in met)

    def meet(self, kind: str, length: int, vector: Vector) -> None:
        """Count a wait of this length that a vector has met."""
        if self._lengths and 0 < length <= WAITS:
            for number in self._numbers_of(vector):
                self._met.setdefault((kind, number), set()).add(length)

    def met(self) -> dict[str, str]:
        """The lengths that each class has met, by kind and class, as text like `1-40, 42`."""
        found = {kind: [self._met.get((kind, number), ()) for number in range(len(FLOAT_CLASSES))] for kind in self._kinds}
        return {} if self._result is None else waits_by_name(found, self._result)

    def _numbers_of(self, vector: Vector) -> list[int]:
        """The class of each element of a vector's result."""
        found = []
        for products, row, _ in vector.elements:
            if id(products) not in self._numbers:
                while len(self._numbers) >= 64:  # rows of earlier chunks
                    self._numbers.pop(next(iter(self._numbers)))
                self._numbers[id(products)] = products, class_numbers(products)
                self._result = self._result or products.result
            found.append(self._numbers[id(products)][1][row])
        return found


def waits_by_name(met: Mapping[str, Sequence[Collection[int]]], result: Format | Bits) -> dict[str, str]:
    """The lengths that each class has met, as `Waits.met`, from the lengths by kind and number of the class."""
    names = classes_of(result)
    return {f"{kind}, {name}": as_ranges(of[number]) for kind, of in met.items() for number, name in enumerate(names)}


def as_ranges(lengths: Collection[int]) -> str:
    """Numbers as text: `1-40, 42`."""
    ordered = sorted(lengths)
    starts = [at for at, (before, each) in enumerate(pairwise([-1, *ordered])) if each != before + 1]
    runs = [ordered[start:end] for start, end in pairwise([*starts, len(ordered)])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def in_ranges(text: str) -> set[int]:
    """The numbers of a text that `as_ranges` wrote."""
    ends = [list(map(int, part.split("-"))) for part in text.split(", ") if part]
    return {length for run in ends for length in range(run[0], run[-1] + 1)}


def all_met(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The lengths that each class has met in one of several simulations."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: as_ranges({n for part in parts for n in in_ranges(part.get(name, ""))}) for name in names}


def lacking(met: Mapping[str, str]) -> list[str]:
    """The waits that a class has not met, as text like `stall, NaN: 41, 43-64`."""
    every = set(range(1, WAITS + 1))
    missing = {name: as_ranges(every - in_ranges(text)) for name, text in met.items()}
    return [f"{name}: {lengths}" for name, lengths in missing.items() if lengths]
