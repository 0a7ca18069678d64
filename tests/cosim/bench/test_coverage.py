"""Counts of compared elements: the classes of results of every format."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from cosim.bench.coverage import _classes_of_results
from cosim.bench.products import Bits
from golden.arithmetic.formats import BF16, FP16, FP32, FP64, INT32


@pytest.mark.parametrize("result", [FP16, BF16, FP32, FP64, INT32, Bits(8), Bits(64)], ids=str)
def test_classes_of_results_are_those_of_the_format(result: Any) -> None:
    width = result.width
    codes = [*range(40), *(value << width - 16 for value in range(0, 1 << 16, 61) if width >= 16), (1 << width) - 1]
    products: Any = SimpleNamespace(result=result, expected=codes)
    rows = range(1, len(codes))
    counted = {cls: number for cls, number in _classes_of_results(products, rows).items() if number}
    assert counted == Counter(result.decode(codes[row]).cls for row in rows)
