"""Rounded sums at every gap between their terms, and of every class of operand, against golden."""

from collections.abc import Iterator
from itertools import product

import pytest
from bitwuzla import TermManager

from golden import Operation
from golden.arithmetic.formats import Format
from golden.operations import FMA, FTZEOFMA, FTZFMA, FTZAddMul
from mmau.prove.counterexample import golden_result
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.observer import Observer
from tests.mmau.prove.provable_units import unit_of
from tests.volume import one_in


class Specified:
    """An operation's specification, evaluated row by row."""

    def __init__(self, operation: Operation) -> None:
        self.operation, self._terms = operation, Terms(TermManager())
        widths = {"a": operation.a.width, "b": operation.b.width}
        self._ports = {name: self._terms.free(name, width * operation.length) for name, width in widths.items()}
        self._ports["c"] = self._terms.free("c", operation.c.width)
        d = SPECIFICATIONS[type(operation)](self._terms, operation, self._ports, Observer())
        self._evaluation = Evaluation([d.term])

    def check(self, a: int, b: int, c: int) -> int:
        """d of packed operands, which is golden's."""
        inputs = {"a": a, "b": b, "c": c}
        (d,) = self._evaluation.of({self._ports[name].term: value for name, value in inputs.items()})
        assert d == golden_result(unit_of(self.operation), inputs), {name: hex(value) for name, value in inputs.items()}
        return d


def codes_with_exponent(fmt: Format, exp: int) -> list[int]:
    """Positive codes with that exponent: a power of two, the next number and the last one; subnormal ones below e_min."""
    if exp < fmt.e_min:
        place = exp - fmt.e_min + fmt.man_bits
        return [1 << place, (2 << place) - 1] if place >= 0 else []
    hidden = exp + fmt.bias << fmt.man_bits
    return [hidden, hidden + 1, hidden + (1 << fmt.man_bits) - 1]


def rows_at_gap(operation: Operation, gap: int) -> Iterator[tuple[int, int, int]]:
    """Codes whose product has an exponent that lies `gap` above that of c, near the middle of the range and at its ends."""
    a, c = operation.a, operation.c
    for c_exp in {c.e_min - 2, c.e_min, c.e_min + (c.e_max - c.e_min) // 3, c.e_max}:
        p_exp = c_exp + gap
        x_exp = min(max(p_exp // 2, a.e_min), a.e_max)
        y_exp = p_exp - x_exp
        if a.e_min - a.man_bits <= y_exp <= a.e_max:
            codes = product(codes_with_exponent(a, x_exp), codes_with_exponent(a, y_exp), codes_with_exponent(c, c_exp))
            for x, y, z in codes:
                yield x, y, z
                yield x | a.negative_zero, y, z


GAPS = {
    "FMA fp16": (FMA(a="fp16", b="fp16", c="fp16"), range(-60, 60)),  # type: ignore[arg-type]
    "FMA bf16 toward -inf": (FMA(a="bf16", b="bf16", c="fp32", rho="RD-FP32"), range(-60, 60, 5)),  # type: ignore[arg-type]
    "FTZ-FMA fp16": (FTZFMA(a="fp16", b="fp16", c="fp32", L=1), range(-90, 90, 9)),  # type: ignore[arg-type]
    "FTZ-FMA bf16": (FTZFMA(a="bf16", b="bf16", c="fp32", L=1), range(-60, 60, 9)),  # type: ignore[arg-type]
    "FTZ-AddMul": (FTZAddMul(a="bf16", b="bf16", c="fp32", P=1), range(-30, 31, 6)),  # type: ignore[arg-type]
    "FMA fp32": (FMA(a="fp32", b="fp32", c="fp32"), range(-380, 381, 7)),  # type: ignore[arg-type]
    "FMA fp64": (FMA(a="fp64", b="fp64", c="fp64"), (*range(-180, 181, 12), *range(-3068, 3069, 236))),  # type: ignore[arg-type]
}
"""Operations of one product, and gaps."""


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(2, [name for name in GAPS if not name.endswith(("32", "64"))]))
def test_every_gap(name: str) -> None:
    operation, gaps = GAPS[name]
    specified = Specified(operation)
    rows = [row for gap in gaps for row in rows_at_gap(operation, gap)]
    assert len({specified.check(*row) for row in rows[:: max(1, len(rows) // 350)]}) > 40


@pytest.mark.long
@pytest.mark.parametrize("name", ["FMA fp32", "FMA fp64"])
def test_every_gap_of_wide_formats(name: str) -> None:
    operation, gaps = GAPS[name]
    specified = Specified(operation)
    rows = [row for gap in gaps for row in list(rows_at_gap(operation, gap))[gap % 5 :: 17]]
    assert len({specified.check(*row) for row in rows}) > 200


def classes(fmt: Format) -> list[int]:
    """Codes of every class: zero, subnormal, normal, infinite, quiet and signalling NaN with payloads."""
    infinity, quiet = fmt.signed_infinity(0), 1 << (fmt.man_bits - 1)
    magnitudes = [0, 1, quiet - 1, 1 << fmt.man_bits, fmt.bias << fmt.man_bits, fmt.max_finite, infinity]
    return [*magnitudes, infinity | quiet | 1, infinity | 2]


OF_CLASSES = (
    FMA(a="fp16", b="fp16", c="fp16"),  # type: ignore[arg-type]
    FMA(a="fp16", b="fp16", c="fp16", nan="first", overflow="saturate"),  # type: ignore[arg-type]
    FMA(a="fp16", b="fp16", c="fp16", rho="RD-FP16", flush_inputs=True, overflow="by-mode"),  # type: ignore[arg-type]
    FMA(a="fp16", b="fp16", c="fp16", flush_results=True),  # type: ignore[arg-type]
    FTZAddMul(a="fp16", b="fp16", c="fp32", P=1),  # type: ignore[arg-type]
    FTZAddMul(a="bf16", b="bf16", c="fp32", P=1),  # type: ignore[arg-type]
    FTZFMA(a="bf16", b="bf16", c="fp32", L=1),  # type: ignore[arg-type]
    FTZFMA(a="fp16", b="fp16", c="fp32", L=1),  # type: ignore[arg-type]
)


@pytest.mark.slow
@pytest.mark.parametrize("operation", one_in(2, OF_CLASSES), ids=lambda operation: f"{operation.name} {operation.a}")
def test_every_class_of_operand(operation: Operation) -> None:
    """A fifth of all, with signs of the first and the last operand."""
    specified, sign, c_sign = Specified(operation), operation.a.negative_zero, operation.c.negative_zero
    signs = ((0, 0), (sign, 0), (sign, c_sign))
    rows = list(product(classes(operation.a), classes(operation.b), classes(operation.c), signs))
    for x, y, z, (first, last) in rows[::5]:
        specified.check(x | first, y, z | last)


def test_the_first_nan_of_two_chains() -> None:
    """Even products come before odd ones, and c before both."""
    operation = FTZEOFMA(a="bf16", b="bf16", c="fp32", L=2)  # type: ignore[arg-type]
    specified, one = Specified(operation), 0x3F80
    nans = [specified.check(a0 | a1 << 16, one | one << 16, c) for a0, a1, c in product(
        (one, 0x7F80, 0x7F81, 0xFFC2), (one, 0xFF80, 0xFFA3), (0x3F800000, 0x7FA00004)
    )]  # fmt: skip
    assert {0x7FC10000, 0xFFC20000, 0xFFE30000, 0x7FE00004, 0xFFC00000} <= set(nans)
