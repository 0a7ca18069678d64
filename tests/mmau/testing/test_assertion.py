"""The assertion of a kernel's product: what it refuses, and what its message says."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from mmau.testing import assert_gemm, probe_data
from mmau.testing.assertion import explained
from mmau.testing.changes import explanations, explanations_by_element, wrong_kernels
from mmau.testing.kernel_faults import usual_orders
from mmau.testing.product_under_test import kernel_product

WGMMA = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3")
MMA = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
MFMA = golden.instruction("gfx942", "v_mfma_f32_16x16x16_f16")


def operands(dtype: Any = np.float16, K: int = 64, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((8, K)).astype(dtype), rng.standard_normal((K, 12)).astype(dtype)


def failure(*arguments: Any, **keys: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_gemm(*arguments, **keys)
    return str(caught.value)


HOW = {"arch": "sm_80", "instr": MMA.name}


def test_right_products_pass(tmp_path: Path) -> None:
    a, b = operands()
    c = np.ones((8, 12), np.float32)
    assert_gemm(golden.gemm(MMA, a, b, c), a, b, c, **HOW)
    assert_gemm(golden.gemm(MMA, a, b, c).view(np.uint32), a, b, c, **HOW)
    file = tmp_path / "gemm.toml"
    file.write_text('split_k = 2\nsplit_sum = "workspace"\noutput = "bf16"\n', encoding="utf-8")
    assert_gemm(golden.gemm(MMA, a, b, order=golden.load_order(file)), a, b, **HOW, order=file)
    d = probe_data("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", (8, 8, 256), "dense")
    scaled = golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3")
    right = golden.gemm(scaled, d.a, d.b, d.c, d.scale_a, d.scale_b)
    assert_gemm(right, d.a, d.b, d.c, arch="sm_120", instr=scaled.name, scale_a=d.scale_a, scale_b=d.scale_b)


@pytest.mark.attack("kernels in assert_gemm")
@pytest.mark.parametrize("bit", range(32))
def test_every_single_bit_counts(bit: int) -> None:
    a, b = operands(K=16)
    d = golden.gemm(MMA, a, b, np.zeros((8, 12), np.uint32))
    d[7, 11] ^= np.uint32(1 << bit)
    assert failure(d, a, b, **HOW).startswith(
        "1 of 96 elements of D differ from sm_80 mma.m16n8k16.f32.f16.f16.f32\n  D[7, 11]: "
    )


@pytest.mark.attack("kernels in assert_gemm")
def test_shape_dtype_and_kind_count() -> None:
    a, b = operands(K=16)
    d = golden.gemm(MMA, a, b, np.zeros((8, 12), np.float32))
    assert failure(d[:7], a, b, **HOW) == "the result must have shape (8, 12), got (7, 12)"
    assert failure(d.T, a, b, **HOW) == "the result must have shape (8, 12), got (12, 8)"
    assert failure(d[0], a, b, **HOW) == "the result must have shape (8, 12), got (12,)"
    assert failure(d[None], a, b, **HOW) == "the result must have shape (8, 12), got (1, 8, 12)"
    for wrong in (np.float64, np.float16, np.int32, bool, object):
        text = f"the result must have dtype float32 or uint32, of fp32, got {np.dtype(wrong)}"
        assert failure(d.astype(wrong), a, b, **HOW) == text
    assert failure(d.tolist(), a, b, **HOW) == "the result must be an array or a torch tensor, got list"
    assert failure(None, a, b, **HOW) == "the result must be an array or a torch tensor, got NoneType"
    masked = np.ma.masked_array(d, mask=True)
    assert failure(masked, a, b, **HOW) == "the result must be an array without a mask, got a masked array"


@pytest.mark.attack("kernels in assert_gemm")
def test_object_that_equals_everything_does_not_pass() -> None:
    class Anything:
        shape, dtype = (8, 12), np.dtype(np.float32)

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    class Array(np.ndarray[Any, Any]):
        def __ne__(self, other: object) -> Any:
            return np.zeros(self.shape, bool)

    a, b = operands(K=16)
    assert failure(Anything(), a, b, **HOW) == "the result must be an array or a torch tensor, got Anything"
    assert failure(np.zeros((8, 12), np.float32).view(Array), a, b, **HOW).startswith("96 of 96 elements")


@pytest.mark.attack("kernels in assert_gemm")
def test_nan_codes_and_zero_signs_count() -> None:
    a, b = operands(K=16)
    a[0, 0], a[1] = np.nan, 0
    d = golden.gemm(MMA, a, b, np.zeros((8, 12), np.uint32))
    assert (d[0] == 0x7FFFFFFF).all()
    assert (d[1] == 0).all()
    for place, code in (((0, 0), 0x7FC00000), ((0, 1), 0xFFFFFFFF), ((1, 0), 0x80000000)):
        other = d.copy()
        other[place] = code
        assert failure(other, a, b, **HOW).startswith("1 of 96 elements")


@pytest.mark.attack("kernels in assert_gemm")
def test_nan_of_an_unmeasured_part_is_any_nan_and_nothing_else() -> None:
    a, b = operands(K=16)
    a[0, 0] = np.nan
    d = golden.gemm(MFMA, a, b, np.zeros((8, 12), np.uint32))
    how = {"arch": "gfx942", "instr": MFMA.name}
    d[0, 0] = 0xFFC00001
    assert_gemm(d, a, b, **how)
    for code in (0x7F800000, 0xFF800000, 0, int(d[1, 0])):
        other = d.copy()
        other[0, 0] = code
        assert failure(other, a, b, **how).startswith("1 of 96 elements")
    other = d.copy()
    other[1, 0] = 0x7FC00000  # a NaN where a number is right
    assert failure(other, a, b, **how).startswith("1 of 96 elements")


def test_message_says_elements_change_and_steps() -> None:
    order = golden.GemmOrder(promote_every=2)
    data = probe_data("sm_80", MMA.name, (2, 2, 128), "promotion", promote_every=2)
    wrong = golden.gemm(MMA, data.a, data.b, data.c)
    lines = failure(wrong, data.a, data.b, data.c, **HOW, order=order).split("\n")
    got, expected = (MMA.d.describe(int(d.view(np.uint32)[0, 0]))
                     for d in (wrong, golden.gemm(MMA, data.a, data.b, data.c, order=order)))  # fmt: skip
    assert lines[:2] == [f"4 of 4 elements of D differ from sm_80 {MMA.name}", f"  D[0, 0]: got {got}, expected {expected}"]
    assert lines[5].startswith("all of D is explained by a single change: ")
    assert "promotion missing" in lines[5]
    assert lines[6] == "the first of 8 instructions of D[0, 0], from C:"
    assert lines[7].startswith("sm_80 mma.m16n8k16.f32.f16.f16.f32: T-FDPA")
    assert any(line.strip().startswith("max_exp") for line in lines)


def test_message_says_that_nothing_explains() -> None:
    a, b = operands()
    d = golden.gemm(MMA, a, b, np.zeros((8, 12), np.uint32))
    d[2, 3] ^= 1
    assert "no single change that was tried explains all of D: orders, promotion, F" in failure(d, a, b, **HOW)


SCALED = golden.GemmOrder(promote_every=2, scale_at="promotion")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["F - 1", "K tail missing", "fp16 accumulator", "one lane missing", "operand b transposed",
                                  "promotion missing", "scales swapped", "zero output"])  # fmt: skip
def test_each_wrong_kernel_is_named(name: str) -> None:
    """On normal operands, under an order with promotion and scales."""
    a, b = operands(ml_dtypes.float8_e4m3fn, 256)
    scales = {"scale_a": np.full((8, 4), 2, np.float32), "scale_b": np.exp2(np.arange(12, dtype=np.float32) % 3)}
    scales["scale_b"] = np.broadcast_to(scales["scale_b"], (4, 12)).copy()
    product = kernel_product("sm_90", WGMMA.name, {"a": a, "b": b, **scales}, SCALED)
    (change,) = [wrong for wrong in wrong_kernels(product) if wrong.words == name]
    assert name in explained(product, change.results(product))
    text = failure(change.results(product), a, b, arch="sm_90", instr=WGMMA.name, order=SCALED, **scales)
    assert f"explained by a single change: {explained(product, change.results(product))[0]}" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ({"split_k": 4, "split_tile": 64}, "split_k = 4, split_tile = 64"),
        ({"stripes": (2, 32)}, "stripes = (2, 32)"),
        ({"promote_every": 1}, "promote_every = 1"),
        ({"k_order": "reverse", "k_tile": 64}, "k_order = reverse, k_tile = 64"),
    ],
)
def test_other_orders_are_named(keys: dict[str, Any], name: str) -> None:
    a, b = operands(K=512)
    product = kernel_product("sm_80", MMA.name, {"a": a, "b": b}, None)
    d = golden.gemm(MMA, a, b, np.zeros((8, 12), np.uint32), order=golden.GemmOrder(**keys))
    assert name in explained(product, d)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("K", "keys"), [(512, {"split_k": 4}), (128, {"split_k": 2}), (512, {"split_k": 8, "output": "bf16"})]
)
def test_orders_that_say_the_same_division_have_one_name(K: int, keys: dict[str, Any]) -> None:
    """split_k = 4 and 5 of tiles of 64 cut 512 alike, and fp32 sums are rounded to fp32 in every way of adding parts."""
    a, b = operands(K=K)
    order = golden.GemmOrder(output=keys.get("output"))
    product = kernel_product("sm_80", MMA.name, {"a": a, "b": b}, order)
    found = explained(product, golden.gemm(MMA, a, b, np.zeros((8, 12), np.uint32), order=golden.GemmOrder(**keys)))
    splits = [words for words in found if words.startswith("split_k")]
    assert "output" in keys or splits == [f"split_k = {keys['split_k']}, split_tile = 64"]
    orders = usual_orders(product)
    sums = [product.changed(order=other).sums for other in orders.values()]
    assert len(set(sums)) == len(sums) > 4
    ways = [words for words in orders if "workspace" in words]
    assert bool(ways) == ("output" in keys)


def test_orders_with_the_same_sums_give_the_same_bits() -> None:
    """Else the name of one would hide the other."""
    a, b = operands(K=300)
    product = kernel_product("sm_80", MMA.name, {"a": a, "b": b}, golden.GemmOrder(output="bf16"))
    tries: list[dict[str, Any]] = [
        {"split_k": parts, "split_tile": tile, "split_sum": way}
        for parts in range(1, 12)
        for tile in (8, 16, 64, None)
        for way in ("fp32", "workspace", "in-place")
    ]
    tries += [{"k_order": "reverse", "k_tile": tile} for tile in (16, 32, 304)]
    tries += [{"residue": "first", "k_tile": tile} for tile in (16, 32, 48)]
    tries += [{"stripes": (number, width)} for number in (1, 2, 4) for width in (16, 32, 160)]
    made: dict[object, set[bytes]] = {}
    for keys in tries:
        other = product.changed(order=golden.GemmOrder(output="bf16", **keys))
        made.setdefault(other.sums, set()).add(other.d.tobytes())
    assert all(len(results) == 1 for results in made.values())
    assert 40 < len(made) < len(tries) - 40


@pytest.mark.slow
def test_arithmetic_of_another_architecture_is_named() -> None:
    a, b = operands(K=512)
    product = kernel_product("sm_80", MMA.name, {"a": a, "b": b}, None)
    other = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
    d = golden.gemm(other, a, b, np.zeros((8, 12), np.uint32))
    assert explained(product, d) == ["the arithmetic of sm_70 mma.m8n8k4.f32.f16.f16.f32"]


@pytest.mark.attack("kernels in assert_gemm")
def test_right_result_is_no_explanation_of_a_wrong_one() -> None:
    """No change that is tried gives the right bits of generic operands by itself, except those that are the same order."""
    a, b = operands(K=512)
    product = kernel_product("sm_80", MMA.name, {"a": a, "b": b}, None)
    assert [
        change.words
        for change in (*explanations(product), *explanations_by_element(product))
        if (change.results(product) == product.d).all()
    ] == ["c is not added"]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"a": np.zeros((2, 3), np.float16), "b": np.zeros((4, 2), np.float16)}, ValueError,
         "a must be [M, K] and b [K, N] with the same K, at least 1; got (2, 3) and (4, 2)"),
        ({"a": np.zeros((2, 4), np.float32), "b": np.zeros((4, 2), np.float16)}, TypeError,
         "a must have dtype uint16 or float16 for fp16, got float32"),
        ({"order": 4}, TypeError, "order must be a golden.GemmOrder or the path of a gemm.toml, got 4"),
        ({"instr": "mma.m16n8k16.f32.f16.f16"}, ValueError, None),
    ],
)  # fmt: skip
def test_wrong_operands_are_no_assertion(given: dict[str, Any], kind: Any, message: str | None) -> None:
    a, b = operands(K=16)
    keys = {"a": a, "b": b} | HOW | given
    with pytest.raises(kind) as caught:
        assert_gemm(np.zeros((8, 12), np.float32), keys.pop("a"), keys.pop("b"), **keys)
    assert message is None or str(caught.value) == message
