"""The assertion that a kernel's matrix product is right, bit for bit, and the message where it is not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import FP32
from golden.arrays import BitArray, bits_dtype, float_dtype, from_tensor, is_device_array, is_tensor
from golden.comparison import is_nan
from golden.units.instruction import Instruction
from mmau.probe.product_order import GivenProduct, find_order
from mmau.testing.changes import Change, explanations, explanations_by_element
from mmau.testing.kernel_faults import faults, faults_along_k, moved_tiles, where
from mmau.testing.product_under_test import KernelProduct, kernel_product

TRIED = "orders, promotion, F, accumulator, tail, slices, scales, lanes, tiles"
"""What is tried to explain a result."""

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
    got = codes_of(actual, product)
    wrong = differing(product, got, product.d)
    if wrong.any():
        raise AssertionError("\n".join(_message(product, got, wrong)))


def differing(product: KernelProduct, got: BitArray, expected: BitArray) -> Any:
    """The elements in which codes of the output differ."""
    differs = got != expected
    if product.model.operation.nan_is_fixed():
        return differs
    return differs & ~(is_nan(got, product.output) & is_nan(expected, product.output))


def codes_of(actual: Any, product: KernelProduct) -> BitArray:
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
    lie = where(wrong)
    if lie:
        yield lie
    found = list(explaining(product, got))
    i, j = places[0].tolist()
    number = None
    if found:
        yield "all of D is explained by a single change: " + "; or ".join(change.words for change in found)
        number = first_differing(product, found[0], i, j)
    else:
        words = _uncomputed(product, got, wrong) or _ordered(product, got)
        yield words or f"no single change that was tried explains all of D: {TRIED}"
    yield from trace_of(product, i, j, number or 0)


def _uncomputed(product: KernelProduct, got: BitArray, wrong: Any) -> str:
    """Words for wrong elements that are all zero, or all C, as where a kernel does not compute them; else empty."""
    codes = got[wrong]
    if not codes.any():
        return "all that differ are 0, as where a kernel does not write them"
    if product.output == product.model.operation.c and (codes == product.c[wrong]).all():
        return "all that differ are C, as where a kernel skips the whole K"
    return ""


def _ordered(product: KernelProduct, got: BitArray) -> str:
    """Words for another order that gives all of a result; empty if none of the plainest does."""
    if product.order.epilogue or (product.order.output is not None and product.model.operation.d != FP32):
        return ""
    model, given = product.model, (product.model.a, product.model.b, product.output)
    result = GivenProduct(
        a=product.a, b=product.b, d=got, formats=given, c=product.c if product.c.any() else None, c_format=model.c,
        scale_a=product.scale_a, scale_b=product.scale_b,
    )  # fmt: skip
    order = find_order(result, [model], is_brief=True).order
    return "" if order is None else f"all of D is explained by order={replace(order, model=None)}"


def explained(product: KernelProduct, got: BitArray) -> list[str]:
    """The single changes of a product that give all of a result, its right elements too."""
    return [change.words for change in explaining(product, got)]


def explaining(product: KernelProduct, got: BitArray) -> Iterator[Change]:
    """The single changes of a product that give all of a result. Those that concern each element by itself are tried on a
    few elements first."""
    seen: set[bytes] = set()
    tried = [(change, False) for change in explanations(product)]
    tried += [(change, True) for change in explanations_by_element(product)]
    tried += [(change, False) for change in faults(product)]
    tried += [(change, True) for change in faults_along_k(product)]
    few = _few(product, got)
    for change, by_element in tried:
        try:
            if by_element and few is not None and differing(few[0], few[1], change.results(few[0])).any():
                continue
            d = change.results(product)
        except ValueError:  # a change that the instruction, or the shape, cannot have
            continue
        if not differing(product, got, d).any() and change.words.encode() not in seen:
            seen.add(change.words.encode())
            yield change
    if not seen:
        yield from moved_tiles(product, got)


def _few(product: KernelProduct, got: BitArray) -> tuple[KernelProduct, BitArray] | None:
    """The product of a few rows and columns with wrong elements, and what the kernel gave for them; None where an element
    depends on its place."""
    wrong = differing(product, got, product.d)
    rows, columns = (np.flatnonzero(wrong.any(axis))[:3] for axis in (1, 0))
    try:
        return product.part(rows, columns), np.ascontiguousarray(got[np.ix_(rows, columns)])
    except ValueError:
        return None


def first_differing(product: KernelProduct, change: Change, i: int, j: int) -> int | None:
    """The number of the first instruction along K after which the sum of an element under a change differs, found by
    bisection over the products before it; None where the change is not one of K."""
    if product.order.k_order != "ascending" or product.order.scale_at != "unit":
        return None
    size = product.model.operation.block_size or product.k
    try:
        element = product.part([i], [j])
    except ValueError:
        return None

    def differs(instructions: int) -> bool:
        K = min(instructions * product.k, product.shape[2])
        parts: dict[str, Any] = {"a": element.a[:, :K], "b": element.b[:K]}
        if element.scale_a is not None and element.scale_b is not None:
            parts |= {"scale_a": element.scale_a[:, : -(-K // size)], "scale_b": element.scale_b[: -(-K // size)]}
        short = element.changed(**{key: np.ascontiguousarray(value) for key, value in parts.items()})
        try:
            return bool(differing(short, change.results(short), short.d).any())
        except (ValueError, IndexError):
            return False

    low, high = 0, -(-product.shape[2] // product.k)
    if not differs(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if differs(middle) else (middle, high)
    return low


def trace_of(product: KernelProduct, i: int, j: int, number: int = 0) -> Iterator[str]:
    """The steps of one of the element's instructions, from the sum before it."""
    model, k = product.model, product.k
    if not isinstance(model, Instruction):
        return
    size = model.block_size
    cut = slice(number * k, (number + 1) * k)
    count = -(-product.shape[2] // k)
    row = [_padded(product.a[i, cut], k), _padded(product.b[cut, j], k), product.c[i, j]]
    if number:
        before = product.part([i], [j])
        parts: dict[str, Any] = {"a": before.a[:, : number * k], "b": before.b[: number * k]}
        if size is not None and before.scale_a is not None and before.scale_b is not None:
            parts |= {"scale_a": before.scale_a[:, : number * k // size], "scale_b": before.scale_b[: number * k // size]}
        chain = before.changed(order=golden.GemmOrder(), **{key: np.ascontiguousarray(x) for key, x in parts.items()})
        row[2] = chain.d[0, 0]
    if size is not None and product.scale_a is not None and product.scale_b is not None:
        blocks = slice(cut.start // size, cut.stop // size)
        row += [product.scale_a[i, blocks], product.scale_b[blocks, j]]
    if number:
        yield f"the first of {count} instructions of D[{i}, {j}] after which the sums differ is number {number} from 0:"
    else:
        yield f"the first of {count} instructions of D[{i}, {j}], from C:"
    yield str(model.explain(*row))


def _padded(codes: BitArray, k: int) -> BitArray:
    return np.ascontiguousarray(np.pad(codes, (0, k - len(codes))))
