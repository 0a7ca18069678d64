"""The smallest row that still shows something."""

import golden
from analysis.exact import Arithmetic, Row
from analysis.order import size
from analysis.shrink import smallest
from golden.formats import FP16, FP32

VOLTA = Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"))
FULL = Row(a=(0x4BFF, 0x3A12, 0x4801, 0x3C00), b=(0x4011, 0x3FFF, 0x3E00, 0x3C00), c=FP32.encode(123.75))


def test_what_does_not_matter_goes() -> None:
    """A negative product is asked for: all else is 0, and it is 1·(−1)."""
    found = smallest(Row(a=FULL.a, b=(*FULL.b[:3], 0xC7FF), c=FULL.c), VOLTA, lambda row: any(code >> 15 for code in row.b))
    assert size(found, VOLTA)[0] <= 1
    assert found.c == 0
    row = smallest(FULL, VOLTA, lambda row: (VOLTA.exact(row) or 0) > 1)
    assert (VOLTA.exact(row) or 0) > 1
    assert size(row, VOLTA) < size(FULL, VOLTA)


def test_row_that_cannot_be_smaller_stays() -> None:
    one = FP16.encode(1)
    row = Row(a=(one, 0, 0, 0), b=(one, 0, 0, 0), c=0)
    assert smallest(row, VOLTA, lambda r: VOLTA(r) == FP32.encode(1)) in (row, Row(a=(0,) * 4, b=(0,) * 4, c=FP32.encode(1)))
