"""Where the products of K stand in instructions, how they are padded, and in which order a plan takes them.

`k_order_of` is the order of a kernel each of whose lanes loads several products at a time, Triton's kWidth.
"""

from dataclasses import dataclass
from math import lcm
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray, contiguous
from golden.products.gemm_order import GemmOrder, Pieces, instruction_products
from golden.units.instruction import Instruction
from golden.units.unit import Unit

LANES = 64
"""Lanes of AMD's wavefront that share an instruction of MFMA."""

MOST = 16
"""Largest number of products that a lane loads at a time."""


def k_order_of(instruction: Instruction, k_width: int) -> tuple[int, ...]:
    """The permutation of K, as `k_order` of golden.GemmOrder, of a kernel each of whose lanes loads `k_width` consecutive
    products of a row and hands them to consecutive instructions.

    Of `mma` of sm_75 to sm_120 four lanes hold a row, each with one register of 32 bits in each half of K. Of MFMA the lanes
    beside one another hold a row, as many as LANES / m, each with equally many consecutive products.

    Raises:
        ValueError: another kind of instruction, or a width that is not a multiple of what a lane gives to one instruction.
    """
    lanes, halves = _lanes(instruction)
    own = instruction.k // (lanes * halves)
    step = own * halves
    if k_width % step and k_width != own:
        raise ValueError(f"k_width of {instruction.label} must be {own} or a multiple of {step}, got {k_width}")
    if k_width == own:
        return tuple(range(instruction.k))
    order = [0] * (lanes * k_width)
    for lane in range(lanes):
        for at in range(k_width):
            number, inside = divmod(at, step)
            half, place = divmod(inside, own)
            order[number * instruction.k + half * lanes * own + lane * own + place] = lane * k_width + at
    return tuple(order)


def k_widths(instruction: Instruction) -> list[tuple[int, ...]]:
    """The permutations of all widths up to `MOST`, without the one that changes nothing."""
    try:
        lanes, halves = _lanes(instruction)
    except ValueError:
        return []
    own = instruction.k // (lanes * halves)
    widths = range(own * halves, MOST + 1, own * halves)
    return [order for width in widths if (order := k_order_of(instruction, width)) != tuple(range(len(order)))]


def _lanes(instruction: Instruction) -> tuple[int, int]:
    """Lanes that hold a row of A, and the parts of K of which each holds some."""
    k, m = instruction.k, instruction.m
    if instruction.name.startswith("mma.m16n8") and not instruction.sparse and k * instruction.a.width in (128, 256):
        return 4, k * instruction.a.width // 128
    if instruction.name.startswith("v_mfma") and m in (16, 32) and k % (LANES // m) == 0:
        return LANES // m, 1
    raise ValueError(f"the lanes of {instruction.label} are not known: only mma of m16n8 and MFMA of 16 or 32 rows are")


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
        plan; `places` of a layout, where there are any, have the order within, and K for a product of the padding.

        Raises:
            ValueError: K is padded, and code 0 of a or b is not +0.
        """
        k = instruction_products(model)
        whole = k * instructions_along(model, K, k_order)
        fills = whole > K if places is None else bool((places == K).any())
        if fills and not (model.a.starts_at_zero and model.b.starts_at_zero):
            raise ValueError(
                f"K must fill whole instructions, of {k} products here, where code 0 of a or b is not +0, since products of "
                f"+0·+0 fill up a row; got K = {K}, a = {model.a}, b = {model.b}: append what your kernel has there"
            )
        if places is not None:
            ordered = places if taken is None else places[_each(taken, k)]
            return cls(1, 0, 0, ordered, None)
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
    return contiguous(padded if order is None else padded[:, order])


class KLayout(NamedTuple):
    """How K products fill instructions.

    Attributes:
        instructions: their number along K.
        pieces: the parts of K, in instructions; None where they are whole instructions, which `GemmOrder.regions` cuts.
        places: the product in each place of the instructions, K for +0·+0; None: ascending, with padding at the end.
    """

    instructions: int
    pieces: Pieces | None = None
    places: npt.NDArray[np.intp] | None = None


def k_layout(model: Instruction | Unit, order: GemmOrder, K: int) -> KLayout:
    """The layout of K products under an order.

    A part of K that is not whole instructions is padded by itself. With `residue = "first"` each part begins with the
    products that it has beside whole tiles of `k_tile`, padded to a tile, as kernels of CUTLASS do that mask their first
    tile.
    """
    k = instruction_products(model)
    whole = instructions_along(model, K, order.k_order)
    is_cut = order.split_tile is not None and order.split_tile % k
    if not is_cut and order.residue == "last":
        return KLayout(whole)
    taken = _positions(order.k_order, K, whole * k)
    length = len(taken)
    if order.split_k > 1:
        assert order.split_tile is not None
        length = -(-len(taken) // (order.split_k * order.split_tile)) * order.split_tile
    parts = [_filled(taken[first : first + length], order, k, K) for first in range(0, len(taken), length)]
    ends = np.cumsum([len(part) // k for part in parts]).tolist()
    return KLayout(ends[-1], tuple(zip([0, *ends[:-1]], ends, strict=True)), np.concatenate(parts))


def _positions(k_order: Any, K: int, padded: int) -> npt.NDArray[np.intp]:
    """The products in the order in which they are taken; those of a block's padding are K."""
    if not isinstance(k_order, tuple):
        return np.arange(K)
    blocks = (np.arange(0, padded, len(k_order))[:, None] + np.array(k_order)).ravel()
    taken: npt.NDArray[np.intp] = np.minimum(blocks, K)
    return taken


def _filled(part: npt.NDArray[np.intp], order: GemmOrder, k: int, K: int) -> npt.NDArray[np.intp]:
    """The products of a part in whole instructions."""
    if order.residue == "last":
        return np.pad(part, (0, -len(part) % k), constant_values=K)
    assert order.k_tile is not None
    left = len(part) % order.k_tile
    padding = np.full(order.k_tile - left if left else 0, K)
    return np.concatenate([part[:left], padding, part[left:]])
