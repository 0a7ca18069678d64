"""The bisection of a kernel names the first instruction after which its sums differ, and traces it."""

from typing import Any

import numpy as np
import pytest

import golden
from mmau.testing import bisect_gemm

NAME = "wgmma.m64n128k16.f32.bf16.bf16"
WGMMA = golden.instruction("sm_90", NAME)


def operands() -> list[Any]:
    rng = np.random.default_rng(4)
    floats = rng.standard_normal((4, 320), np.float32), rng.standard_normal((320, 6), np.float32)
    return [(x.view("u4") >> np.uint32(16)).astype("u2") for x in floats]


def test_a_right_kernel_has_no_difference() -> None:
    a, b = operands()
    calls = []

    def kernel(a: Any, b: Any) -> Any:
        calls.append(1)
        return golden.gemm(WGMMA, a, b)

    assert bisect_gemm(kernel, a, b, arch="sm_90", instr=NAME) is None
    assert len(calls) == 1


@pytest.mark.attack("kernels in assert_gemm")
@pytest.mark.parametrize("lost", [0, 7, 19])
def test_the_instruction_that_is_lost_is_named(lost: int) -> None:
    a, b = operands()
    calls = []

    def kernel(a: Any, b: Any) -> Any:
        calls.append(1)
        cut = a.copy()
        cut[:, lost * 16 : lost * 16 + 16] = 0
        return golden.gemm(WGMMA, cut, b)

    found = bisect_gemm(kernel, a, b, arch="sm_90", instr=NAME)
    assert found is not None
    assert found.instruction == lost
    assert len(calls) <= 7
    assert str(found).startswith(f"D[0, 0] after instruction {lost}: got fp32 ")
    right = golden.gemm(WGMMA, a[:, : lost * 16 + 16], b[: lost * 16 + 16]).view("u4")
    assert found.expected == int(right[0, 0])


def test_operands_that_are_packed_are_refused() -> None:
    a, b = operands()
    with pytest.raises(ValueError, match=r"^a must be \[M, K\] and b \[K, N\]"):
        bisect_gemm(lambda a, b: b, a, b[1:], arch="sm_90", instr=NAME)
