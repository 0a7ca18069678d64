"""Symmetry: Φ(−A, B, −C) = −Φ(A, B, C), and (−a) + (−b) = −(a + b), which rounding up or down breaks (paper 000,
section 6.2.4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from golden.arithmetic.format import power_of_two
from golden.stimulus import Place, Row
from golden.stimulus.shrink import smallest
from mmau.analysis.adverse_rows import empty_row, gapped_rows, product_codes, stimulus_rows
from mmau.analysis.exact_value import Arithmetic
from mmau.analysis.monotonicity import negated, number_of

MAX_GAP = 48
"""Largest distance between the terms of the built rows (exponents)."""


@dataclass(frozen=True)
class Asymmetry:
    """A row that violates symmetry: its result, and the result with A and C negated, which is not −d."""

    row: Row
    d: int
    mirrored: int


def asymmetry(arithmetic: Arithmetic, row: Row) -> Asymmetry | None:
    """The asymmetry of a row; None where negating A and C, or both elements that are added, negates the result. Zeros of
    both signs count as equal, and so do NaNs."""
    mirror = replace(row, a=tuple(negated(code, arithmetic.a) for code in row.a), c=negated(row.c, arithmetic.c))
    if arithmetic.shape.adds:
        mirror = replace(mirror, b=tuple(negated(code, arithmetic.b) for code in row.b))
    d, mirrored = arithmetic(row), arithmetic(mirror)
    x, y = number_of(d, arithmetic.d), number_of(mirrored, arithmetic.d)
    same = y is None if x is None else y is not None and x == -y
    return None if same else Asymmetry(row, d, mirrored)


def first_asymmetry(arithmetic: Arithmetic, rows: Iterable[Row]) -> Asymmetry | None:
    """The minimised asymmetry of the first row that has one; None where no row has one."""
    for row in rows:
        if asymmetry(arithmetic, row) is not None:
            found = smallest(row, arithmetic.shape, lambda rows: [asymmetry(arithmetic, each) is not None for each in rows])
            return asymmetry(arithmetic, found)
    return None


def pairs(arithmetic: Arithmetic) -> Iterator[Row]:
    """Rows with one product beside c, with two products, or with two elements that are added: magnitudes 1 and 2**−gap, one
    of them negative."""
    one = product_codes(arithmetic, 0)
    for gap in range(MAX_GAP):
        small, c = product_codes(arithmetic, -gap), arithmetic.c.encode(power_of_two(-gap))
        empty = empty_row(arithmetic)
        if one is None:
            continue
        alone = Place("b").put(Place("a").put(empty, one[0]), one[1])
        if arithmetic.shape.has_c:
            yield replace(alone, c=negated(c, arithmetic.c))
        elif arithmetic.shape.adds:
            yield Place("b").put(alone, negated(c, arithmetic.b))
        if small is not None and arithmetic.K > 1:
            yield Place("b", 1).put(Place("a", 1).put(alone, negated(small[0], arithmetic.a)), small[1])


def search(arithmetic: Arithmetic, rows: int, seed: int) -> tuple[Asymmetry | None, int]:
    """The first asymmetry, minimised, or None; and the number of rows tried until then: pairs of terms, rows built to
    lose much,
    and rows of the stimulus."""
    tried = [*pairs(arithmetic), *gapped_rows(arithmetic, range(MAX_GAP)), *stimulus_rows(arithmetic, rows, seed)]
    return first_asymmetry(arithmetic, tried), len(tried)
