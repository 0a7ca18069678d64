"""Sparse instructions as dense ones. Rows of the stimulus hold the elements of B that are multiplied; every selection of the
metadata is an operand route, which places other elements between them."""

from typing import Any

from golden import Instruction
from golden.stimulus import Tiles

Selection = tuple[int, tuple[int, ...]]
"""A code of a group's metadata, and the positions that it selects."""


def route_of(selection: Selection) -> str:
    """Name of a selection's operand route: `metadata 0x4 selects 0 and 1`."""
    code, positions = selection
    return f"metadata {code:#x} selects {' and '.join(map(str, positions))}"


def words(xp: Any, selection: Selection, tiles: int) -> Any:
    """Metadata, uint32 [tiles], with the same selection for every group of every row."""
    return xp.full(tiles, selection[0] * 0x1111_1111, xp.uint32)


def spread(xp: Any, instruction: Instruction, selection: Selection, tiles: Tiles) -> Tiles:
    """Tiles whose B [tiles, n, 2k] holds the given elements at the selected positions. Between them it holds the complements
    of these elements, which the instruction must ignore.

    Args:
        xp: the arrays' module, numpy or cupy.
    """
    _, positions = selection
    group, b = 2 * len(positions), tiles.b
    others = [place for place in range(group) if place not in positions]
    spaced = xp.empty((*b.shape[:2], instruction.k // len(positions), group), b.dtype)
    elements = b.reshape(*b.shape[:2], -1, len(positions))
    spaced[..., list(positions)] = elements
    spaced[..., others] = elements ^ b.dtype.type((1 << instruction.b.width) - 1)
    return Tiles(tiles.a, spaced.reshape(*b.shape[:2], instruction.b_k), tiles.c)
