"""Sums of AMD's matrix cores that the native engine's tiles take in 32 bits, with the accumulator at every distance."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import golden
from tests.golden.native.native_rows import needs_native
from tests.golden.rows import unit

pytestmark = needs_native

OPERATIONS: dict[str, Any] = dict(golden.OPERATIONS)
STEP: Any = unit(OPERATIONS["TR-FDPA"](a="bf16", b="bf16", c="fp32", L=8, F=24, F2=31))
M, N = 64, 96


def operands(seed: int) -> tuple[Any, Any, Any]:
    """Numbers of few bits about 1, and accumulators of few or many bits, from 2^8 below to 2^30 above."""
    rng = np.random.default_rng(seed)
    codes = [STEP.a.encode_scaled(number, exp, "RNE") for number in range(-7, 8) for exp in range(-4, 2)]
    A, B = (rng.choice(np.array(codes, np.uint16), shape) for shape in ((M, 8), (8, N)))
    A[rng.random(A.shape) < 0.6], B[:, ::16] = 0, 0
    sig = rng.integers(0, 1 << 23, (M, N)) >> np.where(rng.random((M, N)) < 0.5, 0, rng.integers(0, 24, (M, N)))
    sig = sig << np.where(rng.random((M, N)) < 0.5, 0, rng.integers(0, 24, (M, N)))
    sig[rng.random((M, N)) < 0.3] = 0
    exp = 127 + rng.integers(-8, 31, (M, N))
    C = (rng.integers(0, 2, (M, N)) << 31 | exp << 23 | sig & 0x7FFFFF).astype(np.uint32)
    A[0], A[0, :2], B[:2, 1] = 0, [STEP.a.encode(-1.5), STEP.a.encode(2**-8)], STEP.a.encode(1)
    C[0, 1] = 127 + 24 << 23  # 2^24 − 1.5 + 2^−8: a tie but for the last bit that counts
    return A, B, C


def rows(A: Any, B: Any, C: Any, engine: str = "native") -> Any:
    """D element by element, which takes another path."""
    i, j = np.indices(C.shape).reshape(2, -1)
    return STEP.dot(A[i], B.T[j], C.ravel(), engine=engine).reshape(C.shape)


@pytest.mark.parametrize("seed", range(8))
def test_tiles_equal_rows_at_every_distance_of_the_accumulator(seed: int) -> None:
    A, B, C = operands(seed)
    assert (golden.gemm(STEP, A, B, C, engine="native") == rows(A, B, C)).all()


def test_tiles_equal_the_reference_at_every_distance() -> None:
    A, B, C = (x[:12] if len(x) == M else x for x in operands(9))
    assert (golden.gemm(STEP, A, B, C, engine="native") == rows(A, B, C, "reference")).all()


def test_negative_accumulators_that_vanish_are_rounded_down() -> None:
    """Below a T that is a tie: a subnormal c times the unit is zero in fp32, and its floor is −1; that of −0 is 0."""
    A, B = np.full((M, 8), STEP.a.encode(2.0**60), np.uint16), np.full((8, N), STEP.b.encode(1.0), np.uint16)
    A[:, 6], A[:, 7] = STEP.a.encode(2.0**39), STEP.a.encode(2.0**38)  # the last bit of fp32 and half of it
    C = np.resize(np.array([1 << 31 | 1, 1 << 31, 1, 0, 1 << 31 | 1 << 23, 1 << 31 | 5 << 20], np.uint32), (M, N))
    D = golden.gemm(STEP, A, B, C, engine="native")
    assert (rows(A, B, C) == D).all()
    assert (D[0, :6] < D[0, 3]).tolist() == [True, False, False, False, True, True]


def narrow(A: Any, B: Any, C: Any, most: int = 5, counting: Callable[[Any], Any] | None = None) -> Any:
    """D by the rule of `NarrowRounding`, on integers of 64 bits.

    Args:
        most: bits that the sum has below 2^(e_out − 24). counting: of the sum, the three bits below it that count.
    """
    x, y, z = (
        as_fp32(operand, code).astype(np.float64) for operand, code in ((STEP.a, A), (STEP.b, B), (STEP.operation.c, C))
    )
    exps = [np.where(v == 0, -9999, np.frexp(v)[1] - 1) for v in (x, y, z)]
    dot_exp = (exps[0][:, :, None] + exps[1]).max(1)
    dot_exp = np.where(dot_exp < -4999, -200, dot_exp)
    scale = np.exp2(24.0 - dot_exp)
    T = sum(np.trunc(np.outer(x[:, k], y[k]) * scale) for k in range(8)).astype(np.int64)
    e_out = np.maximum(dot_exp, exps[2])
    exp = np.maximum(dot_exp, e_out - most)
    c = np.floor(z * np.exp2(24.0 - exp)).astype(np.int64)
    down = exp - dot_exp
    below = np.minimum(down, 3)
    cut = T >> np.minimum(down - below, 62)
    total = (cut >> below) + c
    first = (total >> 29) & 7
    bits = (
        np.select([(first == 0) | (first == 7), (first == 1) | (first == 6)], [7, 6], 4)
        if counting is None
        else counting(total)
    )
    odd = total | ((cut & (bits >> (3 - below))) != 0)
    with np.errstate(over="ignore"):
        return (odd.astype(np.float32) * np.exp2(exp - 24.0).astype(np.float32)).view(np.uint32)


def as_fp32(operand: golden.Format, codes: Any) -> Any:
    """The values of bf16 or fp32 codes."""
    return (codes.astype(np.uint32) << np.uint32(32 - operand.width)).view(np.float32)


def test_rule_is_the_operations() -> None:
    for seed in range(4):
        assert (narrow(*operands(seed)) == rows(*operands(seed))).all()


FAULTS: dict[str, dict[str, Any]] = {
    "no bit below counts": {"counting": lambda total: 0 * total},
    "every bit counts": {"counting": lambda total: 7 + 0 * total},
    "the last one never counts": {"counting": lambda total: 6 + 0 * total},
    "only the first counts": {"counting": lambda total: 4 + 0 * total},
    "too few bits below": {"most": 2},
}


@pytest.mark.attack("a sum in 32 bits that forgets, or counts, what lies below it")
@pytest.mark.parametrize("fault", FAULTS)
def test_data_tells_a_wrong_rule(fault: str) -> None:
    found = sum(int((narrow(*operands(seed), **FAULTS[fault]) != rows(*operands(seed))).sum()) for seed in range(8))
    assert found > 0
