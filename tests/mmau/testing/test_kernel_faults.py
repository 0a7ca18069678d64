"""Twenty faults that kernels had, made here by other means than the assertion tries them by: each is named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import golden
from mmau.testing import assert_gemm
from mmau.testing.kernel_faults import where

MMA = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
BLOCKS = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0")
K_TILE = 64


def operands(K: int = 1000, M: int = 32, N: int = 48) -> tuple[Any, Any]:
    rng = np.random.default_rng(K + M)
    return rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((K, N)).astype(np.float16)


def chain(a: Any, b: Any, c: Any = None) -> Any:
    return golden.gemm(MMA, a, b, np.zeros((len(a), b.shape[1]), np.float32) if c is None else c)


def parts(a: Any, b: Any, length: int) -> list[Any]:
    return [chain(a[:, k : k + length], b[k : k + length]) for k in range(0, a.shape[1], length)]


def summed(sums: list[Any]) -> Any:
    total = sums[0]
    for other in sums[1:]:
        total = total + other
    return total


def by_tiles(side: int, make: Callable[[Any, Any, Any], Any]) -> Any:
    """D of tiles, each made from its rows, columns and the tile before."""
    a, b = operands(96)
    d, before = np.empty((32, 48), np.float32), None
    for i in range(0, 32, side):
        for j in range(0, 48, side):
            before = make(a[i : i + side], b[:, j : j + side], before)
            d[i : i + side, j : j + side] = before
    return d


def swapped_tiles() -> Any:
    d = chain(*operands(96))
    tiles = [d[:, j : j + 8] for j in range(0, 48, 8)]
    return np.concatenate([tiles[at] for at in (1, 0, 3, 2, 5, 4)], 1)


def exchanged(one: Any, other: Any) -> Any:
    """D with two of its parts at each other's place."""
    d = chain(*operands(96))
    d[one], d[other] = d[other].copy(), d[one].copy()
    return d


def residue_first(tile: int) -> Any:
    a, b = operands(996)
    head = 996 % tile
    return chain(a[:, head:], b[head:], chain(a[:, :head], b[:head]))


def without(K: int, first: int, end: int) -> Any:
    a, b = operands(K)
    kept = np.ones(K, bool)
    kept[first:end] = False
    a[:, ~kept] = 0
    return chain(a, b)


def wide_loads() -> Any:
    """Lanes that load four halves at a time, of which each instruction takes two."""
    a, b = operands(64)
    total = None
    for first in range(0, 64, 16):
        lanes = [first + 4 * lane + half + at for half in (0, 2) for lane in range(4) for at in (0, 1)]
        total = chain(a[:, lanes], b[lanes], total)
    return total


UNSCALED: dict[str, tuple[int, Callable[[], Any], str]] = {
    "K mod 64 lost of 1,000": (1000, lambda: without(1000, 960, 1000), "the last 40 of K missing"),
    "K mod 64 lost of 1,008": (1008, lambda: without(1008, 960, 1008), "the last 48 of K missing"),
    "K mod 32 lost": (1000, lambda: without(1000, 992, 1000), "the last 8 of K missing"),
    "K mod 256 lost": (1000, lambda: without(1000, 768, 1000), "the last 232 of K missing"),
    "the last tile lost": (512, lambda: without(512, 480, 512), "the last 32 of K missing"),
    "a tile lost": (512, lambda: without(512, 128, 192), "products 128 to 191 missing: tile 2 of 64"),
    "a tile twice": (
        256, lambda: chain(np.concatenate([operands(256)[0][:, :128], operands(256)[0][:, 64:]], 1),
                           np.concatenate([operands(256)[1][:128], operands(256)[1][64:]])),
        "products 64 to 127 counted twice: tile 1 of 64",
    ),
    "residue first, tile 32": (996, lambda: residue_first(32), "residue = first, k_tile = 32"),
    "residue first, tile 64": (996, lambda: residue_first(64), "residue = first, k_tile = 64"),
    "wide loads": (64, wide_loads, "lanes that load several products"),
    "split in 16": (1024, lambda: summed(parts(*operands(1024), 64)), "split_k = 16, split_tile = 64"),
    "split in 32": (1024, lambda: summed(parts(*operands(1024), 32)), "split_k = 32, split_tile = 32"),
    "parts in fp16": (
        512, lambda: summed([x.astype(np.float16).astype(np.float32) for x in parts(*operands(512), 128)]),
        "split_k = 4, split_tile = 64, each part rounded to fp16",
    ),
    "a stale accumulator": (96, lambda: by_tiles(16, lambda a, b, c: chain(a, b, c)), "a tile of 16 x 16 starts from"),
    "tiles swapped": (96, swapped_tiles, "neighbouring output tiles of 8 x 8 are swapped"),
    "an uneven split": (1000, lambda: summed(parts(*operands(1000), 144)), "split_k = 7"),
    "a part of a split lost": (
        1024, lambda: summed([parts(*operands(1024), 256)[at] for at in (0, 2, 3)]),
        "part 1 of split_k = 4, split_tile = 64 missing",
    ),
    "a part of a split twice": (
        1024, lambda: summed([parts(*operands(1024), 256)[at] for at in (0, 1, 1, 2, 3)]),
        "part 1 of split_k = 4, split_tile = 64 counted twice",
    ),
    "two tiles swapped": (
        96, lambda: exchanged(np.s_[:8, :8], np.s_[:8, 8:16]),
        "output tiles of 8 x 8 stand in other places: (0, 1) in the place of (0, 0), (0, 0) in the place of (0, 1)",
    ),
    "bands of rows swapped": (
        96, lambda: exchanged(np.s_[:16], np.s_[16:]),
        "output tiles of 16 x 16 stand in other places: (1, 0) in the place of (0, 0)",
    ),
    "its own earlier result": (
        96, lambda: chain(*operands(96), chain(*operands(96))), "the kernel adds to its own earlier result",
    ),
    "rounded twice": (
        96, lambda: chain(*operands(96)).astype(np.float16).astype(np.float32), "the result is rounded to fp16 first",
    ),
}  # fmt: skip
"""K, what the kernel gave, and the words that name its fault."""


@pytest.mark.slow
@pytest.mark.attack("kernels in assert_gemm")
@pytest.mark.parametrize("fault", UNSCALED)
def test_the_fault_is_named(fault: str) -> None:
    K, make, words = UNSCALED[fault]
    with pytest.raises(AssertionError) as caught:
        assert_gemm(make(), *operands(K), arch="sm_80", instr=MMA.name)
    assert words in str(caught.value)
    named = next(line for line in str(caught.value).splitlines() if line.startswith("all of D is explained"))
    assert len(set(named.split("; or "))) == len(named.split("; or "))


@pytest.mark.slow
@pytest.mark.parametrize(
    "order", [
        golden.GemmOrder(stripes=(4, 16), stripe_order="butterfly"), golden.GemmOrder(promote_every=3, stripes=(2, 64)),
        golden.GemmOrder(split_k=4, split_tile=64, split_order=(3, 0, 2, 1)),
    ],
)  # fmt: skip
def test_another_order_is_named(order: golden.GemmOrder) -> None:
    a, b = operands(1024)
    c = np.zeros((32, 48), np.float32)
    d = golden.gemm(MMA, a, b, c, order=order)
    with pytest.raises(AssertionError) as caught:
        assert_gemm(d, a, b, arch="sm_80", instr=MMA.name)
    words = next(line for line in str(caught.value).splitlines() if line.startswith("all of D is explained by order="))
    named = eval(words.partition("=")[2], {"GemmOrder": golden.GemmOrder})
    assert (golden.gemm(MMA, a, b, c, order=named) == d).all()


def scaled(of_a: Any, of_b: Any) -> Any:
    a, b, alpha, beta = blocks()
    return golden.gemm(BLOCKS, a, b, np.zeros((48, 16), np.float32), of_a(alpha), of_b(beta))


def blocks() -> Any:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 0x40, (48, 256), np.uint8), rng.integers(0, 0x40, (256, 16), np.uint8)
    return a, b, rng.integers(120, 134, (48, 8), np.uint8), rng.integers(120, 134, (8, 16), np.uint8)


def last_one(scales: Any, axis: int) -> Any:
    changed = scales.copy()
    changed[(slice(None), -1)[:: 1 if axis else -1]] = 127
    return changed


SCALED: dict[str, tuple[Callable[[], Any], str]] = {
    "scales of 64 products (sglang#39626)": (
        lambda: scaled(lambda s: s[:, ::2].repeat(2, 1), lambda s: s[::2].repeat(2, 0)),
        "the scales advance every 2 blocks alone",
    ),
    "the last scale not applied (FBGEMM#6159)": (
        lambda: scaled(lambda s: last_one(s, 1), lambda s: s), "the scale of the last block of a is not applied",
    ),
    "scales of other rows (cutlass#3596)": (
        lambda: scaled(lambda s: s[np.arange(48) % 16], lambda s: s), "rows beyond 16 use the scales of the first 16",
    ),
    "scales of the block before": (
        lambda: scaled(lambda s: s[:, [0, 0, 1, 2, 3, 4, 5, 6]], lambda s: s[[0, 0, 1, 2, 3, 4, 5, 6]]),
        "the scales are those of the block before",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.attack("kernels in assert_gemm")
@pytest.mark.parametrize("fault", SCALED)
def test_the_fault_of_scales_is_named(fault: str) -> None:
    make, words = SCALED[fault]
    a, b, alpha, beta = blocks()
    with pytest.raises(AssertionError) as caught:
        assert_gemm(
            make(), a, b, np.zeros((48, 16), np.float32), arch="sm_120", instr=BLOCKS.name, scale_a=alpha, scale_b=beta
        )
    assert words in str(caught.value)


@pytest.mark.slow
def test_the_first_differing_instruction_is_traced_and_the_place_is_named() -> None:
    a, b = operands(512)
    d = chain(a, b)
    d[16:24, 8:16] = without(512, 128, 192)[16:24, 8:16]
    with pytest.raises(AssertionError) as caught:
        assert_gemm(d, a, b, arch="sm_80", instr=MMA.name)
    assert "all of them in output tile (2, 1) of 8 x 8" in str(caught.value)
    with pytest.raises(AssertionError) as caught:
        assert_gemm(without(512, 128, 192), a, b, arch="sm_80", instr=MMA.name)
    assert "the first of 32 instructions of D[0, 0] after which the sums differ is number 8 from 0:" in str(caught.value)


@pytest.mark.attack("kernels in assert_gemm")
@pytest.mark.parametrize(
    ("left", "words"), [("zero", "all that differ are 0, as where a kernel does not write them"),
                        ("c", "all that differ are C, as where a kernel skips the whole K"), ("some", "")],
)  # fmt: skip
def test_elements_that_are_not_computed_are_called_so(left: str, words: str) -> None:
    a, b = operands(96)
    c = np.random.default_rng(1).standard_normal((32, 48)).astype(np.float32)
    d = chain(a, b, c)
    d[16:, :16] = 0 if left == "zero" else c[16:, :16]
    if left == "some":
        d[16, 0] += 1
    with pytest.raises(AssertionError) as caught:
        assert_gemm(d, a, b, c, arch="sm_80", instr=MMA.name)
    assert "all of them in output tile (1, 0) of 16 x 16" in str(caught.value)
    assert words in str(caught.value)
    assert ("all that differ are" in str(caught.value)) == bool(words)


def test_places_are_named() -> None:
    wrong = np.zeros((64, 64), bool)
    wrong[[3, 4, 5, 9]] = True
    assert where(wrong) == "all of them in rows 3 to 5, 9"
    wrong[:] = False
    wrong[:, 7] = True
    assert where(wrong) == "all of them in columns 7"
    wrong[:] = True
    assert where(wrong) == ""
