"""The kernel that keeps its running sum in fp16: rounded after each instruction, and after each promotion."""

import numpy as np

import golden
from golden.additions import Additions, widened
from golden.arrays import BitArray
from golden.formats import FP16
from golden.promoted_scales import PromotedScales
from mmau.testing.product_under_test import KernelProduct


def in_fp16(product: KernelProduct) -> BitArray:
    """D of a product with fp32 c and d whose accumulator is fp16, not split along K: codes of the order's output."""
    additions = Additions(product.model.operation, None)
    order, (M, N, K) = product.order, product.shape
    group = order.promote_every * product.k or K
    accumulator = product.c
    for number, first in enumerate(range(0, K, group)):
        start = np.zeros_like(product.c) if order.promote_every else product.c
        chain = _chain(additions, product, slice(first, min(first + group, K)), start)
        if order.scale_at == "promotion":
            assert product.scale_a is not None
            groups = product.scale_a.shape[1]
            scales = PromotedScales.checked(product.scale_a, product.scale_b, (M, N), groups, order.scale_block)
            scale = scales.of(additions, number, slice(0, M), slice(0, N))
            accumulator = in_half(additions, additions.multiply_add(chain, scale, accumulator))
        elif order.promote_every:
            accumulator = in_half(additions, additions.add(accumulator, chain))
        else:
            accumulator = chain
    return additions.rounded(accumulator, product.output)


def _chain(additions: Additions, product: KernelProduct, products: slice, total: BitArray) -> BitArray:
    """Instruction after instruction over some products."""
    k, size = product.k, product.model.operation.block_size
    for first in range(products.start, products.stop, k):
        scales: tuple[BitArray | None, BitArray | None] = (None, None)
        if size is not None and product.scale_a is not None and product.scale_b is not None:
            blocks = slice(first // size, -(-(first + k) // size))
            scales = product.scale_a[:, blocks], product.scale_b[blocks]
        a, b = product.a[:, first : min(first + k, products.stop)], product.b[first : min(first + k, products.stop)]
        total = in_half(additions, golden.gemm(product.model, a, b, total, *scales))
    return total


def in_half(additions: Additions, codes: BitArray) -> BitArray:
    """Codes of fp32 rounded to fp16, in fp32."""
    return widened(additions.rounded(codes, FP16), FP16)
