"""Keys for user designs, case by case: the rules of numerics.md, section 13, with codes computed by hand."""

import re
from pathlib import Path
from typing import Any

import pytest

from golden.arithmetic.formats import BF16, E4M3IEEE, FP16, FP32, FP64, Format
from golden.operations import EFDPA, FMA, TFDPA, TRFDPA, FTZAddMul
from golden.units.unit_file import load_unit, unit_from_table, unit_to_toml
from tests.golden.operations.one_step import MINUS, MODES, ONE, of_values, t_fdpa


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
        (FMA_FP16 | {"c": "ue4m3"}, ValueError, "c must be a format with a sign and without padding, got ue4m3"),
        (
            FMA_FP16 | {"a": "e4m3", "b": "e4m3", "c": "e4m3", "flags": True}, ValueError,
            "flags = true needs IEEE 754's NaNs in a, b and c; got a=e4m3, b=e4m3, c=e4m3",
        ),
        (
            FMA_FP16 | {"sticky": True}, ValueError,
            "FMA key must be one of a, b, c, rho, nan, flush_inputs, flush_results, overflow, flags, "
            "tininess, beside_nan; got 'sticky'",
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


UNITS = Path(__file__).parents[3] / "examples" / "units"


def test_units_of_the_examples_are_what_numerics_md_says_of_them(tmp_path: Path) -> None:
    units = {path.stem: load_unit(path) for path in sorted(UNITS.glob("*.toml"))}
    stated = {
        "cvfpu-fma-fp16": FMA(a=FP16, b=FP16, c=FP16, rho="RD-FP16", overflow="by-mode"),
        "pulp-sdotp": EFDPA(a=E4M3IEEE, b=E4M3IEEE, c=FP16, L=2, rho="RNE-FP16", overflow="by-mode"),
        "rvbna": TFDPA(a=BF16, b=BF16, c=FP32, L=2, F=24, rho="RO-FP32", e_zero=-254, truncation="RO"),
        "vortex-tfr": t_fdpa(L=4, sticky=True, flush_results=True),
    }
    assert {name: units[name].operation for name in stated} == stated
    for found in units.values():
        (tmp_path / "back.toml").write_text(unit_to_toml(found), encoding="utf-8")
        assert load_unit(tmp_path / "back.toml") == found


def test_rvbna_by_hand() -> None:
    """1 + 2^−25 is 1 + 2^−24 to odd after alignment with 24 bits and 1 + 2^−23 to odd in fp32; less 1 that is 2^−23."""
    unit = load_unit(UNITS / "rvbna.toml")
    one, small = BF16.encode(1), BF16.encode(2.0**-25)
    assert unit.operation.step([one, small], [one, one], 0) == FP32.encode(1) + 1
    assert unit.chain_over(2)([one, small], [one, one], FP32.encode(-1)) == FP32.encode(2.0**-23)


def test_sign_of_an_exact_zero_of_e_fdpa() -> None:
    """IEEE 754, section 6.3, for any number of terms: all negative, or in RD any."""
    one, minus, negative = FP16.encode(1), FP16.negative_zero, FP32.negative_zero
    for mode, some in (("RNE", 0), ("RD", negative)):
        operation = EFDPA(a=FP16, b=FP16, c=FP32, L=2, rho=f"{mode}-FP32", zero="ieee")
        assert operation.step([minus, minus], [one, one], negative) == negative
        assert operation.step([minus, 0], [one, one], negative) == some
        assert operation.step([minus, minus], [one, one], 0) == some
        assert operation.step([one, one | minus], [one, one], 0) == some  # terms that cancel
        assert operation.step([0, 0], [one, one], 0) == 0
        assert operation.changed(zero="positive").step([minus, minus], [one, one], negative) == 0
