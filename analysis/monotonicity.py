"""Monotonicity: a larger operand never gives a smaller result. Units that cut terms at the largest exponent break it: a
larger term may raise that exponent, and all others lose one bit more (paper 004)."""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.catalogue import arithmetics, numbers
from analysis.comparison import shown
from analysis.exact import Arithmetic, Row
from analysis.order import Place, negated, next_up, number_of, size
from analysis.page import PAPER, Page, document, markdown_table
from analysis.rows import empty_row, gapped_rows, product_codes, stimulus_rows
from analysis.shrink import smallest
from analysis.values import value_of
from golden.chain import ConvertedChain, product_order
from golden.format import power_of_two
from golden.formats import FP32, Cls
from golden.instruction import Instruction

ROWS = 20
"""Rows of the stimulus for each arithmetic."""

MAX_GAP = 45
"""How far small products lie below the large term (exponents)."""

LATE_EXP = 16
"""Exponent of the large term where products alone make it: FP8's reach it, and what is 24 bits below."""


@dataclass(frozen=True)
class Fall:
    """A row and an operand of it that is raised to the next number, whereupon the result falls (or, below a negative
    factor, rises).

    Attributes:
        row, place: the row before, and which operand. raised: its code after. d, after: the results.
    """

    row: Row
    place: Place
    raised: int
    d: int
    after: int


def fall(arithmetic: Arithmetic, row: Row, place: Place) -> Fall | None:
    """What becomes of raising one operand; None where the result goes the right way, or one of the results is NaN."""
    operand = {"a": arithmetic.a, "b": arithmetic.b}.get(place.name, arithmetic.c)
    raised = next_up(place.code(row), operand)
    if raised is None:
        return None
    sign = 1
    if place.name != "c":
        factor = arithmetic.b.decode(row.b[place.k]) if place.name == "a" else arithmetic.a.decode(row.a[place.k])
        if factor.cls >= Cls.INFINITY or not factor.sig:
            return None
        sign = -1 if factor.sign else 1
    d, after = arithmetic(row), arithmetic(place.put(row, raised))
    x, y = number_of(d, arithmetic.d), number_of(after, arithmetic.d)
    if x is None or y is None or sign * x <= sign * y:
        return None
    return Fall(row, place, raised, d, after)


def first_fall(arithmetic: Arithmetic, cases: Iterable[tuple[Row, Place]]) -> Fall | None:
    """The smallest that comes of the first case that falls; None where none does."""
    for row, place in cases:
        if fall(arithmetic, row, place) is not None:
            found = smallest(row, arithmetic, lambda r, place=place: fall(arithmetic, r, place) is not None)  # type: ignore[misc]
            return fall(arithmetic, found, place)
    return None


CANCELLING = ((5, 6), (6, 6))
"""Significands in quarters of a product that takes away most of a number just below the next power of two."""


def staircases(arithmetic: Arithmetic) -> Iterator[tuple[Row, Place]]:
    """Rows with a large term just below a power of two, and a number of small products that count only as long as it is
    below: fewest products first, small ones of every size; with and without a product that cancels most of the sum.

    The large term is c, which is raised; where c joins at the end alone, it is the sum of the first step.
    """
    o = arithmetic.chain.operation
    apart = getattr(o, "G", 1)
    late = isinstance(arithmetic.chain, ConvertedChain)
    order = product_order(arithmetic.chain.order, arithmetic.K) if isinstance(arithmetic.chain, ConvertedChain) else None
    places = list(range(arithmetic.K)) if order is None else order
    first, small = (places[: o.length], places[o.length :]) if late else ([], places[: o.length : apart])
    for used in range(1, len(small) + 1):
        for gap in range(1, MAX_GAP):
            for cancels in (True, False):
                row = _staircase(arithmetic, small[:used], gap, cancels, first)
                if row is not None:
                    yield row, Place("a", first[1]) if late else Place("c")


def _staircase(arithmetic: Arithmetic, places: Sequence[int], gap: int, cancels: bool, first: Sequence[int]) -> Row | None:
    """One of them: the small products are 2**(e − gap), the large term is the number below 2**e."""
    e = LATE_EXP if first else max(1, gap + arithmetic.a.e_min + arithmetic.b.e_min)
    small = product_codes(arithmetic, e - gap)
    if small is None or e > arithmetic.c.e_max:
        return None
    a, b = [0] * arithmetic.K, [0] * arithmetic.K
    for k in places:
        a[k], b[k] = small
    if cancels:
        pair = next((p for sigs in CANCELLING if (p := product_codes(arithmetic, e - 1, sigs, 2)) is not None), None)
        if pair is None:
            return None
        a[places[0]], b[places[0]] = negated(pair[0], arithmetic.a), pair[1]
    c = 0
    if first:
        top = product_codes(arithmetic, e)
        lowest = arithmetic.a.e_min - arithmetic.a.man_bits
        factor = power_of_two(e - FP32.man_bits - 1 - lowest)
        below = arithmetic.b.encode(factor)
        if top is None or arithmetic.b.value(below) != factor:
            return None
        a[first[0]], b[first[0]] = top
        a[first[1]], b[first[1]] = negated(1 << arithmetic.a.pad_bits, arithmetic.a), below
    else:
        c = arithmetic.c.encode(power_of_two(e)) - (1 << arithmetic.c.pad_bits)
    return replace(empty_row(arithmetic), a=tuple(a), b=tuple(b), c=c)


def random_cases(arithmetic: Arithmetic, rows: int, seed: int) -> Iterator[tuple[Row, Place]]:
    """Rows of the stimulus and rows built to lose much, each with c and two elements to raise."""
    rng = random.Random(seed)
    for row in (*gapped_rows(arithmetic, range(40)), *stimulus_rows(arithmetic, rows, seed)):
        yield row, Place("c")
        for name in ("a", "b"):
            yield row, Place(name, rng.randrange(arithmetic.K))


def search(arithmetic: Arithmetic, rows: int, seed: int) -> tuple[Fall | None, int]:
    """The smallest fall that is found, and how many cases were tried."""
    tried = 0

    def counted(cases: Iterable[tuple[Row, Place]]) -> Iterator[tuple[Row, Place]]:
        nonlocal tried
        for case in cases:
            tried += 1
            yield case

    found = first_fall(arithmetic, counted(staircases(arithmetic)))
    if found is None:
        found = first_fall(arithmetic, counted(random_cases(arithmetic, rows, seed)))
    return found, tried


def page(seed: int) -> Page:
    """Which units are not monotonic, and the smallest input of each that shows it."""
    found = {i: search(Arithmetic.of_instruction(i), ROWS, seed) for i in arithmetics()}
    examples = {i: described(i, fallen) for i, (fallen, _) in found.items() if fallen is not None}
    alike: dict[tuple[str, ...], list[str]] = {}
    for i, example in examples.items():
        alike.setdefault((i.operation.name, *example), []).append(f"{i.arch} {i.name}")
    rows = [(f"`{names[0]}`" + (f" and {len(names) - 1} more" if names[1:] else ""), *key) for key, names in alike.items()]
    quiet: dict[str, list[int]] = {}
    for i, (fallen, tried) in found.items():
        if fallen is None:
            keys = [f"{key}={i.operation.parameters()[key]}" for key in ("F", "rho") if key in i.operation.parameters()]
            quiet.setdefault(" ".join([i.operation.name, *keys]), []).append(tried)
    none_found = [(name, str(len(counts)), f"{sum(counts):,}") for name, counts in quiet.items()]
    on_volta = next(example for i, example in examples.items() if i.arch == "sm_70")
    text = document(
        "Monotonicity",
        "analysis-monotonicity",
        "A sum is monotonic where raising an operand never lowers it. M. Fasi et al. (*Numerical behavior of NVIDIA tensor "
        "cores*, PeerJ CS 7:e330) found that the tensor cores of V100, T4 and A100 are not. Their example for Volta: c = "
        "1 − 2^−24 with four products 2^−24 gives 1 + 2^−23, and c = 1 gives 1.",
        f"Here every distinct arithmetic of the catalogue was searched ({len(found)}, seed {seed}): first rows with a term "
        "just below a power of two beside small products, fewest products first; then rows of the stimulus with c and "
        f"elements of A and B raised to the next number. {len(examples)} are not monotonic. Each with the smallest input "
        f"found: fewest products, then fewest set bits; on Volta that has {on_volta[0]} products. Elements that are not "
        "named are 0. [monotonicity.json](monotonicity.json) has every one by name.",
        markdown_table(("instruction", "operation", "products", "input", "raised", "d falls from"), rows),
        "Where none was found:",
        markdown_table(("operation", "arithmetics", "cases tried"), none_found),
        "FMA, E-FDPA, FTZ-AddMul and the processors' operations are monotonic by what they are, for each rounds an exact "
        "sum, or one after the other, and rounding is monotonic. For the others a search that finds nothing proves nothing. "
        f"The models are those of {PAPER}.",
    )
    columns = ("products", "input", "raised", "d")
    table = {f"{i.arch} {i.name}": dict(zip(columns, example, strict=True)) for i, example in examples.items()}
    return Page({"monotonicity.md": text, "monotonicity.json": (json.dumps(table, indent=1) + "\n").encode()})


def described(i: Instruction, example: Fall) -> tuple[str, str, str, str]:
    """How many products, the input, what is raised, and what the result does."""
    arithmetic = Arithmetic.of_instruction(i)
    operand = i.c if example.place.name == "c" else i.a
    return (
        str(size(example.row, arithmetic)[0]),
        numbers(arithmetic, example.row),
        f"{example.place} to {shown(value_of(example.raised, operand))}",
        f"{shown(value_of(example.d, i.d))} to {shown(value_of(example.after, i.d))}",
    )
