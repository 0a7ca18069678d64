"""Symmetry: Φ(−A, B, −C) = −Φ(A, B, C), which rounding up or down breaks (paper 000, section 6.2.4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from analysis.catalogue import arithmetics, numbers
from analysis.comparison import shown
from analysis.exact import Arithmetic, Row
from analysis.order import Place, negated, number_of
from analysis.page import PAPER, Page, document, markdown_table
from analysis.risks import ASYMMETRY, risks
from analysis.rows import empty_row, gapped_rows, product_codes, stimulus_rows
from analysis.shrink import smallest
from analysis.values import value_of
from golden.format import power_of_two
from golden.instruction import Instruction

MAX_GAP = 48
"""How far apart the terms of the built rows lie (exponents)."""

ROWS = 300
"""Rows of the stimulus for each arithmetic."""


@dataclass(frozen=True)
class Asymmetry:
    """A row and its results: of it, and of it with A and C negated."""

    row: Row
    d: int
    mirrored: int


def asymmetry(arithmetic: Arithmetic, row: Row) -> Asymmetry | None:
    """The row's, None where the mirrored row has the mirrored result. Zeros of both signs count as one, as do NaNs."""
    mirror = replace(row, a=tuple(negated(code, arithmetic.a) for code in row.a), c=negated(row.c, arithmetic.c))
    d, mirrored = arithmetic(row), arithmetic(mirror)
    x, y = number_of(d, arithmetic.d), number_of(mirrored, arithmetic.d)
    same = y is None if x is None else y is not None and x == -y
    return None if same else Asymmetry(row, d, mirrored)


def first_asymmetry(arithmetic: Arithmetic, rows: Iterable[Row]) -> Asymmetry | None:
    """The smallest that comes of the first row that has one; None where none has one."""
    for row in rows:
        if asymmetry(arithmetic, row) is not None:
            return asymmetry(arithmetic, smallest(row, arithmetic, lambda r: asymmetry(arithmetic, r) is not None))
    return None


def pairs(arithmetic: Arithmetic) -> Iterator[Row]:
    """One product beside c, and two products, of magnitudes 1 and 2**−gap, one of them negative."""
    one = product_codes(arithmetic, 0)
    for gap in range(MAX_GAP):
        small, c = product_codes(arithmetic, -gap), arithmetic.c.encode(power_of_two(-gap))
        empty = empty_row(arithmetic)
        if one is None:
            continue
        alone = Place("b").put(Place("a").put(empty, one[0]), one[1])
        yield replace(alone, c=negated(c, arithmetic.c))
        if small is not None and arithmetic.K > 1:
            yield Place("b", 1).put(Place("a", 1).put(alone, negated(small[0], arithmetic.a)), small[1])


def search(arithmetic: Arithmetic, rows: int, seed: int) -> tuple[Asymmetry | None, int]:
    """The smallest asymmetry that is found, and of how many rows: pairs of terms, rows built to lose much, and rows of the
    stimulus."""
    tried = [*pairs(arithmetic), *gapped_rows(arithmetic, range(MAX_GAP)), *stimulus_rows(arithmetic, rows, seed)]
    return first_asymmetry(arithmetic, tried), len(tried)


def page(seed: int) -> Page:
    """Which units are asymmetric, beside the paper's table 10."""
    found = {i: search(Arithmetic.of_instruction(i), ROWS, seed) for i in arithmetics()}
    examples = {i: described(i, example) for i, (example, _) in found.items() if example is not None}
    rows = [(f"`{i.arch} {i.name}`", i.operation.name, *example) for i, example in examples.items()]
    wrong = [i.name for i in found if (i in examples) != predicted(i)]
    verdict = "agrees with what was found for every one of them" if not wrong else f"is wrong for {', '.join(wrong)}"
    tried = sum(count for _, count in found.values())
    architectures = ", ".join(dict.fromkeys(f"`{i.arch}`" for i in examples))
    text = document(
        "Symmetry",
        "analysis-symmetry",
        f"A unit is symmetric where Φ(−A, B, −C) = −Φ(A, B, C) for every input. {PAPER}, section 6.2.4 and table 10, finds "
        "AMD CDNA3's BF16, FP16 and FP8 instructions asymmetric, for they round down.",
        f"{len(found)} distinct arithmetics of the catalogue were searched, {tried:,} rows in all, seed {seed}; zeros of "
        f"both signs count as one. {len(examples)} are asymmetric, all of {architectures}. What "
        f"`analysis.risks` says from the parameters alone {verdict}.",
        "Each with the smallest input that was found: fewest products, then fewest set bits. Elements that are not named "
        "are 0.",
        markdown_table(("instruction", "operation", "input", "d", "d of −A and −C"), rows),
    )
    return Page({"symmetry.md": text})


def described(i: Instruction, example: Asymmetry) -> tuple[str, str, str]:
    """The input and both results."""
    d, mirrored = (shown(value_of(code, i.d)) for code in (example.d, example.mirrored))
    return numbers(Arithmetic.of_instruction(i), example.row), d, mirrored


def predicted(i: Instruction) -> bool:
    """Whether its parameters make an instruction asymmetric."""
    return any(risk.name == ASYMMETRY for risk in risks(i.operation))
