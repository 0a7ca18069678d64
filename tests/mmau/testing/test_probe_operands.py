"""Probe data: no false alarm on correct products of any order, and every wrong kernel killed; per architecture."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import golden
from mmau.testing.changes import wrong_kernels
from mmau.testing.probe_operands import KINDS, probe_data, probe_scales
from mmau.testing.product_under_test import KernelProduct, kernel_product
from tests.mmau.testing.random_orders import in_random_order

HOPPER = {
    "fp16": "wgmma.m64n128k16.f32.f16.f16",
    "bf16": "wgmma.m64n128k16.f32.bf16.bf16",
    "e4m3": "wgmma.m64n128k32.f32.e4m3.e4m3",
}

EIGHT = {
    "zero output", "K tail missing", "F - 1", "promotion missing", "scales swapped", "operand b transposed",
    "fp16 accumulator", "one lane missing",
}  # fmt: skip

ALL = tuple(KINDS)
UNSCALED_PROMOTION = EIGHT - {"scales swapped"}

TOLD: dict[tuple[str, str], tuple[tuple[str, ...], set[str]]] = {
    ("sm_70", "mma.m8n8k4.f32.f16.f16.f32"): (ALL, UNSCALED_PROMOTION),
    ("sm_75", "mma.m16n8k8.f32.f16.f16.f32"): (ALL, UNSCALED_PROMOTION),
    ("sm_80", "mma.m16n8k16.f32.bf16.bf16.f32"): (ALL, UNSCALED_PROMOTION),
    ("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32"): (ALL, UNSCALED_PROMOTION),
    ("sm_80", "mma.m16n8k16.f16.f16.f16.f16"): (ALL, UNSCALED_PROMOTION - {"fp16 accumulator"}),
    ("sm_89", "mma.m16n8k32.f32.e4m3.e4m3.f32"): (ALL, UNSCALED_PROMOTION),
    ("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32"): (ALL, UNSCALED_PROMOTION),
    ("sm_100", "tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3"): (ALL, UNSCALED_PROMOTION),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"): (ALL, EIGHT),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"): (ALL, EIGHT),
    ("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"): (ALL, EIGHT),
    ("sm_120", "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32"): (
        ("dense",), UNSCALED_PROMOTION - {"F - 1", "promotion missing"},
    ),
    ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.f32.ue8m0"): (("dense", "promotion"), EIGHT - {"F - 1"}),
    ("gfx908", "v_mfma_f32_16x16x16f16"): (ALL, UNSCALED_PROMOTION - {"F - 1"} | {"aligned to F = 25"}),
    ("gfx908", "v_mfma_f32_16x16x8bf16"): (
        ("dense", "promotion"), UNSCALED_PROMOTION - {"F - 1"},
    ),
    ("gfx90a", "v_mfma_f32_16x16x16bf16_1k"): (ALL, UNSCALED_PROMOTION - {"F - 1"} | {"aligned to F = 22"}),
    ("gfx942", "v_mfma_f32_16x16x16_bf16"): (ALL, UNSCALED_PROMOTION),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_fp8"): (ALL, UNSCALED_PROMOTION),
    ("gfx1100", "v_wmma_f32_16x16x16_f16_w32"): (("dense", "promotion"), UNSCALED_PROMOTION - {"F - 1"}),
    ("gfx1151", "v_wmma_f32_16x16x16_bf16_w64"): (("dense", "promotion"), UNSCALED_PROMOTION - {"F - 1"}),
    ("gfx1201", "v_wmma_f32_16x16x16_f16_w32"): (ALL, UNSCALED_PROMOTION),
    ("gfx1201", "v_wmma_f32_16x16x16_bf16_w64"): (ALL, UNSCALED_PROMOTION),
    ("gfx942", "v_mfma_f32_16x16x4_f32"): (ALL, UNSCALED_PROMOTION - {"F - 1"} | {"products rounded"}),
}  # fmt: skip
"""For each arithmetic the kinds of data that can tell, and the wrong kernels that are killed."""


def product_of(arch: str, instr: str, kind: str, seed: int, order: golden.GemmOrder, scales: bool = False) -> KernelProduct:
    k = golden.instruction(arch, instr).k
    shape = (24, 40, k * 4 * 6)
    data = probe_data(arch, instr, shape, kind, seed=seed)
    operands: dict[str, Any] = {"a": data.a, "b": data.b, "c": data.c, "scale_a": data.scale_a, "scale_b": data.scale_b}
    if scales:
        operands["scale_a"], operands["scale_b"] = probe_scales(shape, 4 * k, seed=seed)
    return kernel_product(arch, instr, operands, order)


SCALED = golden.GemmOrder(promote_every=4, scale_at="promotion")


ONE_OF_HOPPER = [name if name == "fp16" else pytest.param(name, marks=pytest.mark.long) for name in HOPPER]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draws"), [("fp16", 10), *(pytest.param(name, 50, marks=pytest.mark.long) for name in HOPPER)]
)
def test_all_eight_are_killed_in_every_draw(name: str, draws: int) -> None:
    killed: Counter[str] = Counter()
    for seed in range(draws):
        products = [product_of("sm_90", HOPPER[name], kind, seed, SCALED, scales=True) for kind in KINDS]
        killed.update({w.words for p in products for w in wrong_kernels(p) if (w.results(p) != p.d).any()})
    assert killed == dict.fromkeys(EIGHT, draws)


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_OF_HOPPER)
def test_no_false_alarm_in_two_hundred(name: str) -> None:
    """Products of random order, split at random: with scales at promotion, and without scales."""
    rng, compared, unlike = np.random.default_rng(1), 0, 0
    for seed in range(34):
        for kind in KINDS:
            for order, scales in ((SCALED, True), (golden.GemmOrder(promote_every=4), False)):
                product = product_of("sm_90", HOPPER[name], kind, seed, order, scales=scales)
                mixed = in_random_order(product, rng)
                assert (mixed.d == product.d).all(), (kind, seed, mixed.order)
                compared += 1
                unlike += mixed.order != product.order or (mixed.a != product.a).any()
    assert compared >= 200
    assert unlike == compared


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "instr"), TOLD, ids=[f"{arch}-{instr}" for arch, instr in TOLD])
def test_every_architecture_is_told(arch: str, instr: str) -> None:
    """Five draws: what is killed in each, and no false alarm, also of products that are not promoted."""
    kinds, wanted = TOLD[arch, instr]
    rng = np.random.default_rng(2)
    for seed in range(5):
        killed: set[str] = set()
        for kind in kinds:
            product = product_of(arch, instr, kind, seed, golden.GemmOrder(promote_every=4))
            assert (in_random_order(product, rng).d == product.d).all(), kind
            killed |= {wrong.words for wrong in wrong_kernels(product) if (wrong.results(product) != product.d).any()}
            if kind != "promotion":
                plain = product.changed(order=golden.GemmOrder())
                assert (in_random_order(plain, rng).d == plain.d).all(), kind
        assert killed >= wanted
    for kind in set(KINDS) - set(kinds):
        with pytest.raises(ValueError, match=f"^{arch} "):
            product_of(arch, instr, kind, 0, golden.GemmOrder())


@pytest.mark.parametrize(
    ("arch", "instr", "shape", "kind", "message"),
    [
        ("sm_90", HOPPER["fp16"], (8, 8, 64), "sparse",
         "kind must be one of dense, precision, promotion; got 'sparse'"),
        ("sm_90", HOPPER["fp16"], (0, 8, 64), "dense", "M must be an integer from 1 to 1048576, got 0"),
        ("sm_90", HOPPER["fp16"], (8, 8, 128), "promotion",
         "K must hold three groups of 4 instructions of sm_90 wgmma.m64n128k16.f32.f16.f16, got K = 128"),
        ("gfx942", "v_mfma_f64_16x16x4_f64", (8, 8, 128), "promotion",
         "gfx942 v_mfma_f64_16x16x4_f64 gives fp64, which no promotion to fp32 adds"),
        ("gfx908", "v_mfma_f32_32x32x1f32", (8, 8, 128), "precision",
         "gfx908 v_mfma_f32_32x32x1f32 has one product in an instruction, so that no sum lies inside of it"),
        ("gfx908", "v_mfma_f32_32x32x2bf16", (8, 8, 128), "precision",
         "gfx908 v_mfma_f32_32x32x2bf16 has steps of 2 terms: +P, -P and a small one need three"),
        ("sm_120", "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32", (8, 8, 128), "precision",
         "sm_120 mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32: products of e2m1 by e2m1 lie at most 6 bits apart, and a "
         "small term must lie 25 below a large one"),
        ("x86-avx512", "vpdpbusd", (8, 8, 128), "dense",
         "x86-avx512 vpdpbusd adds integers exactly; probe data tells roundings apart"),
    ],
)  # fmt: skip
def test_data_that_could_not_tell_is_refused(arch: str, instr: str, shape: Any, kind: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        probe_data(arch, instr, shape, kind)
    assert str(caught.value) == message
