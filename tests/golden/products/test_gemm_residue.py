"""Orders of kernels beside whole instructions: residue first, parts of an instruction, other orders of addition, and fp32
operands that become others; against the twin, and against figures and words of public reports."""

import random
from fractions import Fraction
from itertools import product as product_of
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.products.gemm_order import GemmOrder, instruction_products
from tests.golden.products import kernel_twin
from tests.golden.products.test_gemm_kernels import same
from tests.golden.products.test_gemm_order import MODELS, matrices, product
from tests.twin.twin_numbers import decode, encode

UNSCALED = [
    model for model in MODELS if not model.operation.block_size and model.operation.d.name in ("fp32", "fp16", "bf16")
]

SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "residue": ({"residue": "first", "k_tile": 2.0}, {"residue": 2.0}, {}),
    "residue-of-parts": (
        {"residue": "first", "k_tile": 2.0, "split_k": 2, "split_tile": 3}, {"residue": 2.0, "S": 2, "tile": 3}, {},
    ),
    "parts-of-instructions": ({"split_k": 3, "split_tile": 1}, {"S": 3, "tile": 1}, {}),
    "workspace": (
        {"split_k": 4, "split_tile": 3, "split_sum": "workspace", "split_order": [2, 0, 1]}, {"S": 4, "tile": 3},
        {"split_sum": "workspace", "part_order": [2, 0, 1]},
    ),
    "in-place": (
        {"split_k": 3, "split_tile": 3, "split_sum": "in-place", "split_order": [2, 1, 0]}, {"S": 3, "tile": 3},
        {"split_sum": "in-place", "part_order": [2, 1, 0]},
    ),
    "stripes-0231": (
        {"stripes": (4, 1.0), "stripe_order": [0, 2, 3, 1]}, {"stripes": (4, 1.0)}, {"stripe_tree": (((0, 2), 3), 1)},
    ),
    "butterfly": (
        {"stripes": (4, 1.0), "stripe_order": "butterfly"}, {"stripes": (4, 1.0)}, {"stripe_tree": ((0, 2), (1, 3))},
    ),
    "pairs": ({"stripes": (4, 1.0), "stripe_order": "pairs"}, {"stripes": (4, 1.0)}, {"stripe_tree": ((0, 1), (2, 3))}),
    "tree-in-residue": (
        {"stripes": (3, 1.0), "stripe_order": [2, [0, 1]], "residue": "first", "k_tile": 3.0},
        {"stripes": (3, 1.0), "residue": 3.0}, {"stripe_tree": (2, (0, 1))},
    ),
}  # fmt: skip
"""Keys of an order, of a walk, and of the twin's sum; floats are in instructions, integers in products."""


def sized(keys: dict[str, Any], k: int) -> dict[str, Any]:
    def products(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(products, value))
        return int(value * k) if isinstance(value, float) else value

    return {key: products(value) for key, value in keys.items()}


def cases() -> list[Any]:
    """Every model in every order; `make test` takes one in eight."""
    return [
        pytest.param(model, shape, style, id=f"{model.name}-{shape}-{style}", marks=() if at % 8 == 0 else pytest.mark.long)
        for at, (model, shape, style) in enumerate(product_of(UNSCALED, SHAPES, ("near", "hostile")))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "shape", "style"), cases())
def test_kernel_equals_the_twin(model: Any, shape: str, style: str) -> None:
    k = instruction_products(model)
    order_keys, walk_keys, sum_keys = (sized(keys, k) for keys in SHAPES[shape])
    K = 7 * k - (3 if k > 3 else 0)
    if shape == "workspace":
        sum_keys = sum_keys | {"part_order": _present(K, 4, 3, [2, 0, 1, 3])}
        order_keys = order_keys | {"split_order": [2, 0, 1, 3]}
    made, each = matrices(model, random.Random(f"{model.name} {shape} {style}"), K, style)
    output = model.operation.d.name
    got = product(model, made, order=GemmOrder(**order_keys, output=None))
    walk = kernel_twin.padded_walk(K, k, **walk_keys)
    assert len(walk.parts) == 3 or shape not in ("in-place",)
    for code, row in zip(got.ravel().tolist(), each, strict=True):
        total = kernel_twin.element(model, row, walk, output=output, **sum_keys)
        assert same(model, output, code, kernel_twin.rounded(model, total, output))


def _present(K: int, S: int, tile: int, order: list[int]) -> list[int]:
    length = -(-K // (S * tile)) * tile
    return [part for part in order if part * length < K]


def normal(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize(
    ("arch", "name"), [("sm_90", "wgmma.m64n128k16.f32.f16.f16"), ("sm_80", "mma.m16n8k16.f32.f16.f16.f32")]
)
def test_residue_first_changes_most_elements(arch: str, name: str) -> None:
    """K = 116 as of pytorch/pytorch#105726: tiles of 32, of 64, and the products in ascending order are three results."""
    mma = golden.instruction(arch, name)
    A, B = normal(1, 128, 116).astype(np.float16), normal(2, 116, 128).astype(np.float16)
    orders = GemmOrder(), GemmOrder(residue="first", k_tile=32), GemmOrder(residue="first", k_tile=64)
    plain, tile_32, tile_64 = (
        golden.gemm(mma, A, B, np.zeros((128, 128), np.float32), order=order).view("u4") for order in orders
    )
    by_hand = [np.concatenate([x[:20], np.zeros((12, 128), np.float16), x[20:]]) for x in (A.T, B)]
    assert (golden.gemm(mma, by_hand[0].T.copy(), by_hand[1], np.zeros((128, 128), np.float32)).view("u4") == tile_32).all()
    assert 0.55 < (plain != tile_32).mean() < 0.75
    assert 0.55 < (plain != tile_64).mean() < 0.75
    assert 0.25 < (tile_32 != tile_64).mean() < 0.45


@pytest.mark.parametrize(
    ("convert", "x", "y"),
    [
        ("rne", 1024.5, 1024.0), ("rna", 1024.5, 1025.0), ("rz", 1024.5, 1024.0), ("rna", -1024.5, -1025.0),
        ("rz", 1 + 2**-11 + 2**-12, 1.0), ("rne", 1 + 2**-11 + 2**-12, 1 + 2**-10), ("rne", 3.4028235e38, np.inf),
        ("rz", np.inf, np.inf),
    ],
)  # fmt: skip
def test_fp32_becomes_tf32(convert: str, x: float, y: float) -> None:
    mma = golden.instruction("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32")
    d = golden.gemm(mma, np.full((1, 1), x, np.float32), np.ones((1, 1), np.float32), order=GemmOrder(convert=convert))
    assert d.dtype == np.float32
    assert float(d[0, 0]) == y


@pytest.mark.parametrize("mode", ["RNE", "RNA", "RZ"])
@pytest.mark.parametrize("form", ["bf16", "tf32"])
def test_every_conversion_equals_the_twin(mode: str, form: str) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 1 << 32, 2000, np.uint32)
    codes[::4] = codes[::4] & 0xFFFF0000 | rng.choice([0x7FFF, 0x8000, 0x8001, 0x1000, 0x0FFF], 500).astype(np.uint32)
    codes = codes[(codes & 0x7F800000) < 0x7F000000]
    mma = golden.instruction("sm_80", f"mma.m16n8k{8 if form == 'tf32' else 16}.f32.{form}.{form}.f32")
    one = np.ones((1, 1), np.float32)
    got = golden.gemm(mma, codes.view(np.float32)[:, None], one, order=GemmOrder(convert=mode.lower())).view("u4").ravel()
    for code, d in zip(codes.tolist(), got.tolist(), strict=True):
        number = decode("fp32", code)
        rounded = encode(form, number.value, mode) if number.significand else 0
        value = decode(form, rounded).value if rounded & ~(1 << 31) else Fraction(0)
        assert decode("fp32", d).value == value


PARTS = {
    "tf32x3": ("tf32", 2, [(1, 0), (0, 1), (0, 0)]),
    "bf16x3": ("bf16", 2, [(1, 0), (0, 1), (0, 0)]),
    "bf16x6": ("bf16", 3, [(1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0)]),
    "bf16x9": ("bf16", 3, [(2, 2), (1, 2), (2, 1), (1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0)]),
}


@pytest.mark.parametrize("from_zero", [True, False])
@pytest.mark.parametrize("passes", PARTS)
def test_passes_are_products_of_parts(passes: str, from_zero: bool) -> None:
    """A block of K as Triton compiles tl.dot: the products of the small parts first, from zero or from the accumulator."""
    form, count, pairs = PARTS[passes]
    k, tile, K = (8, 32, 96) if form == "tf32" else (16, 32, 96)
    mma = golden.instruction("sm_80", f"mma.m16n8k{k}.f32.{form}.{form}.f32")
    A, B = normal(1, 8, K).astype(np.float32), normal(2, K, 8).astype(np.float32)

    def parts(x: Any) -> list[Any]:
        made = []
        for number in range(count):
            code = x.view(np.uint32)
            if form == "tf32":
                part = x if number else ((code + 0x1000) & ~np.uint32(0x1FFF)).view(np.float32)
            else:
                part = x.astype(ml_dtypes.bfloat16)
            made.append(part)
            x = x - part.astype(np.float32)
        return made

    a, b = parts(A), parts(B)
    total = np.zeros((8, 8), np.float32)
    for first in range(0, K, tile):
        cut = slice(first, first + tile)
        block = np.zeros((8, 8), np.float32) if from_zero else total
        for i, j in pairs:
            block = golden.gemm(mma, a[i][:, cut], b[j][cut], block)
        total = total + block if from_zero else block
    every = len(pairs) * tile // k if from_zero else 0
    got = golden.gemm(mma, A, B, order=GemmOrder(passes=passes, pass_tile=tile, promote_every=every))
    assert (got.view("u4") == total.view("u4")).all()


def test_corrections_from_zero_are_what_the_report_says() -> None:
    """triton-lang/triton#4603: 3xTF32 whose corrections start from the accumulator has an error far above the other."""
    mma = golden.instruction("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32")
    rng = np.random.default_rng(1)
    A, B = rng.random((32, 4096), np.float32), rng.random((4096, 32), np.float32)
    exact = A.astype(np.float64) @ B.astype(np.float64)
    as_was, mended = (
        ((golden.gemm(mma, A, B, order=GemmOrder(passes="tf32x3", pass_tile=32, promote_every=every)) - exact) ** 2).mean()
        for every in (0, 12)
    )
    assert as_was > 1e-3
    assert mended < 1e-6


WRONG: dict[str, dict[str, Any]] = {
    "k_tile is missing: residue = 'first' needs the products of a tile, as 32": {"residue": "first"},
    "residue = 'first' goes neither with k_order 'reverse' or 'stream-k' nor with scale_at = 'promotion'": {
        "residue": "first", "k_tile": 32, "k_order": "reverse",
    },
    "split_tile is missing: residue = 'first' with split_k needs the products that parts are whole tiles of": {
        "residue": "first", "k_tile": 32, "split_k": 2,
    },
    "stripe_order is the order of several sums: it needs stripes; leave it out": {"stripe_order": [0, 1]},
    "split_order must have each of the numbers 0 to 2 once, in a list that may be nested; got [0, 1]": {
        "split_k": 3, "split_order": [0, 1],
    },
    "split_order = 'butterfly' adds a power of two of sums, at most 4096; got 3": {"split_k": 3, "split_order": "butterfly"},
    "split_order must be a list, 'butterfly' or 'pairs'; got 'tree'": {"split_k": 2, "split_order": "tree"},
    "split_sum = 'in-place' adds one part after the other: split_order must be a list without lists in it": {
        "split_k": 3, "split_sum": "in-place", "split_order": [0, [1, 2]],
    },
    "pass_tile is for passes alone; leave it out": {"pass_tile": 32},
    "convert is for instructions on tf32 or bf16; sm_80 mma takes fp16 and fp16": {"convert": "rne"},
    "passes = 'tf32x3' is for instructions on tf32; sm_80 mma takes fp16 and fp16": {"passes": "tf32x3"},
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_wrong_keys_are_refused(message: str) -> None:
    mma = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        GemmOrder(model=mma, **WRONG[message])
    assert str(caught.value).replace(mma.name, "sm_80 mma") == message
    tf32, infinite = golden.instruction("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32"), np.full((1, 1), np.inf, np.float32)
    with pytest.raises(ValueError, match=r"^A must be finite for passes = 'tf32x3'"):
        golden.gemm(tf32, infinite, infinite, order=GemmOrder(passes="tf32x3"))
