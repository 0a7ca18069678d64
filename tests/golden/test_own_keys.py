"""Keys of units of one's own, case by case: what numerics.md, section 13, says, with codes worked out by hand."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.formats import BF16, E2M1, E4M3IEEE, FP16, FP32, FP64, UE8M0, Format
from golden.operations import EFDPA, FMA, GSTFDPA, TFDPA, TRFDPA, FTZAddMul, Operation
from golden.unit_file import load_unit, unit_from_table, unit_to_toml
from tests.golden.rows import unit

MINUS = 1 << 31
ONE = FP16.encode(1)
MODES = ("RZ", "RNE", "RD", "RU", "RO", "RNA")


def t_fdpa(**keys: Any) -> TFDPA:
    """T-FDPA of fp16 with F = 24: c = 1 and products down to 2^−24 are summed whole."""
    defaults: dict[str, Any] = {"a": FP16, "b": FP16, "c": FP32, "L": 2, "F": 24, "rho": "RNE-FP32", "e_zero": -126}
    return TFDPA(**(defaults | keys))


def of_values(operation: Operation, products: Sequence[tuple[float, float]], c: float) -> int:
    """One step on values that the formats hold exactly."""
    a, b = ([f.encode(pair[i]) for pair in products] for i, f in enumerate((operation.a, operation.b)))
    return operation.step(a, b, operation.c.encode(c))


HALF_ULP, BELOW = (2.0**-12, 2.0**-12), (2.0**-13, 2.0**-12)
"""Products worth half an ulp of 1 in fp32, which is the last bit under F = 24, and half of that, which is lost."""


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
    """1 − 1 + a product that is lost but for its upper bit: the total is 2^−24, and what is below it is not a bit of d."""
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


@pytest.mark.parametrize(
    ("mode", "magnitude", "plus", "minus"),
    [("RNE", 2.5, 2, -2), ("RNA", 2.5, 3, -3), ("RO", 2.5, 3, -3), ("RO", 3.5, 3, -3), ("RO", 2, 2, -2), ("RU", 2.5, 3, -2)],
)
def test_modes_of_fma(mode: str, magnitude: float, plus: float, minus: float) -> None:
    """At 2^10 the last bit of fp16 is 1."""
    fma = FMA(a=FP16, b=FP16, c=FP16, rho=f"{mode}-FP16")
    for product, d in ((magnitude, plus), (-magnitude, minus)):
        c = 1024 if product > 0 else -1024
        assert of_values(fma, [(product, 1)], c) == FP16.encode(c + d)


def test_round_to_odd_never_gives_zero_nor_leaves_the_range() -> None:
    fma = FMA(a=FP16, b=FP16, c=FP16, rho="RO-FP16")
    assert of_values(fma, [(2.0**-24, 2.0**-10)], 0) == 1
    assert of_values(fma, [(-(2.0**-24), 2.0**-10)], 0) == FP16.negative_zero | 1
    assert of_values(fma, [(1, 31)], 65504) == FP16.max_finite
    assert of_values(fma, [(1, 32)], 65504) == FP16.infinity


LARGEST_OF = {
    "infinity": dict.fromkeys(MODES, (False, False)),
    "saturate": dict.fromkeys(MODES, (True, True)),
    "by-mode": {
        "RZ": (True, True), "RO": (True, True), "RNE": (False, False), "RNA": (False, False), "RD": (True, False),
        "RU": (False, True),
    },
}  # fmt: skip
"""Whether a positive and a negative overflow give the largest finite number (IEEE 754, section 7.4)."""


@pytest.mark.parametrize("overflow", LARGEST_OF)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("d", [FP16, BF16, FP32, FP64], ids=str)
def test_overflow(overflow: Any, mode: str, d: Format) -> None:
    fma = FMA(a=d, b=d, c=d, rho=f"{mode}-{d.name.upper()}", overflow=overflow)
    assert d.infinity is not None
    for negative in (False, True):
        sign = d.negative_zero if negative else 0
        code = d.max_finite if LARGEST_OF[overflow][mode][negative] else d.infinity
        assert fma.step([d.encode(1)], [sign | d.max_finite], sign | d.max_finite) == sign | code
        # Infinities of the operands stay what they are.
        assert fma.step([d.encode(1)], [sign | d.infinity], d.encode(1)) == sign | d.infinity


def test_overflow_of_e8m13_keeps_its_thirteen_bits() -> None:
    operation = TFDPA(a=BF16, b=BF16, c=FP32, L=1, F=13, rho="RZ-E8M13", e_zero=-133, overflow="by-mode")
    assert of_values(operation, [(2.0**64, 2.0**64)], 0) == 0x7F7FFC00


def test_product_that_overflows_in_tr_fdpa_is_an_infinity_in_spite_of_saturation() -> None:
    tr = TRFDPA(a=BF16, b=BF16, c=FP32, L=1, F=24, F2=31, overflow="saturate")
    assert of_values(tr, [(2.0**64, 2.0**64)], 0) == FP32.infinity
    largest = FP32.max_finite
    assert tr.step([BF16.encode(2.0**64)], [BF16.encode(2.0**63)], largest) == largest


GST_FDPA: dict[str, Any] = {
    "a": FP16, "b": FP16, "c": FP32, "L": 1, "G": 1, "K_block": 1, "F": 60, "rho": "RNE-FP32", "e_zero": -139,
    "scale": "ue4m3",
}  # fmt: skip
SUBNORMAL, NEGATIVE_SUBNORMAL, INFINITY = 1, FP16.negative_zero | 1, FP16.signed_infinity(0)


@pytest.mark.parametrize(
    "make",
    [
        lambda **keys: t_fdpa(L=1, **keys),
        lambda **keys: EFDPA(a=FP16, b=FP16, c=FP32, L=1, **keys),
        lambda **keys: TRFDPA(a=FP16, b=FP16, c=FP32, L=1, F=24, F2=31, **keys),
        lambda **keys: FMA(a=FP16, b=FP16, c=FP16, **keys),
        lambda **keys: GSTFDPA(**GST_FDPA | keys),
    ],
)  # fmt: skip
def test_flushed_inputs_are_zeros_of_their_sign(make: Any) -> None:
    keeps, flushes = make(), make(flush_inputs=True)
    one_scale = [0x38] * keeps.scales_per_step
    one = keeps.d.encode(1)
    for a, b in ((SUBNORMAL, ONE), (ONE, NEGATIVE_SUBNORMAL)):
        assert keeps.step([a], [b], 0, one_scale, one_scale) != 0
        assert flushes.step([a], [b], one, one_scale, one_scale) == one
        assert flushes.step([a], [b], 0, one_scale, one_scale) == 0
    assert flushes.step([0], [ONE], 1, one_scale, one_scale) == 0  # c
    # zero times infinity
    assert keeps.d.value(flushes.step([SUBNORMAL], [INFINITY], 0, one_scale, one_scale)) is None
    assert flushes.step([SUBNORMAL], [INFINITY], 0, one_scale, one_scale) not in (keeps.d.infinity, 0)
    assert keeps.step([SUBNORMAL], [INFINITY], 0, one_scale, one_scale) == keeps.d.infinity


def test_scales_are_never_flushed() -> None:
    gst = GSTFDPA(**GST_FDPA | {"flush_inputs": True})
    assert gst.step([ONE], [ONE], 0, [1], [0x38]) == FP32.encode(2.0**-9)


def test_flushed_zero_of_fma_keeps_its_sign() -> None:
    fma = FMA(a=FP16, b=FP16, c=FP16, flush_inputs=True)
    assert fma.step([NEGATIVE_SUBNORMAL], [ONE], NEGATIVE_SUBNORMAL) == FP16.negative_zero
    assert fma.step([NEGATIVE_SUBNORMAL], [ONE], SUBNORMAL) == 0


def test_inputs_are_flushed_in_every_step_of_a_chain() -> None:
    """2^−24 from the first step is subnormal, and nothing to the second."""
    fma = unit(FMA(a=FP16, b=FP16, c=FP16, flush_inputs=True))
    small = FP16.encode(2.0**-12)
    a = np.array([[small, 0], [small, small]], np.uint16)
    c = np.zeros(2, np.uint16)
    assert fma.dot(a, a, c, engine="reference").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("mode", "above_half", "quarter"),
    [("RNE", 0x0400, 0), ("RNA", 0x0400, 0), ("RZ", 0, 0), ("RU", 0x0400, 0x0400), ("RO", 0, 0)],
)
def test_what_rounds_up_to_a_normal_number_is_not_flushed(mode: str, above_half: int, quarter: int) -> None:
    """Just below 2^−14: less an eighth of the subnormals' unit, 2^−24, is nearer to 2^−14 on a grid of 2^−25, which 11
    significant bits have there; less half of it is on that grid, and less three eighths nearer to it."""
    fma = FMA(a=FP16, b=FP16, c=FP16, rho=f"{mode}-FP16", flush_results=True)
    c = 2.0**-14
    assert of_values(fma, [(-(2.0**-12), 2.0**-15)], c) == above_half
    assert of_values(fma, [(-(2.0**-12), 2.0**-13)], c) == 0
    assert of_values(fma, [(-(2.0**-12), 1.5 * 2.0**-14)], c) == quarter


def test_flushed_results() -> None:
    subnormal = [(2.0**-24, 2.0**-110)]
    for sign, zero in ((1, 0), (-1, MINUS)):
        pair = [(sign * subnormal[0][0], subnormal[0][1])]
        keys: dict[str, Any] = {"a": BF16, "b": BF16, "c": FP32, "L": 1, "flush_results": True}
        assert of_values(EFDPA(**keys), pair, 0) == zero
        assert of_values(TRFDPA(**keys, F=24, F2=31), pair, 0) == zero
        assert of_values(FMA(a=FP32, b=FP32, c=FP32, flush_results=True), pair, 0) == zero
        assert of_values(TFDPA(**keys, F=24, rho="RNE-FP32", e_zero=-252), pair, 0) == 0
        assert (
            of_values(TFDPA(**keys, F=24, rho="RNE-FP32", e_zero=-252), [(sign * 2.0**-63, 2.0**-63)], 0)
            == (sign < 0) * MINUS | 0x00800000
        )


ZERO_SIGNS = [(p, q, c, mode) for p in (0, 1) for q in (0, 1) for c in (0, 1) for mode in MODES]


@pytest.mark.parametrize("d", [FP16, FP64], ids=str)
def test_sign_of_an_exact_zero_of_fma(d: Format) -> None:
    """IEEE 754, section 6.3: like signs keep theirs; unlike ones give +0, and −0 in RD."""
    one, minus = d.encode(1), d.negative_zero
    for p, q, c, mode in ZERO_SIGNS:
        fma = FMA(a=d, b=d, c=d, rho=f"{mode}-{d.name.upper()}")
        expected = minus if (p != q and c) or ((p != q) != bool(c) and mode == "RD") else 0
        assert fma.step([p * minus], [one | q * minus], c * minus) == expected
        if (p != q) != bool(c):
            assert fma.step([one | p * minus], [one | q * minus], one | c * minus) == expected


@pytest.mark.parametrize("mode", MODES)
def test_exact_zero_of_the_other_operations_is_plus_zero(mode: str) -> None:
    keys: dict[str, Any] = {"a": FP16, "b": FP16, "c": FP32, "L": 2, "rho": f"{mode}-FP32"}
    for operation in (EFDPA(**keys), TRFDPA(**keys, F=24, F2=31), t_fdpa(rho=f"{mode}-FP32")):
        assert of_values(operation, [(1, 1), (1, -1)], 0) == 0
        assert operation.step([FP16.negative_zero] * 2, [ONE] * 2, MINUS) == 0


T_FDPA: dict[str, Any] = {
    "name": "u", "operation": "T-FDPA", "L": 4, "F": 24, "rho": "RNE-FP32", "e_zero": -126, "a": "fp16", "b": "fp16",
    "c": "fp32",
}  # fmt: skip
FMA_FP16 = {"name": "u", "operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16"}
TR_FDPA = {"name": "u", "operation": "TR-FDPA", "L": 4, "F": 24, "F2": 31, "a": "fp16", "b": "fp16", "c": "fp32"}


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (T_FDPA | {"sticky": 1}, TypeError, "sticky must be true or false, without quotes, got 1"),
        (T_FDPA | {"flush_inputs": "true"}, TypeError, "flush_inputs must be true or false, without quotes, got 'true'"),
        (T_FDPA | {"flush_results": 0}, TypeError, "flush_results must be true or false, without quotes, got 0"),
        (
            T_FDPA | {"overflow": "saturated"}, ValueError,
            "overflow must be one of infinity, saturate, by-mode; got 'saturated' (did you mean 'saturate'?)",
        ),
        (T_FDPA | {"overflow": True}, ValueError, "overflow must be one of infinity, saturate, by-mode; got True"),
        (
            T_FDPA | {"sticky": True, "truncation": "RO"}, ValueError,
            "sticky must be false where truncation is RO, which keeps what is lost in the term; got sticky=true",
        ),
        (
            TR_FDPA | {"truncation": "RO"}, ValueError,
            "truncation must be one of RZ, RD; got 'RO' (did you mean 'RZ' or 'RD'?)",
        ),
        (
            FMA_FP16 | {"rho": "RD-FP32"}, ValueError,
            "rho must be one of RZ-FP16, RNE-FP16, RD-FP16, RU-FP16, RO-FP16, RNA-FP16; got 'RD-FP32' "
            "(did you mean 'RD-FP16' or 'RZ-FP16' or 'RU-FP16'?)",
        ),
        (FMA_FP16 | {"a": "e5m2"}, ValueError, "a must be one of fp16, bf16, fp32, fp64; got 'e5m2'"),
        (
            FMA_FP16 | {"sticky": True}, ValueError,
            "FMA key must be one of a, b, c, rho, nan, flush_inputs, flush_results, overflow; got 'sticky'",
        ),
        (
            {"name": "u", "operation": "FTZ-AddMul", "P": 2, "a": "fp16", "b": "fp16", "c": "fp32", "flush_inputs": True},
            ValueError, "FTZ-AddMul key must be one of a, b, c, P; got 'flush_inputs'",
        ),
    ],
)  # fmt: skip
def test_table_wrong(table: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        unit_from_table(table)


def test_keys_at_their_defaults_are_not_written() -> None:
    plain = unit_from_table(T_FDPA)
    spelled_out = unit_from_table(
        T_FDPA | {"sticky": False, "flush_inputs": False, "flush_results": False, "overflow": "infinity"}
    )
    assert spelled_out == plain
    assert unit_to_toml(plain) == unit_to_toml(spelled_out)
    assert unit_to_toml(unit_from_table(T_FDPA | {"sticky": True})) == unit_to_toml(plain).replace(
        'truncation = "RZ"\n', 'truncation = "RZ"\nsticky = true\n'
    )
    assert unit_from_table(FMA_FP16 | {"rho": "RNE-FP16"}) == unit_from_table(FMA_FP16)
    assert FMA(a=FP16, b=FP16, c=FP16).rho == "RNE-FP16"
    assert "rho" not in unit_to_toml(unit_from_table(FMA_FP16))


def test_ftz_addmul_has_none_of_the_keys() -> None:
    assert FTZAddMul.own_keys == ()


UNITS = Path(__file__).parents[2] / "examples" / "units"


def test_units_of_the_examples_are_what_numerics_md_says_of_them(tmp_path: Path) -> None:
    units = {path.stem: load_unit(path) for path in sorted(UNITS.glob("*.toml"))}
    operations = {name: found.operation for name, found in units.items()}
    assert operations == {
        "cvfpu-fma-fp16": FMA(a=FP16, b=FP16, c=FP16, rho="RD-FP16", overflow="by-mode"),
        "pulp-sdotp": EFDPA(a=E4M3IEEE, b=E4M3IEEE, c=FP16, L=2, rho="RNE-FP16", overflow="by-mode"),
        "rvbna-accumulate": FMA(a=FP32, b=FP32, c=FP32, rho="RO-FP32"),
        "rvbna-dot": TFDPA(a=BF16, b=BF16, c=FP32, L=2, F=24, rho="RO-FP32", e_zero=-254, truncation="RO"),
        "vortex-tfr": t_fdpa(L=4, sticky=True, flush_results=True),
    }
    for found in units.values():
        (tmp_path / "back.toml").write_text(unit_to_toml(found), encoding="utf-8")
        assert load_unit(tmp_path / "back.toml") == found


def test_rvbna_of_two_units() -> None:
    """1 + 2^−25 is 1 + 2^−24 to odd after alignment with 24 bits and 1 + 2^−23 to odd in fp32; less 1 that is 2^−23."""
    dot, accumulate = (load_unit(UNITS / f"rvbna-{name}.toml").operation for name in ("dot", "accumulate"))
    one, small = BF16.encode(1), BF16.encode(2.0**-25)
    p = dot.step([one, small], [one, one], 0)
    assert p == FP32.encode(1) + 1
    assert accumulate.step([p], [FP32.encode(1)], FP32.encode(-1)) == FP32.encode(2.0**-23)
