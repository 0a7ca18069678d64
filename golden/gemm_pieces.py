"""How the instructions along K of one element of D are cut into pieces, and the order in which they are taken."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from golden.checks import check_int

MAX_INSTRUCTIONS = 1 << 30
"""Upper limit of instructions along K, of workers, and of elements along a side of a tile."""

Piece = tuple[int, int]
"""Consecutive instructions along K that one worker sums: index of the first, and one past the last."""

Pieces = tuple[Piece, ...]
"""The pieces of one output tile, in the order in which their sums are added."""

Run = tuple[int, int]
"""Instructions that one accumulator takes: the first, and one past the last, in the order of `Plan.taken`."""


class Plan(NamedTuple):
    """The sums that make an element of D.

    Attributes:
        pieces: for each piece its runs. The sums of its runs are added, then the pieces' sums.
        taken: the instructions in the order in which the runs take them; None: ascending.
    """

    pieces: tuple[tuple[Run, ...], ...]
    taken: tuple[int, ...] | None = None


def plan(pieces: Pieces, stripes: tuple[int, int] | None = None, tile: int | None = None) -> Plan:
    """Make the plan of some pieces, each of which may be striped or reversed.

    Args:
        stripes: number of accumulators that share a piece, and width of a stripe (instructions).
        tile: instructions of a tile, if runs take the tiles from the last to the first; not together with stripes.
    """
    if tile is not None:
        taken = [k for first, end in pieces for begin in reversed(range(first, end, tile)) for k in _up_to(begin, tile, end)]
        ends = accumulate(end - first for first, end in pieces)
        return Plan(tuple((run,) for run in pairwise([0, *ends])), tuple(taken))
    if stripes is None or stripes[0] == 1:
        return Plan(tuple((piece,) for piece in pieces))
    striped = [_striped(piece, *stripes) for piece in pieces]
    runs: list[tuple[Run, ...]] = []
    begin = 0
    for piece in striped:
        cuts = [begin, *(begin + length for length in accumulate(len(stripe) for stripe in piece))]
        runs.append(tuple(pairwise(cuts)))
        begin = cuts[-1]
    return Plan(tuple(runs), tuple(chain.from_iterable(chain.from_iterable(striped))))


def _up_to(begin: int, length: int, end: int) -> range:
    return range(begin, min(begin + length, end))


def _striped(piece: Piece, count: int, width: int) -> list[list[int]]:
    """The instructions of each stripe of a piece that has any."""
    first, end = piece
    stripes = [
        [k for begin in range(first + stripe * width, end, count * width) for k in _up_to(begin, width, end)]
        for stripe in range(count)
    ]
    return [stripe for stripe in stripes if stripe]


def split(instructions: int, parts: int) -> Pieces:
    """Split the instructions into consecutive parts; if they do not divide evenly, the first parts have one more.

    Empty parts are omitted.
    """
    share, longer = divmod(instructions, parts)
    begins = [part * share + min(part, longer) for part in range(min(parts, instructions) + 1)]
    return tuple(pairwise(begins))


def split_by_tile(instructions: int, parts: int, tile: int) -> Pieces:
    """Split the instructions into parts of ⌈instructions/(parts·tile)⌉·tile; the last part has the rest, and empty parts are
    omitted.

    Args:
        tile: number of instructions of a tile.
    """
    length = -(-instructions // (parts * tile)) * tile
    return tuple((first, min(first + length, instructions)) for first in range(0, instructions, length))


def shared(count: int, instructions: int, workers: int) -> Iterator[Pieces]:
    """The pieces of each of `count` output tiles whose instructions workers share evenly, consecutively.

    If the instructions do not divide evenly, the first workers have one more. A share that ends within a tile cuts the
    tile; its pieces are added from the lowest instruction on. This is basic stream-K of M. Osama et al., "Stream-K:
    Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU" (PPoPP 2023).
    """
    share, longer = divmod(count * instructions, workers)
    begins = range(workers)

    def begin(worker: int) -> int:
        return worker * share + min(worker, longer)

    for tile in range(count):
        first, last = tile * instructions, (tile + 1) * instructions
        inside = begins[bisect_right(begins, first, key=begin) : bisect_left(begins, last, key=begin)]
        cuts = [0, *(begin(worker) - first for worker in inside), instructions]
        yield tuple(pairwise(cuts))


def checked_tiles(tiles: Any) -> tuple[Pieces, ...]:
    """The lists of pieces as tuples, checked to have every instruction exactly once.

    Raises:
        TypeError, ValueError: not lists of pieces, or an instruction that is missing or repeated.
    """
    if not isinstance(tiles, (list, tuple)) or not tiles:
        raise ValueError(f"tiles must be a list with a list of pieces for each output tile, got {tiles!r:.80}")
    made: list[Pieces] = []
    for number, pieces in enumerate(tiles):
        what = f"output tile {number} of tiles"
        if not isinstance(pieces, (list, tuple)) or not pieces:
            raise ValueError(f"{what} must be a list of pieces [first, end] of its instructions, got {pieces!r:.80}")
        pairs = tuple(pair(f"a piece of {what}", piece, "[first, end]") for piece in pieces)
        _check_cover(what, pairs, None if not made else max(end for _, end in made[0]))
        made.append(pairs)
    return tuple(made)


def pair(what: str, value: Any, names: str) -> tuple[int, int]:
    """Check that the value of a key is a list of two integers, and return them as a tuple.

    Raises:
        ValueError: anything else; the message names the key (`what`) and the two numbers (`names`).
    """
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError(f"{what} must be two integers {names}, got {value!r:.80}")
    return (value[0], value[1])


def checked_permutation(value: Sequence[Any]) -> tuple[int, ...]:
    """The order of the products of a block, as a tuple.

    Raises:
        ValueError: not every index of the block once.
    """
    taken = tuple(value)
    if any(isinstance(k, bool) or not isinstance(k, int) for k in taken) or sorted(taken) != list(range(len(taken))):
        raise ValueError(f"k_order as a list must have each of 0 to {max(len(taken) - 1, 0)} once, got {list(taken)!r:.80}")
    if not taken:
        raise ValueError("k_order as a list must have at least one product, got []")
    return taken


def _check_cover(what: str, pieces: Pieces, instructions: int | None) -> None:
    """Raise unless the pieces, in any order, cover the instructions from 0 on, as many as in the first tile."""
    for first, end in pieces:
        check_int(f"the first instruction of a piece of {what}", first, 0, MAX_INSTRUCTIONS - 1)
        check_int(f"the end of a piece of {what} that begins at {first}", end, first + 1, MAX_INSTRUCTIONS)
    reached = 0
    for first, end in sorted(pieces):
        if first != reached:
            raise ValueError(f"{what} must have every instruction once, in one of its pieces; instruction "
                             f"{min(first, reached)} is {'missing' if first > reached else 'repeated'}")  # fmt: skip
        reached = end
    if instructions is not None and reached != instructions:
        raise ValueError(
            f"every output tile of tiles must have as many instructions; tile 0 has {instructions}, {what} {reached}"
        )
