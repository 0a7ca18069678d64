"""Every class of random inputs reaches the situations of its name."""

from fractions import Fraction

import numpy as np
import pytest

from golden.arithmetic.formats import Cls
from golden.operations import TFDPA
from golden.stimulus import OperandShape, generate
from tests.golden.stimulus.stimuli import (
    BF16_STEP,
    FP16_STEP,
    SHAPES,
    exact_terms,
    only,
    result_classes,
    rows_for,
)  # fmt: skip


@pytest.mark.slow
def test_bits_class_is_uniform() -> None:
    a = only(generate(SHAPES["mixed fp8"], 20000, seed=1), "bits").operands.a
    tally = np.bincount(a.ravel(), minlength=256)
    assert tally.min() > 0.6 * tally.mean()
    assert tally.max() < 1.5 * tally.mean()


def test_normal_class_overlaps_and_mixes_signs() -> None:
    """In most rows at least half of the products lie within 24 exponents of the largest term, so that they all count."""
    stimulus = rows_for(BF16_STEP, "normal")
    shape = OperandShape.of_operation(BF16_STEP)
    overlapping, mixed = 0, 0
    for row in range(len(stimulus)):
        terms = exact_terms(shape, stimulus, row)
        largest = max(map(abs, terms))
        overlapping += sum(abs(term) * 2**24 > largest for term in terms[:-1]) >= 4
        mixed += len({term > 0 for term in terms[:-1]}) == 2
    assert overlapping > 0.6 * len(stimulus)
    assert mixed > 0.4 * len(stimulus)


def test_cancel_class_cancels() -> None:
    """The products' exact sum is far smaller than the products."""
    stimulus = rows_for(BF16_STEP, "cancel")
    shape = OperandShape.of_operation(BF16_STEP)
    for row in range(len(stimulus)):
        products = exact_terms(shape, stimulus, row)[:-1]
        assert abs(sum(products, Fraction(0))) * 8 < sum(map(abs, products))


@pytest.mark.parametrize("step", [BF16_STEP, FP16_STEP], ids=["bf16", "fp16"])
def test_specials_class_reaches_all_results(step: TFDPA) -> None:
    tally = result_classes(step, rows_for(step, "specials"))
    assert min(tally.count(cls) for cls in (Cls.NORMAL, Cls.INFINITY, Cls.NAN)) > 0.1 * len(tally)


def test_tiny_class_gives_subnormals_and_huge_class_infinities() -> None:
    assert result_classes(BF16_STEP, rows_for(BF16_STEP, "tiny")).count(Cls.SUBNORMAL) > 100
    huge = result_classes(BF16_STEP, rows_for(BF16_STEP, "huge"))
    assert min(huge.count(Cls.INFINITY), huge.count(Cls.NORMAL)) > 100
