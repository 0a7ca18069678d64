"""Where along K a kernel's sums begin to differ: the first instruction after which they do, and its steps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.arrays import is_tensor
from mmau.testing.assertion import codes_of, differing, trace_of
from mmau.testing.product_under_test import KernelProduct, kernel_product


@dataclass(frozen=True)
class Difference:
    """The first difference along K of one element.

    Attributes:
        element: row and column of D. instruction: number of the first instruction along K after which the sums differ.
        got, expected: codes of the sums after that instruction, all products behind it being zero.
        text: what differs, and the steps of the instruction.
    """

    element: tuple[int, int]
    instruction: int
    got: int
    expected: int
    text: str

    def __str__(self) -> str:
        return self.text


def bisect_gemm(
    kernel: Callable[..., Any], a: Any, b: Any, c: Any = None, *, arch: str, instr: str,
    order: golden.GemmOrder | str | Path | None = None, scale_a: Any = None, scale_b: Any = None,
) -> Difference | None:  # fmt: skip
    """Run a kernel on the same operands with more and more of K, and find the first instruction after which its sum differs.

    The products that do not count yet are zeros of a, so that the kernel's shape and order stay. About log2 of the number of
    instructions along K runs are needed.

    Args:
        kernel: takes a and b, with c also c, and returns D, as `assert_gemm` takes it; scales are its own.
        a, b, c, arch, instr, order, scale_a, scale_b: as of `assert_gemm`.

    Returns:
        The difference of the first wrong element, None if D is right.

    Raises:
        AssertionError: D has another shape or dtype. TypeError, ValueError: as of `assert_gemm`.
    """
    operands = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b}
    product = kernel_product(arch, instr, operands, order)
    if getattr(a, "shape", ())[-1:] != (product.shape[2],):
        raise ValueError(
            f"a must have a number for each of the {product.shape[2]} products, to be set to zero; got {a.shape}"
        )
    count = -(-product.shape[2] // product.k)
    runs: dict[int, tuple[Any, Any]] = {}

    def run(instructions: int) -> tuple[Any, Any]:
        if instructions not in runs:
            cut = a.clone() if is_tensor(a) else np.array(a)
            kept = product.a.copy()
            for array in (cut, kept):
                array[:, instructions * product.k :] = 0
            short = product.changed(a=kept)
            runs[instructions] = codes_of(kernel(cut, b) if c is None else kernel(cut, b, c), product), short.d
        return runs[instructions]

    def wrong(instructions: int) -> Any:
        return differing(product, *run(instructions))

    if not wrong(count).any():
        return None
    i, j = np.argwhere(wrong(count))[0].tolist()
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wrong(middle)[i, j] else (middle, high)
    got, expected = (int(codes[i, j]) for codes in run(high))
    lines = list(_lines(product, (i, j), low, (got, expected)))
    return Difference((i, j), low, got, expected, "\n".join(lines))


def _lines(product: KernelProduct, element: tuple[int, int], number: int, codes: tuple[int, int]) -> Iterator[str]:
    got, expected = map(product.output.describe, codes)
    yield f"D{list(element)} after instruction {number}: got {got}, expected {expected}"
    yield from trace_of(product, *element, number)
