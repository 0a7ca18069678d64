"""The counts of a comparison of many tiles, defined on NumPy arrays. A device counts the same in its own memory
(`hwtests/nvidia/gpu_comparison.py`), so that no result travels to the host but those that differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from golden import Instruction
from golden.chains.chain import Chain
from golden.comparison import differing, is_nan
from golden.stimulus import Operands, Tiles

E_ZERO_TILES = 16
"""Every `E_ZERO_TILES`-th tile is also compared with a model of another e_zero."""

NAN_CODES = 16
"""Number of distinct NaN codes of a batch that are counted separately; the others are counted together, under OTHER_NANS."""

OTHER_NANS = "others"

KEPT_ROWS = 4096
"""Largest number of differing rows that are stored for each instruction."""


class Difference(NamedTuple):
    """One element of D on which device and model differ: its class or corner, its place, and both codes."""

    found_in: str

    tile: int
    row: int
    column: int
    got: int
    expected: int


@dataclass
class Tally:
    """Counts of compared results.

    Attributes:
        compared: number of results by class or corner.
        wrong: number of differing results by class or corner.
        nans: number of the device's NaN results by code (hexadecimal).
        negative_zeros: number of the device's results that are −0.
        e_zero_results: number of results that were also compared with the model of e_zero + 1, those of every
            `E_ZERO_TILES`-th tile.
        e_zero_cases: number of these that differ from that model, so that they tell the two apart.
        differences: the first differences, in any order; at most `KEPT_ROWS`.
        rows: operands of the differences, on the host.
    """

    compared: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, int] = field(default_factory=dict)
    nans: dict[str, int] = field(default_factory=dict)
    negative_zeros: int = 0
    e_zero_results: int = 0
    e_zero_cases: int = 0
    differences: list[Difference] = field(default_factory=list)
    rows: Operands | None = None


def chain_with_another_e_zero(chain: Chain) -> Chain | None:
    """The chain with e_zero one higher; None for an operation that has no e_zero."""
    operation: Any = chain.operation
    if "e_zero" not in operation.parameters():
        return None
    return replace(chain, operation=replace(operation, e_zero=operation.e_zero + 1))


def tally(
    instruction: Instruction,
    tiles: Tiles,
    labels: Any,
    names: Sequence[str],
    first_tile: int,
    got: Any,
    expected: Any,
    other: Any = None,
) -> Tally:
    """Count the results of a batch.

    Args:
        tiles: the operands.
        labels: class or corner of each tile, an index into `names`.
        first_tile: number of the batch's first tile.
        got, expected: D [tiles, m, n] of the device and of the model.
        other: D of the model with another e_zero for every `E_ZERO_TILES`-th tile of the batch, None without e_zero.
    """
    size = got.shape[1] * got.shape[2]
    wrong = differing(got, expected, instruction.operation)
    found = Tally()
    wrong_of_tile = wrong.reshape(len(got), size).sum(axis=1)
    for label, name in enumerate(names):
        count = int((labels == label).sum())
        if count:
            found.compared[name] = count * size
            found.wrong[name] = int(wrong_of_tile[labels == label].sum())
    found.wrong = {name: count for name, count in found.wrong.items() if count}
    if instruction.d.infinity is None:  # an integer: neither NaN nor −0
        return _with_differences(found, wrong, first_tile, got, expected, names, labels, tiles)
    codes, counts = np.unique(got[is_nan(got, instruction.d)], return_counts=True)
    found.nans = {f"{code:#x}": count for code, count in zip(codes[:NAN_CODES].tolist(), counts.tolist(), strict=False)}
    if len(codes) > NAN_CODES:
        found.nans[OTHER_NANS] = int(counts[NAN_CODES:].sum())
    found.negative_zeros = int((got == instruction.d.negative_zero).sum())
    if other is not None:
        differs = differing(got[::E_ZERO_TILES], other, instruction.operation)
        found.e_zero_results, found.e_zero_cases = differs.size, int(differs.sum())
    return _with_differences(found, wrong, first_tile, got, expected, names, labels, tiles)


def _with_differences(
    found: Tally, wrong: Any, first_tile: int, got: Any, expected: Any, names: Sequence[str], labels: Any, tiles: Tiles
) -> Tally:
    """The counts with the first differing results and their operands added."""
    for place in map(tuple, np.argwhere(wrong)[:KEPT_ROWS].tolist()):
        tile, row, column = place
        name = names[int(labels[tile])]
        found.differences.append(Difference(name, first_tile + tile, row, column, int(got[place]), int(expected[place])))
    found.rows = rows_of(tiles, found.differences, first_tile, np, np.asarray)
    return found


def rows_of(
    tiles: Tiles, differences: Sequence[Difference], first_tile: int, xp: Any, to_host: Callable[[Any], Any]
) -> Operands | None:
    """The operands of differing elements, on the host; None if there are none.

    Args:
        tiles: the batch that begins with tile `first_tile`, arrays of xp.
        xp: the arrays' module, numpy or cupy.
    """
    if not differences:
        return None
    tile, row, column = (
        xp.asarray(np.array(index))
        for index in zip(*((x.tile - first_tile, x.row, x.column) for x in differences), strict=True)
    )
    places = ((tile, row), (tile, column), (tile, row, column), (tile, row), (tile, column))
    taken = [None if x is None else to_host(x[place]) for x, place in zip(vars(tiles).values(), places, strict=True)]
    return Operands(*taken)  # type: ignore[arg-type]
