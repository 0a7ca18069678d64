"""The search for the order of a product: orders drawn from the grammar are found, what lies outside is not explained."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FORMATS
from golden.products.gemm_order import GemmOrder
from golden.products.k_width import k_order_of
from mmau.probe.product_order import GivenProduct, find_order

INSTRUCTIONS = {
    "bf16": ("sm_90", "wgmma.m64n128k16.f32.bf16.bf16"),
    "fp16": ("sm_80", "mma.m16n8k16.f32.f16.f16.f32"),
    "e4m3": ("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"),
    "fp32": ("sm_90", "wgmma.m64n128k8.f32.tf32.tf32"),
    "bf16 of AMD": ("gfx942", "v_mfma_f32_16x16x16_bf16"),
}


def drawn_operands(rng: Any, name: str, M: int, N: int, K: int) -> list[Any]:
    """Codes of numbers near one, of both signs."""
    form = FORMATS[name]
    made = []
    for shape in ((M, K), (K, N)):
        exponent = rng.integers(form.bias - 3, form.bias + 4, shape)
        sign, mantissa = rng.integers(0, 2, shape), rng.integers(0, 1 << form.man_bits, shape)
        codes = (sign << form.exp_bits | exponent) << form.man_bits | mantissa
        made.append(codes.astype(f"u{form.storage_bits // 8}"))
    return made


def drawn_order(rng: Any, model: golden.Instruction, name: str, K: int) -> GemmOrder:
    """An order of one to three respects in which it is no chain."""
    k = model.k
    tiles = [size for size in (32, 64, 128) if size % k == 0]
    keys: dict[str, Any] = {}
    for group in rng.permutation(4)[: rng.integers(1, 4)]:
        tile = int(rng.choice(tiles))
        if group == 0:
            keys["promote_every"] = int(2 ** rng.integers(0, 4))
        elif group == 1:
            keys |= {"split_k": int(rng.integers(2, 9)), "split_tile": tile}
            if rng.integers(2):
                keys["split_order"] = tuple(reversed(range(keys["split_k"])))
        elif group == 2:
            number = int(rng.choice([2, 4]))
            keys["stripes"] = (number, tile)
            if number == 4:
                keys["stripe_order"] = [None, "butterfly", "pairs", (0, 2, 3, 1)][rng.integers(4)]
        elif K % tile and rng.integers(2):
            keys |= {"residue": "first", "k_tile": tile}
        elif "stripes" not in keys:
            keys |= {"k_order": "reverse", "k_tile": tile}
    if "k_order" in keys:
        keys = {key: value for key, value in keys.items() if key not in ("stripes", "stripe_order")}
    if name == "fp32":
        keys["convert"] = str(rng.choice(["rne", "rna", "rz"]))
    elif name != "e4m3" and rng.integers(2):
        keys["output"] = "bf16"
        if "split_k" in keys and rng.integers(2):
            keys["split_sum"] = "workspace"
    return GemmOrder(**keys)


def given(model: golden.Instruction, name: str, order: GemmOrder, a: Any, b: Any) -> GivenProduct:
    d = np.asarray(golden.gemm(model, a, b, order=order))
    out = order.result_format(model)
    codes = d.view(f"u{out.storage_bits // 8}")
    return GivenProduct(a=a, b=b, d=codes, formats=(FORMATS[name], FORMATS[name], out))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=() if seed < 6 else pytest.mark.long) for seed in range(20)])
def test_an_order_drawn_from_the_grammar_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    named = list(INSTRUCTIONS)[seed % len(INSTRUCTIONS)]
    name, model = named.split()[0], golden.instruction(*INSTRUCTIONS[named])
    K = int(rng.choice([256, 500, 1000]))
    a, b = drawn_operands(rng, name, 20, 24, K)
    order = drawn_order(rng, model, name, K)
    product = given(model, name, order, a, b)
    found = find_order(product, [model])
    assert found.order is not None, order
    assert not product.differing(model, found.order).any()
    assert not found.unexplained.any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys", [{"passes": "tf32x3", "pass_tile": 32, "promote_every": 12}, {"passes": "tf32x3", "pass_tile": 8}]
)
def test_passes_are_found(keys: dict[str, Any]) -> None:
    model = golden.instruction(*INSTRUCTIONS["fp32"])
    a, b = drawn_operands(np.random.default_rng(3), "fp32", 16, 16, 256)
    order = GemmOrder(**keys)
    found = find_order(given(model, "fp32", order, a, b), [model])
    assert found.order is not None
    assert (found.order.passes, found.order.pass_tile) == ("tf32x3", keys["pass_tile"])


def test_stream_k_and_widths_of_loads_are_found() -> None:
    model = golden.instruction(*INSTRUCTIONS["fp16"])
    a, b = drawn_operands(np.random.default_rng(3), "fp16", 64, 64, 512)
    for order in (GemmOrder(k_order="stream-k", tile=(32, 32), workers=3), GemmOrder(k_order=k_order_of(model, 8))):
        product = given(model, "fp16", order, a, b)
        found = find_order(product, [model])
        assert found.order is not None
        assert not product.differing(model, found.order).any()


def outside(what: str, model: golden.Instruction, a: Any, b: Any) -> Any:
    """D of a kernel that no order of the grammar is."""
    K, rng = a.shape[1], np.random.default_rng(5)
    if what == "products in any order":
        taken = rng.permutation(K)
        return golden.gemm(model, a[:, taken], b[taken])
    if what == "a bit":
        d = np.array(golden.gemm(model, a, b, order=GemmOrder(split_k=2)))
        d.view("u4")[3, 5] ^= 1
        return d
    if what == "one fraction bit less":
        unit = golden.Unit(name="weaker", operation=model.operation.changed(F=model.operation.F - 1))  # type: ignore[attr-defined]
        return golden.gemm(unit, a, b)
    if what == "a last factor":
        return golden.gemm(model, a, b).view("f4") * np.float32(1 + 2**-23)
    sums = [golden.gemm(model, a[:, x:y], b[x:y]).view("f4") for x, y in pairwise([0, 48, 208, 400, K])]
    return sums[0] + sums[1] + sums[2] + sums[3]


@pytest.mark.slow
@pytest.mark.attack("order outside of the grammar")
@pytest.mark.parametrize(
    "what", ["products in any order", "a bit", "one fraction bit less", "uneven parts", "a last factor"]
)
def test_what_no_order_gives_is_not_explained(what: str) -> None:
    model = golden.instruction(*INSTRUCTIONS["bf16"])
    a, b = drawn_operands(np.random.default_rng(11), "bf16", 12, 16, 512)
    d = np.ascontiguousarray(np.asarray(outside(what, model, a, b)).view("u4"))
    found = find_order(GivenProduct(a=a, b=b, d=d, formats=(model.a, model.b, model.d)), [model])
    assert found.order is None
    assert found.unexplained.any()
    assert found.nearest is not None
    if what == "a bit":
        assert np.argwhere(found.unexplained).tolist() == [[3, 5]]
        assert found.nearest[1] == 12 * 16 - 1


def test_formats_that_no_instruction_has_are_refused() -> None:
    model = golden.instruction(*INSTRUCTIONS["bf16"])
    a, b = drawn_operands(np.random.default_rng(11), "fp16", 4, 4, 32)
    formats = FORMATS["fp16"], FORMATS["fp16"], FORMATS["fp32"]
    with pytest.raises(ValueError, match=r"^no instruction that was named multiplies fp16 by fp16 into fp32$"):
        find_order(GivenProduct(a=a, b=b, d=np.zeros((4, 4), np.uint32), formats=formats), [model])
