"""Numbers as text, and as codes of formats."""

import math

import pytest

from golden.arithmetic.formats import E4M3, FORMATS, FP16, FP32
from mmau.analysis.side_by_side import Input, code_of, number, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2^13", -8192.0),
        ("2^-24", 2.0**-24),
        ("0x1.8p-3", 0.1875),
        ("-0.5", -0.5),
        ("3/8", 0.375),
        ("inf", math.inf),
        ("-0", -0.0),
    ],
)
def test_number_reads(text: str, value: float) -> None:
    read = number(text)
    assert (read, math.copysign(1, read)) == (value, math.copysign(1, value))


def test_number_refuses_what_fp64_rounds() -> None:
    with pytest.raises(
        ValueError, match=r"^0\.1 must be a binary number of at most 53 bits; the nearest is 0x1\.999999999999ap-4"
    ):
        number("0.1")
    with pytest.raises(ValueError, match=r"^a number must be decimal, .* got '2\^x'$"):
        number("2^x")


@pytest.mark.parametrize(
    "text", ["1e999999999", "-2^999999999", "1E-999999999", "0x1p999999999", "1" * 100_000, "2^0_9999999999"]
)
@pytest.mark.attack("inputs without an end, or hostile text")
def test_number_that_would_fill_the_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a number must have at most 1,100 characters and an exponent of at most 9,999"):
        number(text)


def test_smallest_number_is_read_in_decimal() -> None:
    assert number(f"{2.0**-1074:.1080f}".rstrip("0")) == 2.0**-1074


def test_input_needs_as_many_b_as_a() -> None:
    with pytest.raises(ValueError, match=r"^a and b must have the same number of products, at least one; got 2 and 1$"):
        Input((1.0, 2.0), (1.0,), 0.0)


@pytest.mark.parametrize("name", ["e2m3", "e4m3", "e5m2fnuz", "e2m1", "ue8m0", "ue4m3", "int8"])
def test_every_code_comes_back_from_its_number(name: str) -> None:
    operand = FORMATS[name]
    for code in range(operand.codes):
        value = value_of(code, operand)
        back = code_of(value, operand)
        assert back is not None
        assert operand.decode(back)[1:] == operand.decode(code)[1:]
        assert math.isnan(value) or value_of(back, operand) == value


def test_numbers_that_a_format_lacks_have_no_code() -> None:
    assert code_of(449.0, E4M3) is None
    assert code_of(math.inf, E4M3) is None
    assert code_of(1 + 2.0**-11, FP16) is None
    assert code_of(-0.0, FORMATS["e4m3fnuz"]) is None
    assert code_of(-0.0, FP32) == FP32.negative_zero
