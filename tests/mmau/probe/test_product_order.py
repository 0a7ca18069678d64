"""The search for the order of a product: orders drawn from the grammar are found, what lies outside is not explained."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice, pairwise
from itertools import product as pairs
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FORMATS
from golden.products.gemm_order import GemmOrder
from golden.products.k_layout import k_order_of
from golden.products.sum_order import is_flat
from mmau.probe.order_sums import orders_giving
from mmau.probe.product_order import GivenProduct, _searches, find_order
from tests.mmau.probe.drawn_orders import INSTRUCTIONS, OTHERS, drawn, drawn_operands, product_of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("among", "seed"),
    [
        pytest.param(among, seed, marks=() if seed < 6 else pytest.mark.long)
        for among, seeds in ((INSTRUCTIONS, (*range(20), 9003)), (OTHERS, range(21))) for seed in seeds
    ],
)  # fmt: skip
def test_an_order_drawn_from_the_grammar_is_found(among: Any, seed: int) -> None:
    product, model, order = drawn(seed, among)
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
    found = find_order(product_of(model, "fp32", order, a, b), [model])
    assert found.order is not None
    assert (found.order.passes, found.order.pass_tile) == ("tf32x3", keys["pass_tile"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        {"split_k": 8, "split_tile": 64, "split_order": (6, 0, 1, 5, 3, 2, 4, 7), "epilogue": ("alpha", "bias"),
         "alpha": 0.75},
        {"split_k": 6, "split_tile": 64, "split_order": (4, 0, 1, 5, 3, 2), "epilogue": ("beta",), "beta": 0.5},
        {"stripes": (8, 32), "stripe_order": ((0, 4), 7, (1, 5), (2, 6), 3), "output": "fp16"},
        {"split_k": 7, "split_tile": 64, "split_order": (((3, 1), 6), ((0, 5), 2), 4), "output": "fp16"},
        {"k_order": "stream-k", "tile": (16, 16), "epilogue": ("alpha", "beta"), "alpha": 0.75, "beta": 0.5,
         "tiles": (((9, 32), (0, 9)), ((0, 32),), ((20, 32), (0, 5), (5, 20)), ((0, 11), (11, 32)))},
    ],
)  # fmt: skip
def test_sums_in_any_order_are_found_under_an_epilogue(keys: dict[str, Any]) -> None:
    model = golden.instruction(*INSTRUCTIONS["bf16"])
    a, b = drawn_operands(np.random.default_rng(17), "bf16", 20, 24, 64 * keys["split_k"] if "split_k" in keys else 512)
    product = product_of(model, "bf16", GemmOrder(**keys), a, b)
    found = find_order(product, [model])
    assert found.order is not None
    assert not product.differing(model, found.order).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(
            {"promote_every": 7, "split_k": 14, "split_tile": 8, "k_order": "reverse", "k_tile": 16, "convert": "rna",
             "epilogue": ("bias",)}, marks=pytest.mark.long,
        ),
        {"promote_every": 4, "split_k": 13, "split_tile": 8, "residue": "first", "k_tile": 64, "convert": "rne",
         "split_order": tuple(reversed(range(13))), "epilogue": ("beta",), "beta": 0.5},
    ],
)  # fmt: skip
def test_orders_in_three_respects_are_found(keys: dict[str, Any]) -> None:
    model = golden.instruction(*INSTRUCTIONS["fp32"])
    a, b = drawn_operands(np.random.default_rng(50019), "fp32", 20, 24, 1000)
    product = product_of(model, "fp32", GemmOrder(**keys), a, b)
    found = find_order(product, [model])
    assert found.order is not None
    assert not product.differing(model, found.order).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "keys"),
    [
        ("bf16 of AMD", {"epilogue": ("alpha", "beta"), "alpha": 0.75, "beta": 0.5}),
        ("fp16", {"output": "fp16", "split_k": 2}), ("bf16", {"output": "bf16"}), ("fp32", {"passes": "tf32x3"}),
        ("fp32", {"convert": "rz", "epilogue": ("bias",)}),
        ("e4m3", {"scale_at": "promotion", "promote_every": 4}),
    ],
)  # fmt: skip
def test_orders_computed_together_give_what_each_gives(named: str, keys: dict[str, Any]) -> None:
    """Of each kind of family some orders, beside `golden.gemm`; sums start from c where no epilogue takes it."""
    model, name = golden.instruction(*INSTRUCTIONS[named]), named.split()[0]
    rng = np.random.default_rng(3)
    a, b = drawn_operands(rng, name, 18, 17, 14 * model.k - 3)
    scales = [rng.standard_normal(shape, np.float32).view("u4") for shape in ((18, 4), (4, 1))]
    if "scale_at" in keys:
        zeros = np.zeros((18, 17), np.uint32)
        of = model.a, model.b, model.d
        given = GivenProduct(a=a, b=b, d=zeros, formats=of, scale_a=scales[0], scale_b=scales[1])
    else:
        given = product_of(model, name, GemmOrder(**keys), a, b)
    if "epilogue" not in keys:
        given = replace(given, c=rng.standard_normal((18, 17), np.float32).view("u4"))
    wanted = {key: keys.get(key) for key in ("convert", "passes")}
    search = next(
        search for search in _searches(given, model)
        if all(search.keys.get(key) == value for key, value in wanted.items()) and search.from_c == ("beta" not in keys)
    )  # fmt: skip
    plain = list(search._grammar.plain())
    families = {tuple(family.keys): family for family in (*plain, *islice(search._grammar.rest(), 0, None, 97))}
    i, j = search.places.T
    tried = 0
    for family in (*families.values(), *plain[::97]):
        codes = search.codes(family)
        axes = search.epilogues, family.part_sums, family.stripe_orders, family.promotes
        for at in islice(pairs(*(range(len(axis)) for axis in axes)), 0, None, 13):
            epilogue, part_sum, stripe_order, promote = (axis[n] for axis, n in zip(axes, at, strict=True))
            order = search._order({**family.member(promote, stripe_order, part_sum), **epilogue})
            if order is None or codes is None:
                continue
            bias = None if given.bias is None else given.bias.view("f4")
            whole = golden.gemm(model, a, b, given.c, given.scale_a, given.scale_b, order=order, bias=bias)
            assert (np.asarray(whole).view(given.d.dtype)[i, j] == codes[at]).all(), order
            tried += 1
    assert tried


def trees_of(sums: tuple[int, ...]) -> Iterator[Any]:
    """Every ordered binary tree of some sums."""
    if len(sums) == 1:
        yield sums[0]
    for size in range(1, len(sums)):
        for left in combinations(sums, size):
            right = tuple(one for one in sums if one not in left)
            yield from pairs(trees_of(left), trees_of(right))


@pytest.mark.parametrize(("elements", "has_start"), [(1, True), (3, True), (24, True), (1, False), (24, False)])
def test_every_order_of_sums_that_gives_the_totals_is_found(elements: int, has_start: bool) -> None:
    """The totals are those of a tree; without a start, trees that differ in which of two numbers is first are one."""
    first, others = np.random.default_rng(1).standard_normal((2, 5, elements), np.float32)
    first = first if has_start else others

    def added(tree: Any, is_first: bool = True) -> Any:
        if isinstance(tree, int):
            return first[tree] if is_first else others[tree]
        total = added(tree[0], is_first)
        for other in tree[1:]:
            total = total + added(other, False)
        return total

    def kind(tree: Any, is_first: bool = has_start) -> Any:
        if isinstance(tree, int):
            return tree
        *left, right = tree
        sides = [kind(left[0] if len(left) == 1 else tuple(left), is_first), kind(right, False)]
        return tuple(sides) if is_first else frozenset(sides)

    totals = added(((3, 1), 4, (0, 2)))
    right = {kind(tree) for tree in trees_of((0, 1, 2, 3, 4)) if (added(tree) == totals).all()}
    totals, bits, more = (x.view("u4") for x in (totals, first, others))
    found = [*orders_giving(totals, bits, more, lambda x, y: (x.view("f4") + y.view("f4")).view("u4"), lambda x, _: x)]
    assert len(found) == len(right)
    assert {kind(order) for order in found} == right
    if elements == 1:
        flat = [
            *orders_giving(totals, bits, more, lambda x, y: (x.view("f4") + y.view("f4")).view("u4"), lambda x, _: x, False)
        ]
        assert {*flat} == {order for order in found if is_flat(order)}


@pytest.mark.slow
def test_scales_of_promotions_and_of_blocks_are_taken() -> None:
    rng = np.random.default_rng(3)
    model = golden.instruction(*INSTRUCTIONS["e4m3"])
    a, b = drawn_operands(rng, "e4m3", 16, 24, 512)
    scale_a, scale_b = (np.exp2(rng.integers(-3, 4, shape)).astype("f4") * 0.75 for shape in ((16, 4), (4, 3)))
    order = GemmOrder(promote_every=4, scale_at="promotion", scale_block=(1, 8), split_k=2, split_tile=128, output="bf16")
    d = np.asarray(golden.gemm(model, a, b, scale_a=scale_a, scale_b=scale_b, order=order))
    scales: dict[str, Any] = {"scale_a": scale_a.view("u4"), "scale_b": scale_b.view("u4")}
    product = GivenProduct(a=a, b=b, d=d, formats=(model.a, model.b, FORMATS["bf16"]), **scales)
    found = find_order(product, [model]).order
    assert found is not None
    assert (found.scale_at, found.promote_every, found.scale_block) == ("promotion", 4, (1, 8))
    assert find_order(replace(product, scale_a=scales["scale_a"][::-1].copy()), [model], 2).order is None
    mx = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0")
    codes = [rng.integers(125, 130, shape).astype("u1") for shape in ((16, 14), (14, 24))]
    a, b = a[:, :440], b[:440]
    d = golden.gemm(mx, a, b, scale_a=codes[0], scale_b=codes[1], order=GemmOrder(split_k=3, split_tile=64)).view("u4")
    product = GivenProduct(a=a, b=b, d=d, formats=(mx.a, mx.b, mx.d), scale_a=codes[0], scale_b=codes[1])
    found = find_order(product, [mx]).order
    assert found is not None
    assert not product.differing(mx, found).any()
    assert find_order(replace(product, scale_b=np.roll(codes[1], 1, 1)), [mx], 2).order is None


def test_parts_of_whole_groups_are_found() -> None:
    rng = np.random.default_rng(3)
    model = golden.instruction(*INSTRUCTIONS["e4m3"])
    a, b = drawn_operands(rng, "e4m3", 16, 24, 500)
    scale_a, scale_b = (rng.uniform(0.5, 2, shape).astype("f4") for shape in ((1, 4), (4, 1)))
    order = GemmOrder(promote_every=4, scale_at="promotion", scale_block=(16, 24), split_k=2, split_tile=256)
    d = golden.gemm(model, a, b, scale_a=scale_a, scale_b=scale_b, order=order).view("u4")
    scales: dict[str, Any] = {"scale_a": scale_a.view("u4"), "scale_b": scale_b.view("u4")}
    found = find_order(GivenProduct(a=a, b=b, d=d, formats=(model.a, model.b, model.d), **scales), [model]).order
    assert found is not None
    assert (found.split_k, found.split_tile) == (2, 256)


def test_stream_k_and_widths_of_loads_are_found() -> None:
    model = golden.instruction(*INSTRUCTIONS["fp16"])
    a, b = drawn_operands(np.random.default_rng(3), "fp16", 64, 64, 512)
    for order in (GemmOrder(k_order="stream-k", tile=(32, 32), workers=3), GemmOrder(k_order=k_order_of(model, 8))):
        product = product_of(model, "fp16", order, a, b)
        found = find_order(product, [model])
        assert found.order is not None
        assert not product.differing(model, found.order).any()


def test_sums_of_integers_are_one_chain() -> None:
    model = golden.instruction("sm_80", "mma.m16n8k32.s32.s8.s8.s32")
    a, b = (np.random.default_rng(3).integers(0, 256, shape, np.uint8) for shape in ((8, 256), (256, 8)))
    d = golden.gemm(model, a, b).view("u4")
    product = GivenProduct(a=a, b=b, d=d, formats=(model.a, model.b, model.d))
    assert find_order(product, [model]).order == GemmOrder(model=model)
    assert find_order(replace(product, d=d ^ 1), [model]).order is None


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
    halves = [golden.gemm(model, a[:, x:y], b[x:y]).view("f4").astype("f2") for x, y in pairwise(range(0, K + 1, K // 4))]
    return sum((half.astype("f4") for half in halves[1:]), halves[0].astype("f4"))


@pytest.mark.slow
@pytest.mark.attack("order outside of the grammar")
@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "what", ["products in any order", "a bit", "one fraction bit less", "parts in fp16", "a last factor"]
)
def test_what_no_order_gives_is_not_explained(what: str, seconds: float) -> None:
    model = golden.instruction(*INSTRUCTIONS["bf16"])
    a, b = drawn_operands(np.random.default_rng(11), "bf16", 12, 16, 512)
    d = np.ascontiguousarray(np.asarray(outside(what, model, a, b)).view("u4"))
    found = find_order(GivenProduct(a=a, b=b, d=d, formats=(model.a, model.b, model.d)), [model], seconds)
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
