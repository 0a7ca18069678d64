"""Operands that inputs of `[controls]` add to a unit's: a mask of products, metadata that select from a longer b, and zero
points of integers."""

from collections.abc import Collection
from typing import Any

import numpy as np

from golden.arithmetic.coded_format import IntegerElement
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arithmetic.integer_format import integer
from golden.arrays import BitArray, bits_dtype, check_shape, from_bits, to_bits
from golden.checks import listed
from golden.operations import Operation
from golden.units.selection import PAIRS_OF_FOUR, selected

WORDS = {
    "mask": "mask",
    "metadata": "metadata",
    "random": "random bits",
    "zero_a": "zero points of a",
    "zero_b": "zero points of b",
}
"""What each argument of `Unit.dot` holds."""


def check_given(name: str, given: dict[str, Any], taken: set[str]) -> None:
    """Raise ValueError for an argument that a unit has no input for, and for one that is missing. Random bits that are
    missing `random_dot` refuses."""
    for key, value in given.items():
        if value is not None and key not in taken:
            raise ValueError(f"{key} must be left out: {name} has no {WORDS[key]} in [controls]")
        if value is None and key in taken and key != "random":
            raise ValueError(f"{key} is missing: {name} takes {WORDS[key]} for each row")


def selected_from(name: str, a: Any, b: Any, form: Format, metadata: Any) -> Any:
    """The elements of b that metadata select for a: [..., 2K] → [..., K].

    Raises:
        TypeError, ValueError: as `golden.units.selection.selected`, or an odd K.
    """
    K = a.shape[-1] if getattr(a, "ndim", 0) else 0
    if K % 2:
        raise ValueError(f"K of {name} must be even, as metadata select two of four elements, got {K}")
    return from_bits(selected(name, to_bits("b", b, form), metadata, PAIRS_OF_FOUR, K), form, b)


def without_idle(name: str, operand: str, codes: Any, form: Format, mask: Any) -> Any:
    """An operand, a or b, with +0 in the place of each product whose bit in a mask is 0.

    Raises:
        TypeError: a mask that holds no integers. ValueError: a wrong shape, or a bit that is neither 0 nor 1.
    """
    bits, marks = to_bits(operand, codes, form), np.asarray(mask)
    if marks.dtype.kind not in "ubi":
        raise TypeError(f"mask of {name} must be an array of integers, got {marks.dtype}")
    check_shape("mask", marks, bits.shape, "one bit for each product")
    if marks.size and not np.isin(marks, (0, 1)).all():
        raise ValueError(f"mask of {name} must hold 0 and 1, got {listed(map(str, np.unique(marks)[:4].tolist()))}")
    return from_bits(np.where(marks != 0, bits, 0).astype(bits.dtype), form, codes)


def drawn_metadata(b: BitArray, rng: np.random.Generator) -> tuple[Any, BitArray]:
    """Metadata for rows of selected elements, and other elements beside these, which are some of all rows: [rows, K] →
    codes [rows, K/2] and others [rows, 2K]."""
    rows, K = b.shape
    codes = rng.choice(np.array(list(PAIRS_OF_FOUR), np.uint8), (rows, K // 2))
    return codes, rng.choice(b.reshape(-1), (rows, 2 * K))


def drawn_mask(shape: tuple[int, int], rng: np.random.Generator) -> Any:
    """A mask for rows [rows, K], uint8; in every other row all products count."""
    return rng.integers(0, 2, shape, np.uint8) | rng.integers(0, 2, (shape[0], 1), np.uint8)


def difference(form: Format) -> IntegerFormat:
    """The format of q − z, of two codes of an integer format: one bit more, and a sign.

    Raises:
        ValueError: no integer.
    """
    own = form.integer if isinstance(form, IntegerElement) else form
    if not isinstance(own, IntegerFormat):
        raise ValueError(f"elements with zero points must be integers, got {form}")
    bits, places = own.bits + 1, f"_{own.fraction}" * bool(own.fraction)
    return integer(f"int{bits}{places}", bits, fraction=own.fraction)


def on_differences(operation: Operation, operands: Collection[str]) -> Operation:
    """The operation on q − z in the place of each element q of some operands, a and b.

    Raises:
        ValueError: it takes none.
    """
    if not {"a", "b"} <= {*operation.operands} or operation.structure.adds_elements:
        raise ValueError(f"zero points go with products of a and b, got {operation.name}")
    return operation.changed(**{name: difference(getattr(operation, name)) for name in operands})


def zeros_of(operation: Operation, K: int) -> int:
    """How many zero points an operand of K elements has: one for each block, or where there are no blocks one."""
    return 1 if operation.block_size is None else -(-K // operation.block_size)


def without_zeros(operand: str, codes: Any, form: Format, zeros: Any, block: int | None) -> BitArray:
    """The codes of q − z for elements q and the zero points z of their blocks: [..., K], [..., ⌈K/block⌉] → [..., K].

    Raises:
        TypeError, ValueError: as `to_bits`, or zero points of another shape.
    """
    bits, of_blocks = to_bits(operand, codes, form), to_bits(f"zero_{operand}", zeros, form)
    K, wide = bits.shape[-1], difference(form)
    size = block or K
    rule = f"a zero point for every {size} elements" if block else "one zero point for all elements"
    check_shape(f"zero_{operand}", of_blocks, (*bits.shape[:-1], -(-K // size)), rule)
    each = np.repeat(of_blocks, size, -1)[..., :K]
    q, z = (codes.astype(np.int64) for codes in (bits, each))
    if form.signed:
        q, z = (np.where(codes >= form.codes >> 1, codes - form.codes, codes) for codes in (q, z))
    return ((q - z) % wide.codes).astype(bits_dtype(wide))


def drawn_zeros(form: Format, shape: tuple[int, int], rng: np.random.Generator) -> BitArray:
    """Zero points of rows [rows, blocks]: 0 in a quarter of the rows, else any, the smallest and the largest more often."""
    ends = np.array([0, form.codes - 1, form.codes >> 1, (form.codes >> 1) - 1])
    drawn = np.where(rng.integers(0, 4, shape) == 0, rng.choice(ends, shape), rng.integers(0, form.codes, shape))
    return np.where(rng.integers(0, 4, (shape[0], 1)) == 0, 0, drawn).astype(bits_dtype(form))
