"""Orders of real kernels against the twin that walks K as they do: parts of tiles, stripes, reverse tiles, permutations,
scales at promotion, epilogues."""

import random
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.native.library import library
from golden.products.gemm_order import GemmOrder, instruction_products
from tests.golden.products import gemm_twin, kernel_twin
from tests.golden.products.test_gemm_order import HOPPER, MODELS, WGMMA, matrices, near, product

KERNEL_MODELS = [model for model in MODELS if instruction_products(model) % 4 == 0]

SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tiles": ({"split_k": 3, "split_tile": 2}, {"S": 3, "tile": 2}),
    "workspace": ({"split_k": 3, "split_tile": 1, "split_sum": "workspace"}, {"S": 3, "tile": 1}),
    "in-place": ({"split_k": 3, "split_tile": 2, "split_sum": "in-place"}, {"S": 3, "tile": 2}),
    "sliced": ({"stripes": (2, 1)}, {"stripes": (2, 1)}),
    "sliced-in-place": (
        {"split_k": 2, "split_tile": 2, "split_sum": "in-place", "stripes": (3, 1)},
        {"S": 2, "tile": 2, "stripes": (3, 1)},
    ),
    "reverse": ({"k_order": "reverse", "k_tile": 2}, {"reverse": 2}),
    "reverse-parts": ({"k_order": "reverse", "k_tile": 2, "split_k": 2, "split_tile": 3}, {"S": 2, "tile": 3, "reverse": 2}),
}
"""The keys of an order and of a walk; sizes in instructions."""

IN_INSTRUCTIONS = ("split_tile", "tile", "k_tile", "reverse")


def in_products(keys: dict[str, Any], k: int) -> dict[str, Any]:
    """The keys with their sizes in products."""
    sized = {key: value * k if key in IN_INSTRUCTIONS else value for key, value in keys.items()}
    if "stripes" in keys:
        sized["stripes"] = (keys["stripes"][0], keys["stripes"][1] * k)
    return sized


def same(model: Any, output: str, x: int, y: int) -> bool:
    """Whether two codes are the same, or both a NaN whose code no rule fixes."""
    nan = golden.FORMATS[output].decode(x).cls.name == golden.FORMATS[output].decode(y).cls.name == "NAN"
    return x == y or (nan and not model.operation.nan_is_fixed)


def cases() -> list[Any]:
    """Every model in every order with numbers near each other, and with special values; `make test` takes a quarter."""
    return [
        pytest.param(number, shape, style, id=f"{model.name}-{shape}-{style}", marks=marks)
        for number, model in enumerate(KERNEL_MODELS)
        for i, shape in enumerate(SHAPES)
        for style, phase in (("near", 0), ("hostile", 2))
        for marks in [() if (number + i) % 4 == phase else pytest.mark.long]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "shape", "style"), cases())
def test_kernel_equals_the_twin(number: int, shape: str, style: str) -> None:
    """K ends within an instruction; the output is narrower than d in every other model."""
    model, rng = KERNEL_MODELS[number], random.Random(f"{number} {shape} {style}")
    k = instruction_products(model)
    order_keys, walk_keys = (in_products(keys, k) for keys in SHAPES[shape])
    K = 7 * k - (0 if model.operation.block_size else 3)
    made, each = matrices(model, rng, K, style) if not model.operation.block_size else matrices(model, rng, 7 * k, style)
    output = "bf16" if number % 2 else model.operation.d.name
    order = GemmOrder(**order_keys, output="bf16" if number % 2 else None)
    got = product(model, made, order=order)
    walk = kernel_twin.walked(K, k, **walk_keys)
    for code, row in zip(got.ravel().tolist(), each, strict=True):
        total = kernel_twin.element(model, row, walk, split_sum=order.split_sum, output=output)
        assert same(model, output, code, kernel_twin.rounded(model, total, output))
    if library() is not None:
        assert (product(model, made, order=order, engine="reference") == got).all()


@pytest.mark.parametrize("block", [(1, 0), (0, 2, 1, 3), (3, 1, 2, 0, 4, 5), tuple(range(31, -1, -1))])
def test_permutation_equals_the_twin(block: tuple[int, ...]) -> None:
    """Blocks smaller and larger than an instruction, that do not divide it, and padded with products of zero."""
    made, each = matrices(HOPPER, random.Random(7), 37, "near")
    got = product(HOPPER, made, order=GemmOrder(k_order=block)).ravel().tolist()
    walk = kernel_twin.walked(37, 8, block=block)
    assert got == [kernel_twin.element(HOPPER, row, walk) for row in each]
    striped = product(HOPPER, made, order=GemmOrder(k_order=block, stripes=(2, 8))).ravel().tolist()
    walk = kernel_twin.walked(37, 8, block=block, stripes=(2, 8))
    assert striped == [kernel_twin.element(HOPPER, row, walk) for row in each]


def test_reverse_tiles_are_a_chain_that_goes_on() -> None:
    """As FlashAttention-2 spends P·V: tile after tile from the last, each from the accumulator of the one before."""
    rng = np.random.default_rng(5)
    mma = golden.instruction("sm_80", "mma.m16n8k16.f32.bf16.bf16.f32")
    P, V = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((8, 192), (192, 8)))
    accumulator = np.zeros((8, 8), np.float32)
    for begin in (128, 64, 0):
        accumulator = golden.gemm(mma, P[:, begin : begin + 64], V[begin : begin + 64], accumulator)
    got = golden.gemm(mma, P, V, np.zeros((8, 8), np.float32), order=GemmOrder(k_order="reverse", k_tile=64))
    assert (got.view("u4") == accumulator.view("u4")).all()
    assert (got.view("u4") != golden.gemm(mma, P, V, np.zeros((8, 8), np.float32)).view("u4")).any()


STEPS = [
    ("alpha",),
    ("beta",),
    ("alpha", "beta"),
    ("beta", "alpha"),
    ("alpha-beta", "bias"),
    ("bias", "alpha-beta"),
    ("output", "bias"),
    ("alpha", "output", "bias", "output", "beta"),
]


@pytest.mark.slow
@pytest.mark.parametrize("output", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("steps", STEPS, ids="+".join)
@pytest.mark.parametrize("model", [HOPPER, MODELS[2], MODELS[3]], ids=lambda model: model.name)
def test_epilogue_equals_the_twin(model: Any, steps: tuple[str, ...], output: str) -> None:
    """C and d in fp16 among them; two parts, so that the epilogue comes after their sum."""
    rng = random.Random(f"{steps} {model.name}")
    k = instruction_products(model)
    made, each = matrices(model, rng, 4 * k, "near")
    bias = np.array([near(rng, golden.FORMATS["fp32"]) for _ in range(5)], np.uint32)
    alpha, beta = float(np.float32(0.7)), -1.5
    order = GemmOrder(epilogue=steps, alpha=alpha, beta=beta, output=output, split_k=2)
    got = product(model, made, order=order, bias=bias if "bias" in steps else None)
    walk = kernel_twin.walked(4 * k, k, S=2, tile=k)
    reads_c = {"beta", "alpha-beta"} & set(steps)
    for (i, j), row in zip(np.ndindex(4, 5), each, strict=True):
        total = kernel_twin.element(model, row, walk, starts_from_c=not reads_c)
        c = gemm_twin.widened(row.c, model.operation.c.name, "fp32")
        expected = kernel_twin.epilogue(model, total, steps, Fraction(alpha), Fraction(beta), c, int(bias[j]), output)
        assert got[i, j] == expected


def test_bias_of_narrow_formats_is_widened() -> None:
    made, _ = matrices(HOPPER, random.Random(3), 16, "near")
    order = GemmOrder(epilogue=("bias",))
    halves = np.array([0.5, -1.25, 3, 0, 7], np.float16)
    expected = product(HOPPER, made, order=order, bias=halves.astype(np.float32))
    assert (product(HOPPER, made, order=order, bias=halves) == expected).all()
    assert (product(HOPPER, made, order=order, bias=halves.astype(ml_dtypes.bfloat16)) == expected).all()


def test_c_is_not_read_where_beta_is_zero() -> None:
    made, _ = matrices(HOPPER, random.Random(3), 16, "near")
    A, B, C = made
    nans = np.full_like(C, 0x7FC00000)
    for step in ("beta", "alpha-beta"):
        order = GemmOrder(epilogue=(step,), alpha=0.5 if step == "alpha-beta" else 1.0)
        assert (golden.gemm(HOPPER, A, B, nans, order=order) == golden.gemm(HOPPER, A, B, order=order)).all()
        assert (golden.gemm(HOPPER, A, B, order=order) != 0x7FFFFFFF).all()


@pytest.mark.slow
@pytest.mark.parametrize("block", [(1, 1), (2, 3), (1, 128)])
@pytest.mark.parametrize("split_k", [1, 2])
@pytest.mark.parametrize("model", [WGMMA, HOPPER], ids=lambda model: model.name)
def test_scales_at_promotion_equal_the_twin(model: Any, split_k: int, block: tuple[int, int]) -> None:
    """scale of A times scale of B, rounded, times the sum of two instructions, plus the accumulator, rounded once."""
    rng = random.Random(f"{block} {split_k}")
    k = instruction_products(model)
    made, each = matrices(model, rng, 7 * k, "near")
    rows, columns = -(-4 // block[0]), -(-5 // block[1])
    alpha = np.array([[near(rng, golden.FORMATS["fp32"]) for _ in range(4)] for _ in range(rows)], np.uint32)
    beta = np.array([[near(rng, golden.FORMATS["fp32"]) for _ in range(columns)] for _ in range(4)], np.uint32)
    keys: dict[str, Any] = {} if split_k == 1 else {"split_k": 2, "split_tile": 4 * k}
    order = GemmOrder(promote_every=2, scale_at="promotion", scale_block=block, **keys)
    A, B, C = made
    got = golden.gemm(model, A, B, C, scale_a=alpha, scale_b=beta, order=order)
    nearest, value = kernel_twin.nearest, kernel_twin.value
    for (i, j), row in zip(np.ndindex(4, 5), each, strict=True):
        sums: list[int] = []
        for groups in [[0, 1], [2, 3]] if split_k == 2 else [[0, 1, 2, 3]]:
            accumulator = 0 if sums else row.c
            for group in groups:
                products = [[n * k + p for p in range(k)] for n in range(2 * group, min(2 * group + 2, 7))]
                chain = kernel_twin.accumulated(model, row, products, 0)
                scale = nearest(value(int(alpha[i // block[0], group])) * value(int(beta[group, j // block[1]])))
                accumulator = nearest(value(scale) * value(chain) + value(accumulator))
            sums.append(accumulator)
        assert got[i, j] == (sums[0] if len(sums) == 1 else nearest(value(sums[0]) + value(sums[1])))


def test_scales_at_promotion_without_promotion_are_of_the_whole_sum() -> None:
    """As row-wise scaled products: one scale for each row of A and each column of B."""
    made, _ = matrices(WGMMA, random.Random(3), 96, "near")
    A, B, _ = made
    alpha, beta = np.array([[0.3], [5], [1], [2]], np.float32), np.array([[1, 7, 0.1, 2, 3]], np.float32)
    got = golden.gemm(WGMMA, A, B, scale_a=alpha, scale_b=beta, order=GemmOrder(scale_at="promotion"))
    plain = golden.gemm(WGMMA, A, B).view("f4")
    assert (got.view("f4") == (alpha * beta) * plain).all()


def test_kernels_write_their_nan_and_infinities() -> None:
    """Sums that overflow in the output's format part by part: −infinity meets +infinity in the workspace, not in fp32."""
    A, B = np.full((1, 16), 0x7BFF, np.uint16), np.full((16, 1), 0x7BFF, np.uint16)
    A[0, 8:] = 0xFBFF
    parts: dict[str, Any] = {"split_k": 2, "split_tile": 8}
    assert golden.gemm(HOPPER, A, B, order=GemmOrder(**parts, output="fp16"))[0, 0] == 0
    workspace = GemmOrder(**parts, output="fp16", split_sum="workspace")
    assert golden.gemm(HOPPER, A, B, order=workspace)[0, 0] == 0x7FFF
    in_place = GemmOrder(**parts, output="fp16", split_sum="in-place")
    assert golden.gemm(HOPPER, A, B, order=in_place)[0, 0] == 0x7C00


def test_dots_in_order_take_what_is_along_k_alone() -> None:
    from golden.engines.engine import Batch
    from golden.products.tiled import dots_in_order

    made, _ = matrices(HOPPER, random.Random(3), 56, "near")
    A, B, C = made
    order = GemmOrder(stripes=(2, 8), split_k=2, split_tile=16, k_order=(1, 0))
    column = np.ascontiguousarray(np.broadcast_to(B[:, 0], (4, 56)))
    got = dots_in_order(HOPPER, Batch(A, column, C[:, 0]), order)
    assert (got == golden.gemm(HOPPER, A, B[:, :1], C[:, :1], order=order)[:, 0]).all()
    with pytest.raises(
        ValueError, match=r"^an order of dot products must have scale_at = 'unit', no epilogue, output, convert and passes$"
    ):
        dots_in_order(HOPPER, Batch(A, column, C[:, 0]), GemmOrder(output="bf16"))
