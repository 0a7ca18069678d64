"""Single changes of a matrix product: what kernels get wrong, and other ways to spend K.

They are the kernels that are wrong on purpose of `audit`, and the explanations that `assert_gemm` tries.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import FP16, FP32, FP64, Format
from golden.arrays import BitArray, bits_dtype
from golden.chains.chain import Chain
from golden.operations import Operation
from golden.operations.t_fdpa import TFDPA
from golden.products.additions import Additions, widened
from golden.products.epilogue import OUTPUTS
from golden.products.tiled import PromotedScales
from golden.units.instruction import Instruction
from golden.variants import Variant
from mmau.testing.kernel_faults import usual_orders
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


Change = Variant[KernelProduct]
"""A change of a product: `words` is what the kernel does, `results` its D for a product."""


def wrong_kernels(product: KernelProduct) -> Iterator[Change]:
    """The eight kernels that are wrong on purpose, without those that equal the right one by definition."""
    yield Change("zero output", lambda product: np.zeros_like(product.d))
    yield Change("K tail missing", lambda product: without_tail(product, product.k).d)
    weaker = weaker_unit(product)
    if weaker is not None:
        yield weaker
    if product.order.promote_every and same_scales_along_k(product):
        yield Change("promotion missing", lambda product: without_promotion(product).d)
    if product.scale_a is not None:
        yield Change("scales swapped", lambda product: with_swapped_scales(product).d)
    yield Change("operand b transposed", lambda product: product.changed(b=read_transposed(product.b)).d)
    if product.model.operation.c == product.model.operation.d == FP32:
        yield Change("fp16 accumulator", lambda product: in_fp16(product))
    if product.k > 1:
        yield Change("one lane missing", lambda product: without_lane(product, product.k // 2).d)


def explanations(product: KernelProduct) -> Iterator[Change]:
    """Single changes that may explain all differences of a result, the more usual ones first."""
    yield from wrong_kernels(product)
    yield Change("c is not added", lambda product: product.changed(c=np.zeros_like(product.c)).d)
    yield Change("operand a transposed", lambda product: product.changed(a=read_transposed(product.a)).d)
    for output in OUTPUTS:
        if product.output != FP64 and output != product.output.name:
            yield Change(f"the result is rounded to {output} first", partial(_rounded_through, output=output))


def explanations_by_element(product: KernelProduct) -> Iterator[Change]:
    """Those of other orders, lanes and arithmetics, which concern each element by itself."""
    k = product.k
    yield from (_changed(words, _in_order, order) for words, order in usual_orders(product).items())
    for lane in range(k):
        if lane != k // 2:
            yield _changed(f"lane {lane} of {k} missing", without_lane, lane)
    F = getattr(product.model.operation, "F", None)
    if F is not None:
        for other in (F - 2, F + 1, F + 2):
            if other >= 1:
                yield on_operation(product, f"F = {other} in the place of {F}", product.model.operation.changed(F=other))
    if product.order.promote_every == 0 or same_scales_along_k(product):
        yield from _other_architectures(product)


def _other_architectures(product: KernelProduct) -> Iterator[Change]:
    """The same product on instructions of other architectures, each arithmetic once, without the order's instruction."""
    model = product.model
    if not isinstance(model, Instruction):
        return
    wanted, seen = (model.a, model.b, model.c, model.d, model.scale, model.block_size), {_arithmetic(model)}
    for arch in golden.ARCHITECTURES:
        for other in golden.instructions(arch):
            formats = (other.a, other.b, other.c, other.d, other.scale, other.block_size)
            if formats == wanted and _arithmetic(other) not in seen:
                seen.add(_arithmetic(other))
                yield _changed(f"the arithmetic of {arch} {other.name}", _on_model, other)


def _arithmetic(instruction: Instruction) -> Chain:
    """All that decides the bits of a sum, whatever the instruction's k."""
    return instruction.chain


def _changed(words: str, change: Callable[..., KernelProduct], *how: Any) -> Change:
    """D of the product that a function makes of another one."""
    return Change(words, lambda product: change(product, *how).d)


def _in_order(product: KernelProduct, order: golden.GemmOrder) -> KernelProduct:
    return product.changed(order=order)


def _on_model(product: KernelProduct, model: golden.Instruction | golden.Unit) -> KernelProduct:
    return product.changed(model=model, order=replace(product.order, model=None))


def without_tail(product: KernelProduct, lost: int) -> KernelProduct:
    """The last products of K are not added."""
    a = product.a.copy()
    a[:, max(0, product.shape[2] - lost) :] = 0
    return product.changed(a=a)


def without_lane(product: KernelProduct, lane: int) -> KernelProduct:
    """The product without one of the products of each instruction."""
    a = product.a.copy()
    a[:, lane :: product.k] = 0
    return product.changed(a=a)


def read_transposed(codes: BitArray) -> BitArray:
    """A matrix whose memory is read as that of its transpose, in its own shape."""
    return np.ascontiguousarray(np.ascontiguousarray(codes).reshape(codes.shape[::-1]).T)


def same_scales_along_k(product: KernelProduct) -> bool:
    """Whether the scales at promotion, if any, are equal along K, so that a sum without promotion can have them."""
    if product.order.scale_at != "promotion":
        return True
    assert product.scale_a is not None
    assert product.scale_b is not None
    return bool((product.scale_a == product.scale_a[:, :1]).all() and (product.scale_b == product.scale_b[:1]).all())


def without_promotion(product: KernelProduct) -> KernelProduct:
    """The product without promotion: one chain over all of K, or over each part."""
    if product.order.scale_at != "promotion":
        return product.changed(order=replace(product.order, promote_every=0))
    order = replace(product.order, promote_every=0, split_k=1)
    assert product.scale_a is not None
    assert product.scale_b is not None
    return product.changed(order=order, scale_a=product.scale_a[:, :1], scale_b=product.scale_b[:1])


def with_swapped_scales(product: KernelProduct) -> KernelProduct:
    """The product with exchanged scales: row number i has the scale of column number i, and the reverse."""
    a, b = product.scale_a, product.scale_b
    assert a is not None
    assert b is not None
    of_rows = b.T[np.arange(len(a)) % b.shape[1]]
    of_columns = a.T[:, np.arange(b.shape[1]) % len(a)]
    return product.changed(scale_a=np.ascontiguousarray(of_rows), scale_b=np.ascontiguousarray(of_columns))


def weaker_unit(product: KernelProduct) -> Change | None:
    """The product on a unit that loses what the right one keeps; None where none is known."""
    operation = product.model.operation
    F = getattr(operation, "F", None)
    if F is not None:
        return on_operation(product, "F - 1", operation.changed(F=F - 1))
    structure = operation.structure
    truncating = 22 if structure.rounds_products else 25
    if structure.rounds_products or structure.is_exact_dot_product:
        step = TFDPA(
            a=operation.a, b=operation.b, c=FP32, L=operation.length, F=truncating, rho="RZ-FP32", e_zero=-133
        )  # fmt: skip
        return on_operation(product, f"aligned to F = {truncating}", step)
    if structure.is_multiply_add and operation.a == operation.d == FP32:
        return Change("products rounded", _unfused)
    return None


def on_operation(product: KernelProduct, name: str, operation: Operation) -> Change:
    """The product on a unit of another operation, instruction by instruction as the right one."""
    return _changed(name, _on_model, _with_operation(product.model, operation))


def _with_operation(model: golden.Instruction | golden.Unit, operation: Operation) -> golden.Instruction | golden.Unit:
    """An instruction or a unit of the same name, size and chain whose steps are another operation's."""
    if isinstance(model, Instruction):
        chain = replace(model.chain, operation=operation)
        return replace(model, operation=operation, chain=chain)
    return replace(model, operation=operation)


def _unfused(product: KernelProduct) -> BitArray:
    """A chain whose products are rounded to fp32 before they are added: NumPy's IEEE 754 arithmetic."""
    a, b, total = product.a.view("f4"), product.b.view("f4"), product.c.view("f4").copy()
    with np.errstate(all="ignore"):
        for column, row in zip(a.T, b, strict=True):
            total = total + column[:, None] * row
    codes: BitArray = total.view(bits_dtype(FP32))
    return codes


def _rounded_through(product: KernelProduct, output: str) -> BitArray:
    """D rounded to a format first, and then to its own."""
    additions = Additions(product.model.operation, None)
    wide = product.changed(order=replace(product.order, output="fp32")).d
    through: Format = golden.FORMATS[output]
    return additions.rounded(widened(additions.rounded(wide, through), through), product.output)
