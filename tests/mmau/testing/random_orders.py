"""Correct products in random orders of whole instructions, for tests of probe data."""

from dataclasses import replace
from typing import Any

import numpy as np

import golden
from mmau.testing.product_under_test import KernelProduct


def permuted(product: KernelProduct, rng: np.random.Generator, group: int) -> KernelProduct:
    """Groups of instructions in a random order, and instructions in a random order within each group."""
    k, K = product.k, product.shape[2]
    count = -(-K // k)
    groups = [list(range(first, min(first + group, count))) for first in range(0, count, group)]
    whole, rest = groups, []
    if len(groups[-1]) < group or K % k:  # the last group stays where it is: groups begin at multiples
        whole, rest = groups[:-1], groups[-1:]
    order = [instruction for at in rng.permutation(len(whole)) for instruction in rng.permutation(whole[at])]
    order += [instruction for last in rest for instruction in last]
    taken = np.concatenate([np.arange(number * k, min((number + 1) * k, K)) for number in order])
    parts: dict[str, Any] = {"a": product.a[:, taken], "b": product.b[taken]}
    size = product.model.operation.block_size
    if size is not None and product.scale_a is not None and product.scale_b is not None:
        blocks = taken[::size] // size
        parts |= {"scale_a": product.scale_a[:, blocks], "scale_b": product.scale_b[blocks]}
    return product.changed(**parts)


def in_random_order(product: KernelProduct, rng: np.random.Generator) -> KernelProduct:
    """The product with its instructions permuted, and split at random into parts that are added in a random order."""
    group = max(product.order.promote_every, 1)
    mixed = permuted(product, rng, group)
    if product.order.scale_at == "promotion":  # parts of whole groups, added in order
        parts = int(rng.integers(1, 5))
        tile = group * product.k
        return mixed.changed(order=replace(product.order, split_k=parts, split_tile=tile))
    M, N, K = product.shape
    count = -(-K // product.k)
    inner = [at for at in range(group, count, group) if rng.random() < 0.3]
    cuts = list(zip([0, *inner], [*inner, count], strict=True))
    pieces = tuple(cuts[at] for at in rng.permutation(len(cuts)))
    order = golden.GemmOrder(
        promote_every=product.order.promote_every, k_order="stream-k", tile=(M, N), tiles=(pieces,)
    )  # fmt: skip
    return mixed.changed(order=order)
