"""MUL and ADD on rows of public bug reports, and without c."""

import numpy as np
import pytest

from golden import Format, Unit
from golden.operations import ADD, MUL
from golden.operations.fma import ONE, ZERO, one
from golden.units.unit_file import operation_from_table


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("operation", "rho", "a", "b", "d"),
    [
        ("MUL", "RD-FP64", 0x00000000DC98DA8A, 0x0, 0x0),
        ("MUL", "RNE-FP32", 0x00000000, 0x998A3664, 0x80000000),
        ("MUL", "RNE-FP32", 0xAF860E03, 0x0681DB7F, 0x80000009),
        ("MUL", "RNE-FP32", 0x00800000, 0x3F7FFFFF, 0x00800000),
        ("MUL", "RZ-BF16", 0x3FA0, 0x3FCE, 0x4000),
        ("ADD", "RNE-FP16", 0x4000, 0xC000, 0x0000),
        ("ADD", "RD-FP16", 0x4000, 0xC000, 0x8000),
        ("ADD", "RD-FP16", 0x0000, 0x0000, 0x0000),
        ("ADD", "RNE-FP32", 0x3F800000, 0x33800000, 0x3F800000),
        ("ADD", "RNA-FP32", 0x3F800000, 0x33800000, 0x3F800001),
    ],
)  # fmt: skip
def test_result_is_that_of_ieee_754(engine: str, operation: str, rho: str, a: int, b: int, d: int) -> None:
    """The first two are cvfpu#72 and rsd#92, the third verilog-math#3, the fourth and fifth cvfpu#94 and tt-metal#55678."""
    name = rho.partition("-")[2].lower()
    unit = Unit(name="u", operation=operation_from_table({"operation": operation, "a": name, "b": name, "rho": rho}))
    dtype = f"uint{unit.a.width}"
    got = unit.dot(np.array([[a]], dtype), np.array([[b]], dtype), engine=engine)
    assert hex(got[0]) == hex(d)


@pytest.mark.parametrize("nan", ["quiet", "first", "b-c-a"])
@pytest.mark.parametrize("rho", ["RNE-E5M2", "RZ-E5M2", "RD-E5M2", "RU-E5M2", "RNA-E5M2"])
@pytest.mark.parametrize("operation", [ADD, MUL])
def test_a_multiply_add_stands_for_it_for_every_pair(operation: type[MUL], rho: str, nan: str) -> None:
    """`in_fma`: a·1 + b, and a·b + the zero of the product's sign. Results and flags, of all codes."""
    stands = operation(a="e5m2", b="e5m2", rho=rho, nan=nan, overflow="by-mode", flags=True)  # type: ignore[arg-type]
    a, b = (codes.reshape(-1, 1) for codes in np.meshgrid(*[np.arange(256, dtype=np.uint8)] * 2))
    known = {"a": a, "b": b, ONE: np.full_like(a, one(stands.a)), ZERO: (a ^ b) & 0x80}
    x, y, z = (known[place] for place in stands.in_fma)
    own = Unit(name="u", operation=stands).dot(a, b, flags=True)
    by_fma = Unit(name="u", operation=stands.as_fma()).dot(x, y, z[:, 0], flags=True)
    assert [got.tolist() for got in own] == [got.tolist() for got in by_fma]


def test_format_without_one_has_no_multiply_add_for_addition() -> None:
    small = Format(name="small", storage_bits=8, exp_bits=3, man_bits=2, bias=9, specials="ieee")
    assert MUL(a=small, b=small).as_fma().a is small
    with pytest.raises(ValueError, match=r"has no code of 1, by which a multiply-add adds$"):
        ADD(a=small, b=small).as_fma()


UNIT = Unit(name="u", operation=operation_from_table({"operation": "ADD", "a": "fp32", "b": "fp32"}))
ONES = np.ones((3, 1), np.float32)


def test_result_without_c_is_of_the_kind_of_a() -> None:
    assert UNIT.dot(ONES, ONES).tolist() == [2.0, 2.0, 2.0]
    assert UNIT.dot(ONES.view(np.uint32), ONES).tolist() == [0x40000000] * 3


def test_c_is_refused() -> None:
    assert UNIT.dot(ONES, ONES, np.zeros(3, np.float32)).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(ValueError, match=r"^c must be left out, or \+0: ADD has no c$"):
        UNIT.dot(ONES, ONES, np.ones(3, np.float32))


def test_chain_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^ADD has no c, so that it cannot be chained: K must be 1$"):
        UNIT.dot(np.ones((3, 2), np.float32), np.ones((3, 2), np.float32), engine="reference")
