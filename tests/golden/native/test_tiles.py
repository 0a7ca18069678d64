"""Tiles of matrix products in the native engine: against the general path and the reference, in every instruction set."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import golden
from golden.products.gemm_order import instruction_products
from tests.golden.distinct_arithmetics import distinct_arithmetic
from tests.golden.native.native_rows import INSTRUCTION_SETS, has_instruction_set, needs_native
from tests.golden.rows import unit
from tests.volume import one_in

pytestmark = needs_native

OPERATIONS: dict[str, Any] = dict(golden.OPERATIONS)
STYLES = ("bits", "near", "zeros", "wide", "one special")

IN_TILES = ("T-FDPA", "ST-FDPA", "TR-FDPA", "GTR-FDPA")
TILED = [i for i in distinct_arithmetic() if i.operation.name in IN_TILES and i.fp16_order is None]

HERE = [name for name in INSTRUCTION_SETS if has_instruction_set(name)]


def t_fdpa_of(name: str, **keys: Any) -> Any:
    return unit(OPERATIONS[name](**{"c": "fp32", "L": 16, "F": 25, "rho": "RZ-FP32", "e_zero": -133} | keys))


def t_fdpa(**keys: Any) -> Any:
    return t_fdpa_of("T-FDPA", **keys)


def st_fdpa(**keys: Any) -> Any:
    return t_fdpa_of("ST-FDPA", **{"a": "e4m3", "b": "e5m2", "L": 32, "K_block": 32} | keys)


def tr_fdpa(name: str = "TR-FDPA", **keys: Any) -> Any:
    return unit(OPERATIONS[name](**{"c": "fp32", "L": 8, "F": 24, "F2": 31} | keys))


UNITS = [
    t_fdpa(a="fp16", b="fp16", L=64),  # several sums of 32 bits
    t_fdpa(a="fp16", b="e5m2", F=26, L=7, rho="RNE-FP32"),  # codes of different widths, an odd L
    t_fdpa(a="tf32", b="bf16", F=1, L=5),
    t_fdpa(a="bf16", b="bf16", F=30, L=32),  # sums wider than 32 bits
    t_fdpa(a="e4m3", b="e4m3", F=45, L=13),
    t_fdpa(a="e2m1", b="e3m2", F=13, L=48, rho="RZ-E8M13"),
    t_fdpa(a="e4m3fnuz", b="e5m2fnuz", c="fp16", rho="RNE-FP16", e_zero=-21),
    t_fdpa(a="e4m3ieee", b="e2m3", c="bf16", rho="RD-BF16", L=1),
    t_fdpa(a="bf16", b="bf16", c="fp16", rho="RZ-FP32", e_zero=-126),  # c and d differ; e_zero at fp32's smallest exponent
    t_fdpa(a="fp16", b="fp16", e_zero=-100),  # no floor: by rows
    st_fdpa(a="fp16", b="fp16", L=16),  # a scale of two steps
    st_fdpa(K_block=8, L=24, rho="RNE-FP32"),  # three scales a step
    st_fdpa(a="e5m2fnuz", b="e2m1", K_block=128, L=64, F=30),  # one scale a part of K; sums wider than 32 bits
    st_fdpa(a="e3m2", b="e4m3ieee", c="fp16", rho="RNE-FP16", e_zero=-21, K_block=1, L=4),
    st_fdpa(K_block=96, L=48, c="bf16", rho="RD-BF16"),  # parts of 96 products
    st_fdpa(K_block=256),  # longer than a part of K: by rows
    st_fdpa(a="bf16"),  # values beyond fp32's under their scales: by rows
    tr_fdpa(a="tf32", b="tf32", L=4),
    tr_fdpa(a="bf16", b="fp16", L=64, F=26),  # T wider than 32 bits
    tr_fdpa(a="e5m2", b="e5m2", F=12, F2=40),
    tr_fdpa(a="bf16", b="bf16", F=32, F2=20, rho="RZ-FP32"),
    tr_fdpa("GTR-FDPA", a="e4m3", b="fp16", L=9, F=20),
    tr_fdpa("GTR-FDPA", a="bf16", b="bf16", L=1),
]


@cache
def finite_codes(operand: golden.Format, spread: int) -> Any:
    """Codes of numbers whose exponents lie so far apart; zeros among them."""
    rng = np.random.default_rng(spread)
    pairs = zip(rng.integers(-2048, 2048, 1024).tolist(), rng.integers(-spread, spread, 1024).tolist(), strict=True)
    codes = [operand.encode_scaled(number, exp - 11, "RNE") for number, exp in pairs]
    finite = [code for code in codes if operand.decode(code).cls < golden.Cls.INFINITY]
    return np.array(finite, f"uint{operand.storage_bits}")


def matrix(rng: np.random.Generator, operand: golden.Format, shape: tuple[int, int], style: str) -> Any:
    """Codes: any; numbers near each other; many zeros; exponents far apart; or near, with one that is not finite."""
    if style == "bits":
        return rng.integers(0, operand.codes, shape, np.uint64).astype(f"uint{operand.storage_bits}")
    codes = rng.choice(finite_codes(operand, {"near": 2, "zeros": 4, "wide": 60, "one special": 2}[style]), shape)
    if style == "zeros":
        codes[rng.random(shape) < 0.8] = 0
    if style == "one special" and operand.nan is not None:
        codes[tuple(rng.integers(0, shape))] = operand.nan
    return codes


def scales(rng: np.random.Generator, model: Any, sizes: tuple[int, int, int], style: str) -> tuple[Any, Any]:
    """Codes of scales for A and B, None without: any, about 1, farther from it, at both ends, or one that is NaN."""
    block = model.operation.block_size
    if block is None:
        return None, None
    M, N, K = sizes
    low, high = {"bits": (0, 256), "near": (124, 131), "zeros": (90, 165), "wide": (0, 255), "one special": (124, 131)}[
        style
    ]
    alpha, beta = (rng.integers(low, high, shape).astype(np.uint8) for shape in ((M, -(-K // block)), (-(-K // block), N)))
    if style == "wide":  # the ends of the range on one side, which the other side takes back
        alpha[rng.random(alpha.shape) < 0.5], beta[rng.random(beta.shape) < 0.5] = 0, 254
    if style == "one special":
        alpha[tuple(rng.integers(0, alpha.shape))] = 255
    return alpha, beta


def product(model: Any, style: str, shape: tuple[int, int, int], seed: int) -> tuple[Any, Any]:
    """D by tiles, and element by element."""
    rng = np.random.default_rng(seed)
    M, N, K = shape
    A, B = matrix(rng, model.a, (M, K), style), matrix(rng, model.b, (K, N), style)
    C = matrix(rng, model.operation.c, (M, N), "bits" if style == "zeros" else style)  # c of any exponent, often alone
    alpha, beta = scales(rng, model, shape, style)
    i, j = np.indices((M, N)).reshape(2, -1)
    of_rows = (None, None) if alpha is None else (alpha[i], beta.T[j])
    rows = unit(model.operation).dot(A[i], B.T[j], C.ravel(), of_rows[0], of_rows[1], engine="native").reshape(M, N)
    return golden.gemm(model, A, B, C, alpha, beta, engine="native"), rows


@pytest.mark.slow
@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("model", one_in(3, [*TILED, *UNITS]), ids=lambda model: f"{model.name}-{model.operation.name}")
def test_tiles_equal_rows(model: Any, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes about those of blocks and parts of K; the last ones take several tiles."""
    monkeypatch.setenv("MMAU_ISA", isa)
    k = instruction_products(model)
    shapes = ((8, 24, k), (9, 33, 3 * k), (65, 25, -(-130 // k) * k), (9, 64, -(-257 // k) * k))
    for seed, style in enumerate(STYLES):
        tiles, rows = product(model, style, shapes[seed % len(shapes)], seed)
        assert (tiles == rows).all(), f"{style}: {np.argwhere(tiles != rows)[0]}"


@pytest.mark.slow
@pytest.mark.parametrize("model", [*TILED, *UNITS], ids=lambda model: f"{model.name}-{model.operation.name}")
def test_tiles_equal_the_reference(model: Any) -> None:
    """The styles in turn, for the reference takes its time."""
    seed = [*TILED, *UNITS].index(model)
    rng, style = np.random.default_rng([7, seed]), STYLES[seed % len(STYLES)]
    M, N, K = 8, 24, instruction_products(model) if model.operation.length > 8 else 2 * instruction_products(model)
    A, B = matrix(rng, model.a, (M, K), style), matrix(rng, model.b, (K, N), style)
    C = matrix(rng, model.operation.c, (M, N), "bits" if style == "zeros" else style)  # c of any exponent, often alone
    operands = (A, B, C, *scales(rng, model, (M, N, K), style))
    assert (golden.gemm(model, *operands, engine="native") == golden.gemm(model, *operands, engine="reference")).all(), style


def test_scales_at_the_ends_of_their_range() -> None:
    """One product of 1.5 · 2.5 under every pair of scales, before zeros under other scales: exact, or out of range."""
    mxfp8 = golden.instruction("sm_100", "tcgen05.m128n128k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0")
    A, B = np.zeros((256, 64), np.uint8), np.zeros((64, 256), np.uint8)
    A[:, 5], B[5] = golden.FORMATS["e4m3"].encode(1.5), golden.FORMATS["e4m3"].encode(2.5)
    codes = np.arange(256)
    alpha, beta = np.stack([codes, codes[::-1]], 1).astype(np.uint8), np.stack([codes, 254 - codes % 255]).astype(np.uint8)
    D = golden.gemm(mxfp8, A, B, np.zeros((256, 256), np.uint32), alpha, beta, engine="native")
    sums = 3.75 * np.exp2(np.add.outer(codes, codes) - 254.0)
    with np.errstate(over="ignore"):
        nearest = sums.astype(np.float32)
    cut = np.where(nearest > sums, np.nextafter(nearest, np.float32(0)), nearest)  # ρ is RZ, but for what overflows
    expected = np.where(sums < 2.0**128, cut, np.float32(np.inf)).view(np.uint32)
    is_nan = (alpha == 255).any(1)[:, None] | (beta == 255).any(0)
    assert (np.where(is_nan, 0x7FFFFFFF, expected) == D).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_several_tiles_and_threads_change_nothing(threads: int) -> None:
    golden.set_threads(threads)
    try:
        for model in (TILED[0], st_fdpa(), tr_fdpa(a="bf16", b="bf16")):
            tiles, rows = product(model, "near", (131, 300, 3 * instruction_products(model)), 3)
            assert (tiles == rows).all()
    finally:
        golden.set_threads(0)


@pytest.mark.parametrize(
    ("x", "expected"), [(2.0**-75, 2.0**-149), (2.0**-70, 2.0**-140), (2.0**64, np.inf), (-(2.0**63), 2.0**126)]
)
def test_sums_at_the_ends_of_fp32(x: float, expected: float) -> None:
    """Sums that are not simple: subnormal ones, and beyond the range."""
    A, B = np.zeros((9, 16), np.float32), np.zeros((16, 40), np.float32)
    A[:, 3], B[3] = x, x
    D = golden.gemm(golden.instruction("sm_90", "mma.m16n8k8.f32.tf32.tf32.f32"), A, B, np.zeros((9, 40), np.float32))
    products = np.float64(x) * x
    assert ((expected if products >= 2.0**-149 else np.float32(0)) == D).all()


def test_code_that_is_none_is_refused_in_any_tile() -> None:
    e2m1 = t_fdpa(a="e2m1", b="e2m1", F=13, L=32)
    A, B = np.zeros((70, 64), np.uint8), np.zeros((64, 260), np.uint8)
    B[63, 259] = 16
    with pytest.raises(ValueError, match=r"^B: e2m1 codes are 0 … 0xf, got 0x10$"):
        golden.gemm(e2m1, A, B)
    batch = golden.native.engine.compute
    with pytest.raises(ValueError, match="a byte of FP6, FP4, int4, uint4 or b1 must hold one code, its high bits zero"):
        batch(e2m1.chain_over(64), A, np.ascontiguousarray(B.T), np.zeros((70, 260), np.uint32), None, None, 260)


def test_columns_of_a_large_product_in_groups_are_taken_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the bits that it has in one call; the last columns are fewer."""
    nvfp4 = golden.instruction("sm_100", "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 16, shape, np.uint8) for shape in ((5, 256), (256, 37)))
    scales: list[Any] = [rng.integers(0x30, 0x40, shape, np.uint8) for shape in ((5, 16), (16, 37))]
    c = rng.standard_normal((5, 37)).astype(np.float32)
    whole = golden.gemm(nvfp4, a, b, c, *scales)
    monkeypatch.setattr("golden.native.engine.NEAR_BYTES", 8 * 256)
    assert (golden.gemm(nvfp4, a, b, c, *scales) == whole).all()
