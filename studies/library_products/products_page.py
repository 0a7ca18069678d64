"""The page of the library products.

python -m studies.library_products.products_page docs/evidence/library-products.json docs/evidence/library-products.md
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.report.markdown import bullets, document, table
from studies.library_products.recorded_products import ROUTES

INTRODUCTION = """\
`python -m studies.library_products.record` multiplied matrices by cuBLAS, through PyTorch, and by a kernel in Triton on one
GPU: {device}, PyTorch {torch}, CUDA {cuda}, Triton {triton}. Operands are random codes from a seed, with exponents
from −3 to 3, or [probe data](../guides/kernel-tests.md). Up to 64 rows by 64 columns of each D are stored, and the sums
of the operands' codes, which show that a reader has the same operands. `make library-products` searches for an order of
`golden.gemm` that gives **every** stored element, bit for bit. A second run of every product gave the same bits."""

LEGEND = """\
The columns: how many products of how many stored elements; the orders found, with their shapes where there is more than one;
how many elements have other bits if one chain of instructions runs through all of K. Where several orders give all
elements, the page has the first that was tried: short sums do not tell promotion from a single chain, and equal shares
of K do not tell the tile by which a kernel cuts them."""

LIMITS = """\
This is one part, and one version of each library. Another version may choose another kernel for a shape, and so another
order. Scales of whole tensors were 1. Products in fp32 without tf32 run on no matrix instruction and are left out."""

ON_CUDA_CORES = """\
Rows (M = 1) of fp32 and fp64 are not multiplied by matrix instructions: a kernel `gemvx` adds them on the CUDA cores, by
multiply-adds in interleaved stripes, whose sums are added as by lanes that shuffle down. `mmau order` finds it, and the tree
in which the stripes of the product of 256x256x4096 in fp64 are added."""

WORDS: dict[str, tuple[str, Callable[[Mapping[str, Any]], bool]]] = {
    "splitK": ("K is split", lambda order: order["split_k"] > 1),
    "algo2": ("sums are promoted", lambda order: order["promote_every"] > 0),
}
"""Words of a kernel's name, what they say of its order, and whether an order found is such."""

KERNELS = """\
Beside each product its kernel's name is recorded. Words of cuBLAS's names (`nvjet…`) say part of the order, as the table
counts: of how many products with the word, and without, the order found is such. Where the word is there and the order is
not, the plainer order gives the same bits. The fields of cuBLASLt's heuristic (tile, stages, parts of K, reduction, swizzle)
were not recorded: `python -m studies.lent_minutes` records them beside the order of each product on the next GPU
([silicon.md](../guides/silicon.md#an-h100-or-h200-for-some-minutes))."""

BY_ROWS = "; sums are multiplied by the scale of the column, then by that of the row, in fp32"


def page(found: Mapping[str, Any]) -> str:
    """The text of the page."""
    products = found["products"]
    unexplained = sum(entry["explanation"] is None for entry in products.values())
    elements = sum(entry["elements"] for entry in products.values())
    explained = sum(entry["elements"] for entry in products.values() if entry["explanation"] is not None)
    counts = (
        f"Of {len(products):,} products, {len(products) - unexplained:,} are explained: {explained:,} of {elements:,} "
        f"stored elements, every one equal."
    )
    return document(
        "What cuBLAS and Triton compute on an H100",
        INTRODUCTION.format(**found["machine"]),
        counts,
        LEGEND,
        table(
            ["product", "operands", "products", "elements", "order", "plain chain differs in"],
            _rows(products),
            numbers=(2, 3, 5),
        ),
        "## What a kernel's name says",
        KERNELS,
        table(["word", "says that", "with the word", "without"], _words_of_kernels(products)),
        "## Other kernels",
        ON_CUDA_CORES,
        "## Refused by the library",
        bullets(f"{_words(name)}: {reason}" for name, reason in found["refused"].items()),
        "## Limits",
        LIMITS,
    )  # fmt: skip


def _rows(products: Mapping[str, Any]) -> Iterable[list[str]]:
    """One row for each route and formats of operands."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in products:
        route, a, b = name.split(".")[:3]
        groups[route, a if a == b else f"{a} x {b}"].append(name)
    for (route, formats), names in groups.items():
        entries = [products[name] for name in names]
        yield [
            ROUTES[route], formats, f"{len(names)}", f"{sum(entry['elements'] for entry in entries):,}",
            _orders(route, {name: products[name]["explanation"] for name in names}),
            f"{sum(entry['plain chain differs'] for entry in entries):,}",
        ]  # fmt: skip


def _words_of_kernels(products: Mapping[str, Any]) -> Iterable[list[str]]:
    """How many of the explained products whose kernel's name has a word, or has it not, have an order of that kind."""
    explained = [entry for entry in products.values() if entry["explanation"] is not None]
    known = [entry for entry in explained if entry["kernels"] and entry["kernels"][0].startswith("nvjet")]
    for word, (says, is_such) in WORDS.items():
        kinds = [[is_such(e["explanation"]) for e in known if (word in e["kernels"][0]) == has] for has in (True, False)]
        yield [f"`{word}`", says, *(f"{sum(each)} of {len(each)}" for each in kinds)]


def _orders(route: str, explanations: Mapping[str, Any]) -> str:
    """The orders of a group, each with its shapes where there are several."""
    shapes: dict[str, list[str]] = defaultdict(list)
    for name, explanation in explanations.items():
        shapes[_order(explanation)].append(_shape(name))
    if route.startswith("scaled-rows"):
        return f"{_listed(shapes)}{BY_ROWS}"
    return _listed(shapes)


def _listed(shapes: Mapping[str, list[str]]) -> str:
    """Orders, with the shapes of all but the commonest."""
    most = max(shapes, key=lambda order: len(shapes[order]))
    return "; ".join(order if order == most else f"{order}: {', '.join(listed)}" for order, listed in shapes.items())


def _order(explanation: Mapping[str, Any] | None) -> str:
    """An explanation in words."""
    if explanation is None:
        return "not explained"
    parts = [f"`{explanation['instruction']}`"]
    if explanation["operands"] != "as they are":
        parts.append(f"operands {explanation['operands']}")
    if explanation["promote_every"]:
        parts.append(f"promote_every = {explanation['promote_every']}")
    if explanation["split_k"] > 1:
        parts.append(f"split_k = {explanation['split_k']}, split_tile = {explanation['split_tile']}")
    if explanation.get("stripes"):
        number, width = explanation["stripes"]
        order = explanation["stripe_order"]
        listed = order if isinstance(order, str) else json.dumps(order)
        parts.append(f"stripes = [{number}, {width}], stripe_order = {listed}")
    return ", ".join(parts)


def _shape(name: str) -> str:
    """The shape in a product's name, with Triton's tile, and the kind of operands where they are not random."""
    _, _, _, shape, *rest = name.split(".")
    return " ".join([shape, *(word for word in rest[:-1] if word != "random")])


def _words(name: str) -> str:
    route, a, b = name.split(".")[:3]
    return f"{ROUTES[route]}, {a} by {b}, {_shape(name)}"


def main(arguments: list[str]) -> int:
    """Write the page docs/evidence/library-products.md."""
    found = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    write_atomically(Path(arguments[1]), page(found).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
