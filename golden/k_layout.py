"""Where the products of K stand in instructions: parts that are padded each by itself, and the tile left over first."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.gather import instructions_along
from golden.gemm_order import GemmOrder, instruction_products
from golden.gemm_pieces import Pieces
from golden.instruction import Instruction
from golden.unit import Unit


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
    return np.minimum(blocks, K)


def _filled(part: npt.NDArray[np.intp], order: GemmOrder, k: int, K: int) -> npt.NDArray[np.intp]:
    """The products of a part in whole instructions."""
    if order.residue == "last":
        return np.pad(part, (0, -len(part) % k), constant_values=K)
    assert order.k_tile is not None
    left = len(part) % order.k_tile
    padding = np.full(order.k_tile - left if left else 0, K)
    return np.concatenate([part[:left], padding, part[left:]])
