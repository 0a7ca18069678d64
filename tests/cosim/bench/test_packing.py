"""Packing: element k in bits [k·w, (k+1)·w)."""

import numpy as np
import pytest

from cosim.bench.products import packed
from golden.arithmetic.formats import FORMATS, Format
from golden.arrays import bits_dtype


@pytest.mark.parametrize("operand", FORMATS.values(), ids=FORMATS.keys())
def test_elements_lie_in_their_bits(operand: Format) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, operand.codes, (20, 5), dtype=np.uint64).astype(bits_dtype(operand))
    expected = [sum(code << (k * operand.width) for k, code in enumerate(row)) for row in codes.tolist()]
    assert packed(codes, operand) == expected


def test_rows_that_are_not_contiguous() -> None:
    codes = np.arange(12, dtype=np.uint16).reshape(3, 4).T
    assert packed(codes, FORMATS["fp16"]) == [sum(c << (16 * k) for k, c in enumerate(row)) for row in codes.tolist()]
