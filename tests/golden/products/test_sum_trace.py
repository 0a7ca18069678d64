"""The trace of an element over a whole K: its end is what gemm gives, and it says where two kernels part."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.products.gemm_order import GemmOrder
from golden.products.recipes import recipe
from golden.products.sum_trace import sum_program

WGMMA = golden.instruction("sm_90", "wgmma.m64n128k16.f32.bf16.bf16")


def operands(seed: int, K: int = 200) -> list[Any]:
    rng = np.random.default_rng(seed)
    floats = rng.standard_normal(K, np.float32), rng.standard_normal(K, np.float32)
    return [(x.view("u4") >> np.uint32(16)).astype("u2") for x in floats]


@pytest.mark.parametrize(
    "keys",
    [
        {}, {"promote_every": 3}, {"split_k": 3, "split_tile": 64, "split_order": (2, 0, 1), "output": "bf16"},
        {"stripes": (4, 16), "stripe_order": "pairs"}, {"residue": "first", "k_tile": 64},
        {"k_order": "reverse", "k_tile": 32},
        {"epilogue": ("alpha", "beta", "bias"), "alpha": 0.75, "beta": 0.5}, {"k_order": (1, 0)},
        {"split_k": 2, "split_tile": 8},
    ],
)  # fmt: skip
def test_the_last_event_is_what_gemm_gives(keys: dict[str, Any]) -> None:
    a, b = operands(1)
    order, c = GemmOrder(**keys), np.float32(1.5)
    bias = np.float32(0.3) if "bias" in order.epilogue else None
    trace = golden.explain_sum(WGMMA, a, b, c, order=order, bias=bias)
    added = None if bias is None else np.atleast_1d(bias)
    d = np.asarray(golden.gemm(WGMMA, a[None], b[:, None], np.atleast_2d(c).view("u4"), order=order, bias=added))
    assert trace.d == int(d.view(f"u{d.itemsize}")[0, 0])
    assert trace.events[-1].result == trace.d
    products = [k for event in trace.events for k in event.products if k >= 0]
    assert sorted(products) == list(range(200))
    for event in trace.events:
        if event.number is not None:
            assert trace.instruction(event.number).d == event.result, event


def test_scales_and_converted_operands_are_traced() -> None:
    mx = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0")
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 126, 96).astype("u1") for _ in range(2))
    scale_a, scale_b = (rng.integers(120, 130, 3).astype("u1") for _ in range(2))
    trace = golden.explain_sum(mx, a, b, None, scale_a, scale_b)
    d = golden.gemm(mx, a[None], b[:, None], None, scale_a[None], scale_b[:, None])
    assert trace.d == int(np.asarray(d).view("u4")[0, 0])
    assert trace.instruction(2).d == trace.d
    tf32 = golden.instruction("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32")
    x, y = (rng.standard_normal(24, np.float32) for _ in range(2))
    order = GemmOrder(passes="tf32x3", pass_tile=8)
    assert golden.explain_sum(tf32, x, y, order=order).d == int(
        np.asarray(golden.gemm(tf32, x[None], y[:, None], order=order)).view("u4")[0, 0]
    )


def test_the_text_names_products_and_sums_and_the_first_difference() -> None:
    a, b = operands(2, 40)
    one, other = (golden.explain_sum(WGMMA, a, b, order=GemmOrder(promote_every=n)) for n in (0, 2))
    assert "instruction 2, products 32 … 39, zeros: fp32 0x" in str(one)
    assert str(other).count("add: ") == 2
    assert one.first_difference(one) is None
    assert one.first_difference(other) == 2
    with pytest.raises(ValueError, match=r"^number must be that of an instruction, 0 to 2, got 3$"):
        one.instruction(3)
    stream = GemmOrder(k_order="stream-k", tile=(8, 8), workers=2)
    with pytest.raises(
        ValueError, match=r"^explain_sum takes no order with scale_at = 'promotion' or k_order = 'stream-k', "
    ):
        golden.explain_sum(WGMMA, a, b, order=stream)


FMA = golden.Unit(name="fma", operation=golden.OPERATIONS["FMA"](a=FP32, b=FP32, c=FP32))


@pytest.mark.parametrize(
    "keys",
    [
        {}, {"promote_every": 8}, {"split_k": 5, "split_tile": 1}, {"stripes": (4, 8), "stripe_order": "pairs"},
        {"stripes": (16, 4), "stripe_order": "butterfly", "promote_every": 3}, {"residue": "first", "k_tile": 32},
        {"k_order": "reverse", "k_tile": 16, "split_k": 2}, {"split_k": 4, "split_tile": 16, "split_order": (2, 0, 3, 1)},
    ],
)  # fmt: skip
def test_a_program_of_additions_gives_what_the_order_gives(keys: dict[str, Any]) -> None:
    order, rng = GemmOrder(model=FMA, **keys), np.random.default_rng(2)
    A, B = rng.standard_normal((3, 100), np.float32), rng.standard_normal((100, 1), np.float32)
    d = golden.gemm(None, A, B, np.full((3, 1), 2.5, np.float32), order=order)[:, 0]
    program = sum_program(order, 100)
    assert (program.dot(A, np.tile(B[:, 0], (3, 1)), np.full(3, 2.5, np.float32)).view("u4") == d.view("u4")).all()


def test_recipes_of_cuda_cores_are_programs_of_additions() -> None:
    for name in ("cublas.gb200.f16.gemmsn", "cublas.gb200.f16.gemv-slices"):
        rng = np.random.default_rng(3)
        A, B = (rng.standard_normal(shape).astype(np.float16) for shape in ((16, 512), (512, 1)))
        for order in (recipe(name).order, replace(recipe(name).order, output="fp32")):
            d = golden.gemm(None, A, B, np.zeros((16, 1), np.float32), order=order)[:, 0]
            program = sum_program(order, 512)
            assert d.dtype == program.dot(A, np.tile(B[:, 0], (16, 1)), np.zeros(16, np.float32)).dtype
            assert (program.dot(A, np.tile(B[:, 0], (16, 1)), np.zeros(16, np.float32)) == d).all()
    with pytest.raises(
        ValueError, match=r"^a program of additions needs an order whose model is a unit of one product with"
    ):
        sum_program(GemmOrder(model=golden.Unit(name="u", operation=golden.OPERATIONS["FMA"](a=FP16, b=FP16, c=FP16))), 64)
    with pytest.raises(ValueError, match=r"^a program of additions has no scales, no stream-K, no epilogue, and parts that"):
        sum_program(GemmOrder(model=FMA, split_k=2, split_sum="in-place", split_tile=1), 64)
