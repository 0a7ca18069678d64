"""The NaN that FP64 `mma.sync` of an H100 writes: the rule of numerics.md, section 3, and the models, on every recorded row
whose result is a NaN."""

import itertools
import struct
from collections.abc import Sequence
from fractions import Fraction

import pytest

from golden.arithmetic.formats import FP64
from golden.recordings.recording import Recording
from golden.recordings.recording_index import FOLDER, read_listed

NAMES = [f"h100/sm_90.mma.{shape}.f64.f64.f64.f64.npz" for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")]
INVALID, QUIET = 0xFFF8_0000_0000_0000, 1 << 51
INFINITY, SIGN = 0x7FF0_0000_0000_0000, 1 << 63


def is_nan(code: int) -> bool:
    return code & ~SIGN > INFINITY


def multiply_add(a: int, b: int, z: int, order: Sequence[str]) -> int:
    """a·b + z, rounded to nearest. The sign of a zero is left out: no NaN depends on it."""
    codes = {"a": a, "b": b, "z": z}
    for name in order:
        if is_nan(codes[name]):
            return codes[name] | QUIET
    x, y, w = (code & ~SIGN for code in (a, b, z))
    sign = (a ^ b) & SIGN
    if INFINITY in (x, y):
        invalid = 0 in (x, y) or (w == INFINITY and z & SIGN != sign)
        return INVALID if invalid else sign | INFINITY
    if w == INFINITY:
        return z
    exact = [Fraction(*struct.unpack("<d", code.to_bytes(8, "little"))) for code in (a, b, z)]
    return FP64.encode(exact[0] * exact[1] + exact[2])


def rows_wrong(recording: Recording, order: Sequence[str]) -> tuple[int, int]:
    """Rows whose result is a NaN, and of how many the rule gives another code."""
    a, b, c, *_ = (None if array is None else array.tolist() for array in recording.operands)
    assert a is not None
    assert b is not None
    assert c is not None
    rows = [row for row, code in enumerate(recording.d.tolist()) if is_nan(code)]
    wrong = 0
    for row in rows:
        z = c[row]
        for x, y in zip(a[row], b[row], strict=True):
            z = multiply_add(x, y, z, order)
        wrong += z != int(recording.d[row])
    return len(rows), wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_nan_of_fp64_is_the_first_of_b_z_a(name: str) -> None:
    recording = read_listed(FOLDER, name)
    rows, wrong = rows_wrong(recording, "bza")
    assert rows > 300
    assert wrong == 0
    assert (recording.dot() == recording.d).all()


@pytest.mark.attack("another order in which a multiply-add looks for a NaN")
@pytest.mark.parametrize("order", [order for order in itertools.permutations("abz") if order != ("b", "z", "a")])
def test_no_other_order_of_operands_fits(order: tuple[str, ...]) -> None:
    assert rows_wrong(read_listed(FOLDER, NAMES[0]), order)[1] > 0
