"""The twin of `Chain.nvidia`: FP8 products that run as fp16 work. Written from numerics.md, section 9."""

from collections.abc import Sequence
from typing import Any

from tests.twin import twin
from tests.twin.twin_numbers import Number, decode, encode, is_nan


def fp8_as_fp16_work(fp16_operation: Any, fp8_a: str, fp8_b: str, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """FP8 `mma.sync` on sm_90 and sm_100 (numerics.md, section 9); `fp16_operation` is the T-FDPA that it runs.

    The first step takes the k with k mod 4 < 2, the second the rest.
    """
    d = fp16_operation.d.name
    order = [k for k in range(len(a)) if k % 4 < 2] + [k for k in range(len(a)) if k % 4 >= 2]
    x = [fp16_code(decode(fp8_a, a[k])) for k in order]
    y = [fp16_code(decode(fp8_b, b[k])) for k in order]
    partial = twin.dot(fp16_operation, x, y, 0)
    total = twin.ieee_sum(d, [decode(d, partial), decode(d, c)])
    return twin.nvidia_nan_code(d) if is_nan(d, total) else total


def fp16_code(x: Number) -> int:
    if x.kind != "finite":
        return twin.special_code("fp16", x, twin.any_nan_code("fp16"))
    return encode("fp16", x.value, "RNE") if x.significand else 2**15 * x.negative
