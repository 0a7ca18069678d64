"""Many codes at a time, against the formats' own decoding and encoding of one."""

from itertools import pairwise

import numpy as np
import pytest

from golden.arithmetic.formats import FORMATS, INT8, INT32, UINT8, Format
from golden.arrays import bits_dtype
from mmau.explore.accuracy.exact_sums import INTEGER_SCALES, Codes, quantised, rounded, value_of

RNG = np.random.default_rng(5)


def codes_of(operand: Format) -> Codes:
    """Every code of a small format; of others random ones and those around what is special."""
    if operand.width <= 8:
        return np.arange(operand.codes).astype(bits_dtype(operand))
    edges = [0, 1, operand.max_finite, operand.max_finite + 1, operand.codes - 1, operand.negative_zero]
    if operand.infinity is not None:
        edges += [operand.infinity, operand.infinity + 1, operand.signed_infinity(1), operand.nan or 0]
    drawn = RNG.integers(0, operand.codes, 2000, dtype=np.uint64)
    return np.concatenate([np.array(edges, np.uint64), drawn]).astype(bits_dtype(operand))


@pytest.mark.parametrize("operand", [f for f in FORMATS.values() if f.subnormals and f.man_bits], ids=str)
def test_numbers_are_rounded_as_the_format_rounds(operand: Format) -> None:
    """Ties, subnormals, zeros, and numbers beyond the range, which become the largest."""
    finite = [code for code in codes_of(operand).tolist() if operand.value(code) is not None]
    exact = [float(operand.value(code) or 0) for code in finite]
    neighbours = [float(operand.value(code) or 0) for code in range(min(200, operand.max_finite + 1))]
    middles = [(x + y) / 2 for x, y in pairwise(neighbours)] if operand.man_bits < 50 else []
    values = np.array([*exact, *middles, *(-x for x in middles), 0.0, *(RNG.standard_normal(200) * 8)])
    largest = float(operand.value(operand.max_finite) or 0)
    inside = values[np.abs(values) <= largest]
    wanted = [operand.encode(max(x, 0.0) if not operand.signed else x) for x in inside.tolist()]
    assert rounded(inside, operand).tolist() == wanted
    if largest < 1e300:
        beyond = rounded(np.array([2 * largest, -2 * largest]), operand)
        assert beyond.tolist()[0] == operand.max_finite
        assert not operand.signed or operand.value(int(beyond[1])) == -largest


def test_integers_take_numbers_times_their_scale() -> None:
    values = np.array([0.0, 1.0, -1.0, 100.0, -100.0, 0.49 / INTEGER_SCALES[8]])
    assert value_of(INT8, rounded(values, INT8)).tolist() == [0, 32, -32, 127, -128, 0]
    assert value_of(FORMATS["int4"], rounded(values, FORMATS["int4"])).tolist() == [0, 2, -2, 7, -8, 0]
    assert value_of(FORMATS["b1"], rounded(values, FORMATS["b1"])).tolist() == [0, 1, 1, 1, 1, 0]
    assert value_of(UINT8, rounded(values, UINT8)).tolist() == [0, 32, 32, 255, 255, 0]
    assert value_of(INT32, rounded(values, INT32)).tolist()[1] == INTEGER_SCALES[8] ** 2


def test_a_block_s_scale_brings_its_largest_number_to_the_top() -> None:
    """MX: powers of two, so that the largest of a block lies in the top binade or saturates; NV: the largest becomes 6."""
    values = RNG.standard_normal((50, 40)) * np.exp2(RNG.integers(-20, 20, (50, 1)))
    for element, scale, block in (("e2m1", "ue8m0", 32), ("e4m3", "ue8m0", 32), ("e2m1", "ue4m3", 16)):
        codes, scales = quantised(values, FORMATS[element], FORMATS[scale], block)
        factors = value_of(FORMATS[scale], scales)
        assert codes.shape == (50, 40)
        assert scales.shape == (50, -(-40 // block))
        largest = np.abs(value_of(FORMATS[element], codes[:, :block])).max(axis=1)
        wanted = np.abs(values[:, :block]).max(axis=1)
        if scale == "ue8m0":
            assert (largest >= 2.0 ** FORMATS[element].e_max).all()
            assert (np.abs(largest * factors[:, 0] / wanted - 1) <= 0.25).all()
        else:
            inside = (wanted / 6 < 448) & (wanted / 6 > 2**-6)
            assert inside.any()
            assert (largest[inside] == 6).all()
