"""The distance of a result from the expected one, as text and in ulp, and the groups of mismatches."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from cosim.bench.mismatch import ComparedRow, Mismatch, distance_kind, ulp_distance
from cosim.runner.job import read
from golden import Format
from golden.arithmetic.formats import E8M13, FP16, FP32

ROW = ComparedRow(
    vector=7, place="", products="", stimulus_class="normal", a=(1, 2), b=(3, 4), c=5, scale_a=None, scale_b=None,
    got=0x3F80_0001, expected=0x3F80_0000, cycle=12, time=24000.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("got", "expected", "result", "ulp", "kind"),
    [
        (0x3F80_0001, 0x3F80_0000, FP32, 1, "+1 ulp"),
        (0x3F7F_FFFF, 0x3F80_0000, FP32, -1, "-1 ulp"),  # below a power of two
        (0xBF80_0001, 0xBF80_0000, FP32, -1, "-1 ulp"),  # the larger magnitude is the lower number
        (0x0000_0001, 0x8000_0001, FP32, 2, "+2 ulp"),  # across zero
        (0x3F80_0003, 0x3F80_0000, FP32, 3, "+3 to +8 ulp"),
        (0x3F80_0000, 0x3F80_0008, FP32, -8, "-3 to -8 ulp"),
        (0x3F80_0009, 0x3F80_0000, FP32, 9, "+9 to +64 ulp"),
        (0x3F80_0400, 0x3F80_0000, FP32, 1024, "+65 to +1,024 ulp"),
        (0x3F80_0401, 0x3F80_0000, FP32, 1025, "beyond +1,024 ulp"),
        (0x8000_0000, 0x0000_0000, FP32, 0, "sign of zero"),
        (0x7F7F_FFFF, 0x7F80_0000, FP32, None, "a number for infinity"),
        (0xFF80_0000, 0x7F80_0000, FP32, None, "sign of infinity"),
        (0x7F80_0000, 0x7F7F_FFFF, FP32, None, "infinity for a number"),
        (0x7F80_0000, 0x7FC0_0000, FP32, None, "infinity for NaN"),
        (0x7FC0_0001, 0x7FC0_0000, FP32, None, "another NaN"),
        (0x7FC0_0000, 0x3F80_0000, FP32, None, "NaN for a number"),
        ("X" * 32, 0x3F80_0000, FP32, None, "undefined bits"),
        (0x3C01, 0x3C00, FP16, 1, "+1 ulp"),
        (0x3F80_0400, 0x3F80_0000, E8M13, 1, "+1 ulp"),  # ten low bits are always zero
        (0x3F80_0001, 0x3F80_0000, E8M13, 1, "+1 ulp"),
        (0x3F7F_FFFF, 0x3F80_0000, E8M13, -1, "-1 ulp"),
    ],
)
def test_distance(got: int | str, expected: int, result: Format, ulp: int | None, kind: str) -> None:
    assert ulp_distance(got, expected, result) == ulp
    assert distance_kind(got, expected, result) == kind


@pytest.mark.slow
def test_distance_is_the_number_of_steps_between_neighbours() -> None:
    """All neighbouring fp16 numbers have distance 1, in the order of their exact values."""
    codes = [code for code in range(1 << 16) if FP16.value(code) is not None and code != FP16.negative_zero]
    ordered = sorted(codes, key=lambda code: FP16.value(code) or 0)
    assert all(ulp_distance(high, low, FP16) == 1 for low, high in pairwise(ordered))


def test_group_has_the_common_properties_of_mismatches() -> None:
    mismatch = Mismatch.of(ROW, FP32)
    assert mismatch.group == ("normal", "normal", "normal", "+1 ulp")
    subnormal = Mismatch.of(replace(ROW, got=1, vector=8), FP32)
    assert subnormal.group == ("normal", "normal", "subnormal", "beyond -1,024 ulp")
    undefined = Mismatch.of(replace(ROW, got="X" * 32), FP32)
    assert (undefined.got_class, undefined.ulp, undefined.distance) == ("undefined", None, "undefined bits")


def test_mismatch_survives_json() -> None:
    mismatch = Mismatch.of(replace(ROW, scale_a=(1,), scale_b=(2,), ports={"mode": (1,)}), FP32)
    assert read(Mismatch, json.loads(json.dumps(mismatch.as_dict()))) == mismatch
