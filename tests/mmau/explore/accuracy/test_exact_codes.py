"""Many codes at a time, against the formats' own decoding and encoding of one."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from golden.arithmetic.formats import FORMATS, INT8, INT32, UINT8, Format
from golden.arrays import bits_dtype
from mmau.explore.accuracy import quantise
from mmau.explore.accuracy.exact_sums import Codes, Floats, value_of
from mmau.explore.accuracy.quantise import INTEGER_FACTORS, Quantiser, before_rounding, blocked, factors, rounded

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


MODES: dict[str, Callable[[float, float, float, float], float]] = {
    "RNE": lambda x, low, high, even: high if x - low > high - x or (x - low == high - x and even == high) else low,
    "RNA": lambda x, low, high, _: high if x - low > high - x or (x - low == high - x and x > 0) else low,
    "RZ": lambda x, low, high, _: low if x > 0 else high,
    "RD": lambda x, low, high, _: low,
    "RU": lambda x, low, high, _: high,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m1", "e3m2", "int8"])
def test_every_mode_takes_one_of_the_two_neighbours(name: str, mode: str) -> None:
    operand = FORMATS[name]
    held = {float(v): code for code in range(operand.codes) if (v := operand.value(code)) is not None}
    ordered = sorted(held)
    drawn = RNG.uniform(ordered[0], ordered[-1], 400) * np.exp2(-RNG.integers(0, 12, 400))
    for x in [*drawn.tolist(), *((x + y) / 2 for x, y in pairwise(ordered))]:
        high = next(v for v in ordered if v >= x)
        low = max(v for v in ordered if v <= x)
        even = low if held[low] % 2 == 0 else high
        wanted = MODES[mode](x, low, high, even) if low < high else low
        assert value_of(operand, rounded(np.array([x]), operand, mode)).tolist() == [wanted], x


def test_stochastic_rounding_takes_neighbours_in_proportion() -> None:
    operand, rng = FORMATS["e4m3"], np.random.default_rng(1)
    found = value_of(operand, rounded(np.full(40_000, -1.03125), operand, "stochastic", rng))
    assert set(found.tolist()) == {-1.0, -1.125}  # a quarter of the way
    assert abs((found == -1.125).mean() - 0.25) < 0.01


def test_a_factor_brings_the_largest_number_of_its_tensor_or_row_to_the_top() -> None:
    values = RNG.standard_normal((30, 64))
    of_tensor = factors(values, FORMATS["e4m3"], None, None, Quantiser(scale_per="tensor"))
    assert (of_tensor == np.abs(values).max() / 448).all()
    of_rows = factors(values, INT8, None, None, Quantiser(scale_per="row"))
    assert of_rows.tolist() == (np.abs(values).max(axis=1, keepdims=True) / 127).tolist()
    second = factors(values, FORMATS["e2m1"], FORMATS["ue4m3"], 16, Quantiser(scale_per="tensor"))
    assert (second == np.abs(values).max() / (6 * 448)).all()
    kept = factors(values, FORMATS["fp16"], None, None, Quantiser(scale_per="tensor"))
    power = factors(values, FORMATS["e2m1"], FORMATS["ue8m0"], 32, Quantiser(scale_per="tensor"))
    assert (kept == 1).all()  # wide elements
    assert (power == 1).all()  # scales that reach everywhere


def noise(values: Floats, how: Quantiser, scale: str | None) -> float:
    """The sum of squared errors of e2m1 elements."""
    e2m1, block = FORMATS["e2m1"], {"ue8m0": 32, "ue4m3": 16}.get(scale or "")
    found = None if scale is None else FORMATS[scale]
    factor = factors(values, e2m1, found, block, how)
    if found is None or block is None:
        reached = value_of(e2m1, rounded(values / factor, e2m1))
    else:
        codes, scales = blocked(values / factor, e2m1, found, block, how)
        reached = value_of(e2m1, codes) * np.repeat(value_of(found, scales), block, axis=1)
    return float(((reached * factor - values) ** 2).sum())


@pytest.mark.parametrize("scale", [None, "ue8m0", "ue4m3"])
def test_least_squares_are_no_worse_than_the_largest_number(scale: str | None) -> None:
    values = RNG.standard_normal((20, 64))
    per = None if scale == "ue8m0" else "tensor"
    best, usual = (noise(values, Quantiser(scale_per=per, scale_from=each), scale) for each in ("mse", "amax"))
    assert best < usual


def test_a_percentile_lets_the_largest_numbers_saturate() -> None:
    values = np.arange(1.0, 101.0)[None]
    factor = factors(values, INT8, None, None, Quantiser(scale_per="row", scale_from="percentile", percentile=50))
    assert factor.tolist() == [[50.5 / 127]]
    assert (value_of(INT8, rounded(values / factor, INT8)) == 127).sum() == 50


def test_integers_take_numbers_times_their_factor() -> None:
    def rounded(values: Floats, operand: Format) -> Codes:
        return quantise.rounded(before_rounding(values, operand), operand)

    values = np.array([0.0, 1.0, -1.0, 100.0, -100.0, 0.49 / INTEGER_FACTORS[8]])
    assert value_of(INT8, rounded(values, INT8)).tolist() == [0, 32, -32, 127, -128, 0]
    assert value_of(FORMATS["int4"], rounded(values, FORMATS["int4"])).tolist() == [0, 2, -2, 7, -8, 0]
    assert value_of(FORMATS["b1"], rounded(values, FORMATS["b1"])).tolist() == [0, 1, 1, 1, 1, 0]
    assert value_of(UINT8, rounded(values, UINT8)).tolist() == [0, 32, 32, 255, 255, 0]
    assert value_of(INT32, rounded(values, INT32)).tolist()[1] == INTEGER_FACTORS[8] ** 2


def test_a_block_s_scale_brings_its_largest_number_to_the_top() -> None:
    """MX: powers of two, so that the largest of a block lies in the top binade or saturates; NV: the largest becomes 6."""
    values = RNG.standard_normal((50, 40)) * np.exp2(RNG.integers(-20, 20, (50, 1)))
    for element, scale, block in (("e2m1", "ue8m0", 32), ("e4m3", "ue8m0", 32), ("e2m1", "ue4m3", 16)):
        codes, scales = blocked(values, FORMATS[element], FORMATS[scale], block, Quantiser())
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
