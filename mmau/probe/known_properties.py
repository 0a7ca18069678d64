"""Properties of a device that no model explains: each property from vectors of its own, without a model.

The papers' tests say how terms are aligned, normalised and rounded; the answers so far say what NaN and infinities do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from golden.arithmetic.formats import Cls, Format
from golden.comparison import is_nan
from golden.device import Device
from golden.stimulus.integer_classes import is_integer
from mmau.probe.journal import Evidence
from mmau.probe.papers import KHATTAK, NO_ANSWER, features
from mmau.probe.papers.asker import Asker, Row
from mmau.probe.papers.operand_values import NotHeldError, Sum, power

PROPERTIES = {
    "subnormals in": "subnormal operands are kept",
    "subnormals out": "subnormal results are kept",
    "n_eab": "extra bits retained below the largest term",
    "alignment": "how a term loses bits beside a larger one",
    "RM-BFMA": "rounding of the last sum",
    "I.Norm": "each sum is normalised at once",
}
"""Name and meaning of each property of Khattak's tests that does not suppose blocks."""

RANDOM = "random"
"""The finding where equal bits are rounded in two ways."""

ROUNDED_TWICE = 16
"""Number of sums with equal bits to round that are asked: they differ in bits that no rounding depends on."""

FACTORS = 4
"""Number of pairs of factors that the added product alternates between."""


@dataclass(frozen=True)
class Established:
    """A property.

    Attributes:
        what: the property. finding: its value. vectors: how many show it.
        rows: the vectors where they were asked for it, with the device's answers.
    """

    what: str
    finding: str
    vectors: int
    rows: tuple[Row, ...] = ()


def established(dut: Device, evidence: Evidence, asked_twice: int) -> list[Established]:
    """The properties of a device under test, each shown by vectors of its own.

    Args:
        evidence: the answers so far. asked_twice: number of answers that were the same when they were asked again.

    Raises:
        DeviceUnderTestError: the device misbehaves.
    """
    found = [Established("the same answer when it is asked again", "yes", asked_twice)]
    found += _special_values(dut, evidence)
    if is_integer(dut.shape):
        return found
    asker = Asker(dut)
    for name, reading in features(KHATTAK, dut, asker).readings.items():
        if name in PROPERTIES and reading.answer != NO_ANSWER and reading.rows:
            found.append(Established(PROPERTIES[name], reading.answer, len(reading.rows), reading.rows))
    rounding = rounding_repeats(asker)
    if any(one.finding.startswith(RANDOM) for one in rounding):
        found = [one for one in found if one.what != PROPERTIES["RM-BFMA"]]
    return found + rounding


def rounding_repeats(asker: Asker) -> list[Established]:
    """Whether sums are rounded by their bits alone. c has the same sign, exponent and last bit, and one product lies the
    same part of a last place above it; the other bits of c and the factors of the product, which no rounding mode looks at,
    are different. The last place is that of the device's results, which may be less than d's; nothing is said of a device
    that does not leave such a c alone as it is."""
    rng = np.random.default_rng(0)
    found: list[Established] = []
    try:
        bits = asker.precision - 1
        last = power(-bits)
        for part in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
            for sign, odd in ((1, 0), (1, 1), (-1, 0), (-1, 1)):
                middle = rng.permutation(1 << max(0, min(bits - 1, 12)))[:ROUNDED_TWICE]
                c = [sign * (1 + (2 * Fraction(int(m)) + odd) * last) for m in middle]
                if asker.ask_scaled(*(Sum(value, (0,)) for value in c)) != c:
                    return []
                asker.begin()
                size = sign * part * last
                d = asker.first_held(
                    [Sum(value, ((size * power(n % FACTORS), power(-(n % FACTORS))),)) for n, value in enumerate(c)],
                    [Sum(value, (size,)) for value in c],
                )
                if any(value is None for value in d):
                    return []
                up = sum(abs(value) > abs(one) for value, one in zip(d, c, strict=True))  # type: ignore[arg-type]
                if 0 < up < len(c):
                    text = f"{RANDOM}: {up} of {len(c)} sums that lie {part} of the last place above a number go up, not all"
                    return [Established("rounding", text, len(c), tuple(asker.rows))]
                found.append(Established("rounding", "", len(c), tuple(asker.rows)))
    except NotHeldError:
        return []
    rows = tuple(row for one in found for row in one.rows)
    return [Established("rounding", "by the bits of the sum alone", len(rows), rows)]


def _special_values(dut: Device, evidence: Evidence) -> Iterator[Established]:
    """The results for NaN and infinities among the operands, in the answers so far."""
    shape, operands = dut.shape, evidence.operands
    if shape.d.infinity is None:
        return
    columns = [(operands.a, shape.a), (operands.b, shape.b), (operands.c[:, None], shape.c)]
    nan = np.any([_has(codes, operand, Cls.NAN).any(axis=1) for codes, operand in columns], axis=0)
    infinite = np.any([_has(codes, operand, Cls.INFINITY).any(axis=1) for codes, operand in columns], axis=0) & ~nan
    results = {"NaN": is_nan(evidence.d, shape.d)}
    results["infinity"] = np.isin(evidence.d, [shape.d.signed_infinity(0), shape.d.signed_infinity(1)])
    for what, rows in (("a NaN among the operands", nan), ("infinities among the operands", infinite)):
        if rows.any():
            counts = {name: int((rows & given).sum()) for name, given in results.items()}
            other = int(rows.sum()) - sum(counts.values())
            text = ", ".join(f"{name} {count}" for name, count in (counts | {"a number": other}).items() if count)
            yield Established(what, text, int(rows.sum()))


def _has(codes: Any, operand: Format, cls: Cls) -> Any:
    """Where codes are of a class."""
    if operand.infinity is None:
        of_class = [code for code in range(operand.codes) if operand.width <= 8 and operand.decode(code)[3] is cls]
        return np.isin(codes, of_class)
    if cls is Cls.NAN:
        return is_nan(codes, operand)
    return np.isin(codes, [operand.signed_infinity(0), operand.signed_infinity(1)])


def lines_of(found: list[Established]) -> Iterator[str]:
    """A line for each property."""
    for n, one in enumerate(found):
        yield f"{'known' if n == 0 else '':<12}{one.what}: {one.finding}   ({one.vectors} vectors)"
