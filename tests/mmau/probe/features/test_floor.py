"""Rows that tell a model from its candidate models."""

import numpy as np
import pytest

from golden.arithmetic.formats import BF16, E4M3, FP32, UE4M3
from golden.chains.chain import Chain
from golden.comparison import differing
from golden.engines.engine import Batch, run
from golden.stimulus import GeneratorDraws, OperandShape
from mmau.probe.device_under_test import dut_of
from mmau.probe.features.feature import Feature
from mmau.probe.features.floor import FLOOR, NEARLY_CANCELLED, SMALL_SUMS
from tests.mmau.probe.known_units import is_recovered, random_unit

NEVER_COUNTS = random_unit(570)
"""An ST-FDPA whose e_zero lies below all terms."""


def told(feature: Feature, e_zero: int) -> int:
    """How many of a feature's questions tell the unit from the one with another e_zero."""
    chain = Chain(NEVER_COUNTS.operation)
    rows = Batch(*feature.questions(dut_of(NEVER_COUNTS).shape, GeneratorDraws(np.random.default_rng(0))))
    other = Chain(chain.operation.changed(e_zero=e_zero))
    return int(differing(run(None, other, rows), run(None, chain, rows), chain.operation).sum())


def test_a_floor_that_truncates_only_nearly_cancelled_products_is_found() -> None:
    """With e_zero = -250 and F = 26 only bits below 2^-276 are cut: two products have such bits, no single one."""
    assert told(NEARLY_CANCELLED, -250) > 0
    assert told(SMALL_SUMS, -250) == told(FLOOR, -250) == 0
    assert told(NEARLY_CANCELLED, -291) == 0  # as the unit's own: below all terms


@pytest.mark.long
def test_a_unit_whose_floor_lies_below_all_terms_is_recovered() -> None:
    assert is_recovered(NEVER_COUNTS, vectors=20_000)


@pytest.mark.parametrize("K", [1, 2, 8])
@pytest.mark.parametrize("scaled", [False, True])
def test_pairs_that_nearly_cancel_have_two_products_and_the_smallest_scales(K: int, scaled: bool) -> None:
    shape = OperandShape(
        a=BF16, b=E4M3, c=FP32, d=FP32, K=K, scale=UE4M3 if scaled else None, block_size=K if scaled else None
    )
    a, b, c, scale_a, scale_b = NEARLY_CANCELLED.questions(shape, GeneratorDraws(np.random.default_rng(0)))
    assert len(a) == len(b) == len(c) == (256 if K > 1 else 0)
    products = (a & 0x7FFF != 0).sum(axis=1)
    assert (products <= 2).all()
    assert np.count_nonzero(products == 2) >= 0.9 * len(a)
    assert (scale_a is None) == (scale_b is None) == (not scaled)
    assert scale_a is None or (scale_a == 1).all()
