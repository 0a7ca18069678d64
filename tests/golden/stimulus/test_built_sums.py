"""Rows whose first products add up to a chosen accumulator: the sums are exact, and they find what other rows miss."""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
import pytest

from golden import Unit
from golden.arithmetic.formats import BF16, E4M3, E5M2, FP16, FP32, INT8, INT32, UE8M0, Format
from golden.arrays import BitArray
from golden.comparison import is_nan
from golden.operations import EFDPA, TFDPA
from golden.stimulus import CORNERS, GeneratorDraws, Operands, OperandShape, generate
from golden.stimulus.built_sums import built, inner_shape
from golden.stimulus.codes import IntArray
from golden.stimulus.corners.corner import Corner
from tests.golden.stimulus.stimuli import exact

STEPS = {
    "fp16": OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4, step=1, has_c=False),
    "two products": OperandShape(a=BF16, b=BF16, c=FP32, d=FP32, K=8, step=2, has_c=False),
    "c given too": OperandShape(a=BF16, b=BF16, c=FP32, d=FP32, K=8, step=2),
    "mixed": OperandShape(a=E5M2, b=E4M3, c=FP16, d=FP16, K=20, step=4, has_c=False),
    "scaled": OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=96, scale=UE8M0, block_size=32, step=32, has_c=False),
    "no step": OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=8, has_c=False),
}


def with_c_known(name: str) -> tuple[Corner, list[Operands]]:
    """A corner, and the list of the operands that it makes."""
    made: list[Operands] = []

    def make(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
        made.append(CORNERS[name].make(shape, draws, case))
        return made[-1]

    return replace(CORNERS[name], make=make), made


def products(shape: OperandShape, operands: Operands, row: int) -> list[Fraction]:
    """The exact products of a row, scales included."""

    def values(of: Format | None, codes: BitArray | None) -> list[Fraction]:
        return [Fraction(1)] * shape.K if of is None or codes is None else [exact(of, code) for code in codes[row].tolist()]

    factors = [values(shape.a, operands.a), values(shape.b, operands.b)]
    scales = [values(shape.scale, operands.scale_a), values(shape.scale, operands.scale_b)]
    factors += [[each[k // (shape.block_size or 1)] for k in range(shape.K)] for each in scales]
    return [prod(terms) for terms in zip(*factors, strict=True)]


@pytest.mark.parametrize("corner", ["ties", "cancellation"])
@pytest.mark.parametrize("name", STEPS)
def test_first_products_add_up_to_the_accumulator_of_a_corner(name: str, corner: str) -> None:
    """In nine of ten rows, and without a partial sum that c's format does not have."""
    shape = STEPS[name]
    inner, (known, made) = inner_shape(shape), with_c_known(corner)
    assert inner is not None
    case = np.arange(0, CORNERS[corner].cases(inner), 31)
    operands = built(shape, GeneratorDraws(np.random.default_rng(1)), known, case)
    tries, reached = len(made[0].c) // len(case), 0
    for row in range(len(case)):
        start, terms = shape.c.value(int(operands.c[row])), products(shape, operands, row)
        asked = range(row * tries, (row + 1) * tries)
        pairs = [(shape.c.value(int(made[0].c[of])), products(inner, made[0], of)) for of in asked]
        for at in range(0, shape.K - inner.K + 1, inner.K if shape.step else 1):
            behind = terms[at + inner.K :]
            sums = list(accumulate(terms[:at] if shape.step else [*terms[:at], *behind], initial=start))
            if (sums[-1], terms[at : at + inner.K]) in pairs and (not shape.step or not any(behind)):
                reached += shape.c is not FP32 or all(Fraction(float(np.float32(float(s)))) == s for s in sums)
                break
    assert reached >= 0.9 * len(case), (reached, len(case))


ONE: dict[str, Any] = {"a": FP16, "b": FP16, "c": FP32, "L": 1, "rho": "RNE-FP32"}


@pytest.mark.parametrize("F", [30, 40, 44])
def test_accumulator_that_drops_what_lies_far_below_is_seen(F: int) -> None:
    """Only in rows whose first products make the accumulator; all others miss it from 38 places on."""
    right, wrong = EFDPA(**ONE), TFDPA(**ONE, F=F, e_zero=-1000)
    seen = []
    for shape in (STEPS["fp16"], replace(STEPS["fp16"], step=0, has_c=True)):
        a, b, c = generate(replace(shape, K=3), 6000, seed=0).operands[:3]
        d, other = (Unit(name="sum", operation=of).dot(a, b, np.zeros_like(c)) for of in (right, wrong))
        seen.append(bool(((d != other) & ~is_nan(d, FP32)).any()))
    assert seen == [True, F == 30]


def test_rows_without_room_are_those_of_one_sum() -> None:
    """Integers, a single step with c, or a step of several blocks in part."""
    of_integers = OperandShape(a=INT8, b=INT8, c=INT32, d=INT32, K=8, step=2, has_c=False)
    in_blocks = replace(STEPS["scaled"], K=64, step=0)
    for shape in (of_integers, replace(STEPS["fp16"], step=0, has_c=True), replace(in_blocks, K=48)):
        assert inner_shape(shape) is None
    assert inner_shape(in_blocks) == replace(in_blocks, K=32, has_c=True)


def test_steps_that_do_not_divide_the_products_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^K must be a multiple of the 3 products of a step, got 8$"):
        replace(STEPS["no step"], step=3)
