"""The assertion that a kernel's matrix product is right, bit for bit, and the message where it is not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.arrays import BitArray, bits_dtype, float_dtype, from_tensor, is_device_array, is_tensor
from golden.comparison import is_nan
from golden.units.instruction import Instruction
from mmau.testing.changes import explanations
from mmau.testing.product_under_test import KernelProduct, kernel_product

SHOWN = 5
"""Number of differing elements that a message lists."""


def assert_gemm(
    actual: Any, a: Any, b: Any, c: Any = None, *, arch: str, instr: str,
    order: golden.GemmOrder | str | Path | None = None, scale_a: Any = None, scale_b: Any = None,
) -> None:  # fmt: skip
    """Assert that `actual` is A·B + C as an instruction computes it under an order, bit for bit.

    NaN codes and the sign of zero count; any NaN equals any other only where the instruction's is unmeasured
    (`Operation.nan_is_fixed`). There is no tolerance.

    Args:
        actual: D [M, N], an array or a torch tensor of the output's float dtype, or of its codes.
        a: [M, K], b: [K, N], c: [M, N] or None for zeros; arrays or torch tensors, as of `golden.gemm`.
        arch, instr: an architecture and an instruction of the catalogue. order: None for one chain, an order, or the path
            of a gemm.toml.
        scale_a, scale_b: scales of the instruction's blocks, or of the order's promotions.

    Raises:
        AssertionError: another shape, dtype or bits. The message lists the first differing elements, the single changes of
            the product that explain all of them, and the steps of one element.
        TypeError, ValueError: operands or an order that `golden.gemm` refuses.
    """
    __tracebackhide__ = True
    operands = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b}
    product = kernel_product(arch, instr, operands, order)
    got = _codes(actual, product)
    wrong = differing(product, got, product.d)
    if wrong.any():
        raise AssertionError("\n".join(_message(product, got, wrong)))


def differing(product: KernelProduct, got: BitArray, expected: BitArray) -> Any:
    """The elements in which codes of the output differ."""
    differs = got != expected
    if product.model.operation.nan_is_fixed():
        return differs
    return differs & ~(is_nan(got, product.output) & is_nan(expected, product.output))


def _codes(actual: Any, product: KernelProduct) -> BitArray:
    """The codes of what a kernel gave.

    Raises:
        AssertionError: no array of the output's shape and dtype.
    """
    M, N, _ = product.shape
    bits, floats = bits_dtype(product.output), float_dtype(product.output)
    if isinstance(actual, np.ma.MaskedArray):
        raise AssertionError("the result must be an array without a mask, got a masked array")
    if is_tensor(actual):
        array = from_tensor(actual.cpu())
    elif is_device_array(actual):
        array = actual.get()
    elif isinstance(actual, np.ndarray):
        array = actual
    else:
        raise AssertionError(f"the result must be an array or a torch tensor, got {type(actual).__name__}")
    if array.shape != (M, N):
        raise AssertionError(f"the result must have shape {(M, N)}, got {array.shape}")
    if array.dtype not in (bits, floats):
        accepted = str(bits) if floats is None else f"{floats} or {bits}"
        raise AssertionError(f"the result must have dtype {accepted}, of {product.output}, got {array.dtype}")
    return np.ascontiguousarray(array).view(bits)


def _message(product: KernelProduct, got: BitArray, wrong: Any) -> Iterator[str]:
    places = np.argwhere(wrong)
    yield f"{len(places):,} of {got.size:,} elements of D differ from {product.model.label}"
    describe = product.output.describe
    for i, j in places[:SHOWN].tolist():
        yield f"  D[{i}, {j}]: got {describe(int(got[i, j]))}, expected {describe(int(product.d[i, j]))}"
    if len(places) > SHOWN:
        yield f"  and {len(places) - SHOWN:,} more"
    found = explained(product, got)
    if found:
        yield "all of D is explained by a single change: " + "; or ".join(found)
    else:
        yield "no single change that was tried explains all of D: orders, promotion, F, accumulator, tail, scales, lanes"
    yield from _trace(product, *places[0].tolist())


def explained(product: KernelProduct, got: BitArray) -> list[str]:
    """The single changes of a product that give all of a result, its right elements too."""
    names = []
    for change in explanations(product):
        try:
            d = change.results(product)
        except ValueError:  # a change that the instruction, or the shape, cannot have
            continue
        if not differing(product, got, d).any():
            names.append(change.words)
    return names


def _trace(product: KernelProduct, i: int, j: int) -> Iterator[str]:
    """The steps of the element's first instruction, from C."""
    model, k = product.model, product.k
    if not isinstance(model, Instruction):
        return
    size = model.block_size
    row = [_padded(product.a[i, :k], k), _padded(product.b[:k, j], k), product.c[i, j]]
    if size is not None and product.scale_a is not None and product.scale_b is not None:
        row += [product.scale_a[i, : k // size], product.scale_b[: k // size, j]]
    yield f"the first of {-(-product.shape[2] // k)} instructions of D[{i}, {j}], from C:"
    yield str(model.explain(*row))


def _padded(codes: BitArray, k: int) -> BitArray:
    return np.ascontiguousarray(np.pad(codes, (0, k - len(codes))))
