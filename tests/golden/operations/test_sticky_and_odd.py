"""The keys `sticky` and `truncation`, case by case: bits lost at alignment affect rounding (numerics.md, section 13)."""

import numpy as np
import pytest

from golden.arithmetic.formats import E2M1, FP16, FP32, UE8M0
from golden.operations import GSTFDPA
from tests.golden.operations.one_step import BELOW, HALF_ULP, MINUS, MODES, of_values, t_fdpa
from tests.golden.rows import unit


@pytest.mark.parametrize("sign", [1, -1])
def test_sticky_breaks_a_tie_away_from_zero(sign: int) -> None:
    lost = (sign * BELOW[0], BELOW[1])
    half = (sign * HALF_ULP[0], HALF_ULP[1])
    assert of_values(t_fdpa(), [half, lost], sign) == FP32.encode(sign)
    assert of_values(t_fdpa(sticky=True), [half, lost], sign) == FP32.encode(sign) + 1
    assert of_values(t_fdpa(sticky=True), [half, (0, 0)], sign) == FP32.encode(sign)


def test_sticky_of_c_and_of_any_term_counts() -> None:
    assert of_values(t_fdpa(sticky=True, rho="RU-FP32"), [(1, 1), (0, 0)], 2.0**-40) == FP32.encode(1) + 1
    assert of_values(t_fdpa(sticky=True, rho="RU-FP32"), [(1, 1), BELOW], 0) == FP32.encode(1) + 1
    assert of_values(t_fdpa(rho="RU-FP32"), [(1, 1), BELOW], 2.0**-40) == FP32.encode(1)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("place", range(4))
def test_sticky_of_a_term_in_any_place_breaks_a_tie(place: int, flush: bool, engine: str) -> None:
    """1 + half an ulp + a term that is lost: two products and, in the place of one of them, the lost one; or it is c."""
    operation = t_fdpa(L=3, sticky=True, flush_results=flush)
    products = [(1.0, 1.0), HALF_ULP]
    c = 2.0**-40
    if place < 3:
        products, c = [*products[:place], (2.0**-14, 2.0**-14), *products[place:]], 0.0
    else:
        products.append((0.0, 0.0))
    a, b = (np.array([[FP16.encode(pair[i]) for pair in products]], np.uint16) for i in range(2))
    codes = a, b, np.array([FP32.encode(c)], np.uint32)
    assert unit(operation).dot(*codes, engine=engine)[0] == FP32.encode(1) + 1
    assert unit(operation.changed(sticky=False)).dot(*codes, engine=engine)[0] == FP32.encode(1)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("place", range(3))
def test_sticky_of_a_group_breaks_a_tie(place: int, engine: str) -> None:
    """Three groups of one product, each with scales of its own: 1, half an ulp of it, and one that is lost."""
    operation = GSTFDPA(
        a=E2M1, b=E2M1, c=FP32, L=3, F=24, G=1, K_block=1, rho="RNE-FP32", e_zero=-126, scale=UE8M0, sticky=True
    )
    exponents = [0, -24]
    exponents.insert(place, -60)
    scales = np.array([[127 + exponent for exponent in exponents]], np.uint8)
    ones, unscaled = np.full((1, 3), operation.a.encode(1), np.uint8), np.full((1, 3), 127, np.uint8)
    codes = ones, ones, np.zeros(1, np.uint32), scales, unscaled
    assert unit(operation).dot(*codes, engine=engine)[0] == FP32.encode(1) + 1
    assert unit(operation.changed(sticky=False)).dot(*codes, engine=engine)[0] == FP32.encode(1)


def test_sticky_is_no_value_after_cancellation() -> None:
    """1 − 1 + a product that is lost but for its upper bit: the total is 2^−24, and lower bits are not bits of d."""
    lost = (2.0**-12 * 1.5, 2.0**-12)
    for truncation in ("RZ", "RD"):
        unit_with = t_fdpa(sticky=True, truncation=truncation)
        assert of_values(unit_with, [(1, -1), lost], 1) == FP32.encode(2.0**-24)
        assert of_values(unit_with.changed(rho="RO-FP32"), [(1, -1), lost], 1) == FP32.encode(2.0**-24) + 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("truncation", ["RZ", "RD"])
def test_total_of_zero_is_plus_zero_whatever_was_lost(mode: str, truncation: str) -> None:
    operation = t_fdpa(sticky=True, truncation=truncation, rho=f"{mode}-FP32")
    assert of_values(operation, [(1, -1), BELOW], 1) == 0


BELOW_ONE = FP32.encode(-1) - 1


@pytest.mark.parametrize(
    ("mode", "d"),
    [
        ("RZ", BELOW_ONE),
        ("RU", BELOW_ONE),
        ("RD", MINUS | FP32.encode(1)),
        ("RNE", MINUS | FP32.encode(1)),
        ("RO", BELOW_ONE),
    ],
)
def test_sticky_joins_a_negative_floor_from_above(mode: str, d: int) -> None:
    """RD of −1 + 2^−25 at F = 24 is −1; with the sticky bit the sum lies just above it, in the binade below."""
    operation = t_fdpa(sticky=True, truncation="RD", rho=f"{mode}-FP32")
    assert of_values(operation, [(-1, 1), BELOW], 0) == d


def test_sticky_of_a_floor_breaks_a_tie_upwards() -> None:
    """−1 − 2^−24 is a tie between −1 and the number below it; the sum lies above it."""
    negative = [(-HALF_ULP[0], HALF_ULP[1]), BELOW]
    assert of_values(t_fdpa(sticky=True, truncation="RD", rho="RNA-FP32"), negative, -1) == FP32.encode(-1)
    assert of_values(t_fdpa(truncation="RD", rho="RNA-FP32"), negative, -1) == FP32.encode(-1) + 1


def test_truncation_to_odd_leaves_a_one() -> None:
    """Where RZ loses a product of 2^−25 under F = 24, RO makes it 2^−24, of either sign."""
    for sign in (1, -1):
        lost = (sign * BELOW[0], BELOW[1])
        assert of_values(t_fdpa(truncation="RO", rho="RZ-FP32"), [(1, -1), lost], 1) == FP32.encode(sign * 2.0**-24)
        assert of_values(t_fdpa(truncation="RZ", rho="RZ-FP32"), [(1, -1), lost], 1) == 0
