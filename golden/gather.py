"""How the operands of a part of D are padded to whole instructions and arranged in the order in which a plan takes them."""

from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray
from golden.gemm_order import instruction_products
from golden.instruction import Instruction
from golden.unit import Unit

Indices = npt.NDArray[np.intp] | None
"""Places in the padded operand, in the order in which they are taken; None: ascending."""


def instructions_along(model: Instruction | Unit, K: int, k_order: Any) -> int:
    """The number of instructions that K products take, padded to whole instructions and whole blocks of a permutation."""
    k = instruction_products(model)
    whole = lcm(k, len(k_order)) if isinstance(k_order, tuple) else k
    return -(-K // whole) * whole // k


@dataclass(frozen=True)
class Gather:
    """How rows of K products and of their scales are padded and ordered.

    Attributes:
        padding, scale_padding: number of products +0·+0, and of scales of one, that fill up the last instruction.
        one: the code of one as a scale.
        order, scale_order: places of the padded products and scales, in the order in which they are taken.
    """

    padding: int
    scale_padding: int
    one: int
    order: Indices
    scale_order: Indices

    @classmethod
    def of(
        cls, model: Instruction | Unit, K: int, k_order: Any, taken: tuple[int, ...] | None, places: Indices = None
    ) -> "Gather":
        """The padding and order for K products of a model, under the `k_order` of an order and the `taken` instructions of a
        plan; `places` of a layout, where there are any, have the order within, and K for a product of the padding."""
        k = instruction_products(model)
        if places is not None:
            ordered = places if taken is None else places[_each(taken, k)]
            return cls(1, 0, 0, ordered, None)
        whole = k * instructions_along(model, K, k_order)
        scale, block_size = model.operation.scale_format, model.operation.block_size
        order = None if taken is None else _each(taken, k)
        scale_order, scale_padding, one = None, 0, 0
        if scale is not None and block_size is not None:
            scale_order = None if taken is None else _each(taken, k // block_size)
            scale_padding, one = whole // block_size - -(-K // block_size), scale.encode(1)
        if isinstance(k_order, tuple):
            permuted = (np.arange(0, whole, len(k_order))[:, None] + np.array(k_order)).ravel()
            order = permuted if order is None else permuted[order]
        return cls(whole - K, scale_padding, one, order, scale_order)

    def products(self, rows: BitArray, block: slice) -> BitArray:
        """The operands [rows, K] of a block of rows, padded and ordered, each row contiguous."""
        return _gathered(rows[block], self.padding, 0, self.order)

    def scales(self, rows: BitArray | None, block: slice) -> BitArray | None:
        """The scales of a block of rows, padded and ordered, each row contiguous; None without scales."""
        return None if rows is None else _gathered(rows[block], self.scale_padding, self.one, self.scale_order)


def _each(taken: tuple[int, ...], size: int) -> npt.NDArray[np.intp]:
    """The places of instructions of `size` elements."""
    return (np.array(taken)[:, None] * size + np.arange(size)).ravel()


def _gathered(rows: BitArray, padding: int, code: int, order: Indices) -> BitArray:
    padded = np.pad(rows, ((0, 0), (0, padding)), constant_values=code) if padding else rows
    return np.ascontiguousarray(padded if order is None else padded[:, order])
