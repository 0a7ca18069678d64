"""The recorded products of cuBLAS and Triton: orders give every element, broken ones do not; recipes are those orders."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.recipes import recipe, recipes
from studies.library_products.found_orders import (
    Explanation,
    Recorded,
    candidates,
    differing,
    explain,
    read,
)
from studies.library_products.products_page import page
from studies.library_products.recorded_products import operands

ROOT = Path(__file__).parents[3]
FILE = ROOT / "studies/library_products/h100.npz"
FOUND = ROOT / "docs/evidence/library-products.json"

PRODUCTS_OF_RECIPES = {
    "cublas.h100.bf16.single": [
        f"mm.bf16.bf16.{M}x{N}x{K}.random.0" for M, N, K in recipe("cublas.h100.bf16.single").shapes
    ],
    "cublas.h100.bf16.split-3": ["mm.bf16.bf16.100x2560x9728.random.0"],
    "cublas.h100.f16.single": [f"mm.fp16.fp16.{n}x{n}x{n}.random.0" for n in (512, 1000, 2048, 4096)],
    "cublas.h100.f16.split-2": [f"mm.fp16.fp16.{shape}.random.0" for shape in ("16x4096x4096", "256x256x4096")],
    "cublas.h100.tf32.single": [f"mm-tf32.fp32.fp32.{n}x{n}x{n}.random.0" for n in (512, 1000, 2048, 4096)],
    "cublas.h100.e4m3.default": [f"scaled.e4m3.e4m3.{n}x{n}x{n}.random.0" for n in (512, 2048, 4096)],
    "cublas.h100.e4m3.fast-accumulation": [f"scaled-fast.e4m3.e4m3.{n}x{n}x{n}.random.0" for n in (512, 2048, 4096)],
    "cublas.h100.e4m3.block-scales": [
        f"scaled-blocks.e4m3.e4m3.{shape}.random.0" for shape in ("256x256x4096", "2048x2048x2048", "64x4096x4096")
    ],
    "triton.sm90.f16.acc-plus-dot": [
        f"triton-plus.fp16.fp16.128x128x1024.{tile}.random.0" for tile in ("64x64x64", "128x128x128")
    ],
    "triton.sm90.e4m3.dot-acc": [f"triton.e4m3.e4m3.128x128x1024.{tile}.random.0" for tile in ("64x64x64", "128x128x128")],
    "triton.sm90.e4m3.acc-plus-dot-128": ["triton-plus.e4m3.e4m3.128x128x1024.128x128x128.random.0"],
    "triton.sm90.e4m3.imprecise-64": ["triton-imprecise.e4m3.e4m3.128x128x1024.128x128x128.random.0"],
}


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return read(FILE)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(FOUND.read_text(encoding="utf-8"))
    return table


def explanation_of(entry: dict[str, Any]) -> Explanation | None:
    given = entry["explanation"]
    if given is None:
        return None
    return Explanation(**{key: as_tuples(value) for key, value in given.items()})


def as_tuples(value: Any) -> Any:
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def replayed(recorded: Recorded, found: dict[str, Any], names: list[str], rows: slice) -> None:
    for name in names:
        product, explanation = recorded.products[name], explanation_of(found["products"][name])
        assert product.d.size == found["products"][name]["elements"] > 0
        if explanation is not None:
            assert not differing(product, explanation, rows), name


@pytest.mark.slow
def test_a_row_of_some_products_is_what_their_orders_give(recorded: Recorded, found: dict[str, Any]) -> None:
    assert list(recorded.products) == list(found["products"])
    random = [name for name, product in recorded.products.items() if product.case.operands == "random"]
    replayed(recorded, found, random[::6], slice(0, 1))


@pytest.mark.long
def test_every_element_is_what_its_order_gives(recorded: Recorded, found: dict[str, Any]) -> None:
    replayed(recorded, found, list(recorded.products), slice(None))
    assert all(entry["explanation"] for entry in found["products"].values())


@pytest.mark.slow
def test_operands_are_those_that_the_gpu_multiplied(recorded: Recorded) -> None:
    for product in list(recorded.products.values())[::17]:
        made = operands(product.case)
        assert tuple(int(side.astype(np.uint64).sum()) for side in (made.a, made.b)) == product.sums


@pytest.mark.slow
def test_recorded_recipes_give_recorded_products(recorded: Recorded) -> None:
    assert {name for name, entry in recipes().items() if entry.evidence == "recorded"} == set(PRODUCTS_OF_RECIPES)
    for name, products in PRODUCTS_OF_RECIPES.items():
        order = recipe(name).order
        assert isinstance(order.model, golden.Instruction)
        for listed in products:
            product = recorded.products[listed]
            assert (product.case.M, product.case.N, product.case.K) in recipe(name).shapes or not recipe(name).shapes
            says = Explanation(
                instruction=order.model.name, promote_every=order.promote_every, split_k=order.split_k,
                split_tile=order.split_tile, operands=next(candidates(product)).operands,
            )  # fmt: skip
            assert not differing(product, says, slice(0, 8)), (name, listed)


@pytest.mark.slow
@pytest.mark.attack("order of a library's product")
def test_another_order_is_noticed(recorded: Recorded) -> None:
    """Promotion missing or every other time, a part more or less, another tile, one instruction of half the length."""
    wrong: dict[str, tuple[dict[str, Any], ...]] = {
        "scaled.e4m3.e4m3.4096x4096x4096.random.0": ({"promote_every": 0}, {"promote_every": 2}, {"promote_every": 8}),
        "mm-fp32.bf16.bf16.100x2560x9728.random.0": ({"split_k": 1}, {"split_k": 2}, {"split_k": 4}, {"split_tile": 128}),
        "mm-tf32.fp32.fp32.512x512x512.random.0": (
            {"operands": "cut to tf32"}, {"instruction": "mma.m16n8k4.f32.tf32.tf32.f32"},
        ),
        "triton.fp32.fp32.128x128x1024.64x64x64.random.0": ({"operands": "rounded to tf32, to nearest even"},),
        "mm-fp32.fp16.fp16.512x512x512.random.0": ({"instruction": "mma.m16n8k8.f32.f16.f16.f32"},),
    }  # fmt: skip
    for name, changes in wrong.items():
        product = recorded.products[name]
        right = explain(product)
        assert right is not None
        for change in changes:
            assert differing(product, replace(right, **change)), (name, change)


@pytest.mark.attack("operands of another product")
def test_other_operands_are_refused(recorded: Recorded) -> None:
    product = recorded.products["mm.bf16.bf16.128x128x128.random.0"]
    with pytest.raises(ValueError, match=r"^mm\.bf16.*: the sums of the operands' codes must be "):
        explain(product._replace(sums=(product.sums[0] + 1, product.sums[1])))


@pytest.mark.attack("bit of a library's product")
def test_a_wrong_bit_is_not_explained(recorded: Recorded) -> None:
    product = recorded.products["mm.bf16.bf16.128x128x128.random.0"]
    d = product.d.copy()
    d[63, 63] ^= 1
    assert explain(product) is not None
    assert explain(product._replace(d=d)) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["mm-tf32.fp32.fp32.64x64x16.random.0", "mm.fp64.fp64.16x4096x4096.random.0", "mm.fp64.fp64.256x256x4096.random.0"],
)
def test_parts_of_an_instruction_and_stripes_in_another_order_are_found(
    recorded: Recorded, found: dict[str, Any], name: str
) -> None:
    """Four parts of four products in tf32; in fp64 four interleaved stripes, added in the order 0, 2, 3, 1, and eight in a
    tree."""
    product, explanation = recorded.products[name], explanation_of(found["products"][name])
    assert explanation is not None
    assert explain(product) == explanation
    changes: list[dict[str, Any]] = [{"split_tile": 8}]
    if explanation.stripes is not None:
        changes = [{"stripe_order": tuple(range(explanation.stripes[0]))}]
        if explanation.stripes[0] == 8:
            changes += [{"stripe_order": order} for order in ("butterfly", "pairs", (0, 4, 7, 1, 5, 2, 6, 3))]
    for change in changes:
        assert differing(product, replace(explanation, **change)), change


def test_page_is_what_the_outcome_gives(found: dict[str, Any]) -> None:
    assert (ROOT / "docs/evidence/library-products.md").read_text(encoding="utf-8") == page(found)
