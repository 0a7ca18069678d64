"""Faults that kernels of matrix products had: pieces of K lost or counted twice, scales that stay, tiles in other places.

Most of them are a matter of each element by itself, and are tried on a few elements before the whole product.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from golden.arithmetic.formats import FORMATS, FP32, Format
from golden.arrays import BitArray
from golden.products.additions import Additions, widened
from golden.products.gemm_order import GemmOrder, split
from golden.products.k_layout import k_widths
from golden.units.instruction import Instruction
from golden.variants import Variant
from mmau.testing.product_under_test import KernelProduct

Change = Variant[KernelProduct]

TILES = (8, 16, 32, 48, 64, 96, 128, 192, 256)
"""Products along K of a kernel's tile."""

OUTPUT_TILES = (8, 16, 32, 64, 128, 256)
"""Rows and columns of a kernel's output tile."""

MOST_SLICES = 64
"""Largest number of parts of K of which one may be lost."""

FEW_SLICES = (2, 3, 4, 5, 6, 8)
"""Numbers of parts of K of which one may be lost where the order has one chain."""


def faults(product: KernelProduct) -> Iterator[Change]:
    """Faults of whole outputs, of accumulators and of scales."""
    M, N, _ = product.shape
    if product.order.starts_from_c and product.c.any():
        yield Change("c is added twice", _c_twice)
    if product.order.starts_from_c and product.output == product.model.operation.c:
        yield Change("the kernel adds to its own earlier result", lambda product: product.changed(c=product.d).d)
    for side in (side for side in OUTPUT_TILES if side < max(M, N)):
        yield Change(f"output tiles of {side} x {side} stand in each other's place, rows for columns", _tiles(side, True))
        yield Change(f"neighbouring output tiles of {side} x {side} are swapped", _tiles(side, False))
        if product.order.starts_from_c:
            yield Change(f"a tile of {side} x {side} starts from the accumulator of the one before", _stale(side))
    yield from _scale_faults(product)


def faults_along_k(product: KernelProduct) -> Iterator[Change]:
    """Faults and orders that concern each element by itself: what a kernel does with K."""
    K, k, order = product.shape[2], product.k, product.order
    lost: dict[int, str] = {}
    for tile in TILES:
        if K % tile and tile < K:
            lost.setdefault(K % tile, f": K mod {tile}")
    for tile in (1, k // 2, *TILES):
        if 0 < tile < K:
            lost.setdefault(tile, ": a whole tile" if tile in TILES else "")
    named = {(K - count, K) for count in lost}  # parts of K that have been tried, each under its first name
    for count, what in lost.items():
        yield _missing(slice(K - count, K), f"the last {count} of K missing{what}")
        yield _twice(slice(K - count, K), f"the last {count} of K counted twice")
    plain = order.k_order == "ascending" and order.stripes is None and order.scale_at == "unit"
    if plain:
        yield from _orders(product)
    for tile in TILES:
        if tile % k == 0 and tile < K <= tile * MOST_SLICES:
            for number, first in enumerate(range(0, K, tile)):
                part = slice(first, min(first + tile, K))
                if (part.start, part.stop) in named:
                    continue
                named.add((part.start, part.stop))
                yield _missing(part, f"products {part.start} to {part.stop - 1} missing: tile {number} of {tile}")
                yield _twice(part, f"products {part.start} to {part.stop - 1} counted twice: tile {number} of {tile}")
    yield from _lost_slices(product)


def mutants(product: KernelProduct) -> Iterator[Change]:
    """One fault of each kind, for audits: the first that changes the product's results, else the first."""
    kinds: dict[str, list[Change]] = {}
    for change in (*faults(product), *faults_along_k(product)):
        kinds.setdefault(re.sub(r"\d+", "n", change.words), []).append(change)
    for changes in kinds.values():
        yield next((change for change in changes[:MOST_TRIED] if _changes(change, product)), changes[0])


MOST_TRIED = 4
"""Number of faults of one kind of which an audit looks for one that changes the results."""


def _changes(change: Change, product: KernelProduct) -> bool:
    try:
        return bool((change.results(product) != product.d).any())
    except ValueError:  # the instruction, or the shape, cannot have it
        return False


def usual_orders(product: KernelProduct) -> dict[str, GemmOrder]:
    """Other promotions, splits and stripes that the instruction can have, by name; orders with the same sums have one."""
    order, k = product.order, product.k
    tries: list[dict[str, Any]] = []
    if product.scale_a is None or order.scale_at == "unit":
        tries += [{"promote_every": every} for every in (1, 2, 4, 8) if every != order.promote_every]
    if order.k_order == "ascending":
        tries += [{"split_k": parts, "split_tile": 64} | way for parts in (1, 2, 3, 4, 5, 8)
                  for way in ({}, {"split_sum": "workspace"}, {"split_sum": "in-place"})
                  if parts > 1 or order.split_k > 1]  # fmt: skip
        tries += [{"stripes": (2, width)} for width in (32, 64) if order.stripes is None]
        tries += [{"k_order": "reverse", "k_tile": tile} for tile in (k, 64) if order.stripes is None]
    seen, found = {product.sums}, {}
    for keys in tries:
        try:
            other = replace(order, **keys)
            sums = product.changed(order=other).sums
        except ValueError:  # keys that the order, or the instruction, cannot have
            continue
        if sums not in seen:
            seen.add(sums)
            found[", ".join(f"{key} = {value}" for key, value in keys.items())] = other
    return found


def _orders(product: KernelProduct) -> Iterator[Change]:
    """Residue first, loads of several products, and splits up to 64 that are no usual order."""
    K, k, order = product.shape[2], product.k, product.order
    usual = {product.changed(order=other).sums for other in usual_orders(product).values()}
    for tile in TILES:
        if tile % k == 0 and K % tile and order.residue == "last" and order.split_k == 1:
            yield _ordered(f"the residue first: residue = first, k_tile = {tile}", residue="first", k_tile=tile)
    if isinstance(product.model, Instruction):
        for permutation in k_widths(product.model):
            lanes = f"lanes that load several products: k_order of {len(permutation)} products"
            yield _ordered(lanes, k_order=permutation)
    if order.split_k > 1:
        return
    for parts, of_tile, pieces in _divisions(product, range(2, MOST_SLICES + 1), (64, 32, 128, 256, None, k)):
        words = _words_of(parts, of_tile)
        if product.changed(order=replace(order, split_k=parts, split_tile=of_tile)).sums not in usual:
            yield _ordered(words, split_k=parts, split_tile=of_tile)
        if product.output == FP32 and product.model.operation.d == FP32:
            yield Change(f"{words}, each part rounded to fp16", _sum_of(pieces, FORMATS["fp16"]))


def _words_of(parts: int, tile: int | None) -> str:
    return f"split_k = {parts}" if tile is None else f"split_k = {parts}, split_tile = {tile}"


def _divisions(
    product: KernelProduct, counts: Iterable[int], tiles: Sequence[int | None]
) -> Iterator[tuple[int, int | None, list[slice]]]:
    """Divisions of K into parts, each once under the first of its names: split_k, split_tile, and the parts."""
    K, k = product.shape[2], product.k
    seen: set[tuple[int, ...]] = set()
    for tile in tiles:
        for parts in counts:
            if (tile is not None and tile % k) or parts > -(-K // k):
                continue
            pieces = _pieces(product, parts, tile)
            starts = tuple(piece.start for piece in pieces)
            if len(pieces) > 1 and starts not in seen:
                seen.add(starts)
                yield parts, tile, pieces


def _pieces(product: KernelProduct, parts: int, tile: int | None) -> list[slice]:
    """The parts of K of a split."""
    K, k = product.shape[2], product.k
    if tile is None:
        return [slice(first * k, min(end * k, K)) for first, end in split(-(-K // k), parts)]
    length = -(-K // (parts * tile)) * tile
    return [slice(first, min(first + length, K)) for first in range(0, K, length)]


def _lost_slices(product: KernelProduct) -> Iterator[Change]:
    """One part of a split lost, or counted twice: of the order's own split, else of a few parts."""
    order = product.order
    if order.split_k > 1:
        splits = [(order.split_k, order.split_tile, _pieces(product, order.split_k, order.split_tile))]
    else:
        splits = list(_divisions(product, FEW_SLICES, (64, None)))
    for parts, tile, pieces in splits:
        for number, piece in enumerate(pieces):
            words = f"part {number} of {_words_of(parts, tile)}"
            if order.split_k > 1:
                yield _missing(piece, f"{words} missing")
            else:
                yield Change(f"{words} missing", _sum_of([*pieces[:number], *pieces[number + 1 :]]))
            yield Change(f"{words} counted twice", _sum_of([*pieces[: number + 1], *pieces[number:]]))


def moved_tiles(product: KernelProduct, got: BitArray) -> Iterator[Change]:
    """Output tiles that stand in other places, where they explain all of a result; the largest tiles first."""
    M, N = got.shape
    for side in sorted(OUTPUT_TILES, reverse=True):
        if M % side or N % side or (side, side) == (M, N):
            continue
        expected, given = _by_tile(product.d, side), _by_tile(got, side)
        place = {tile.tobytes(): number for number, tile in reversed(list(enumerate(expected)))}
        taken = [number if (given[number] == tile).all() else place.get(given[number].tobytes())
                 for number, tile in enumerate(expected)]  # fmt: skip
        if None not in taken:
            moved = [(divmod(at, N // side), divmod(of or 0, N // side)) for at, of in enumerate(taken) if at != of]
            shown = ", ".join(f"{of} in the place of {at}" for at, of in moved[:4])
            more = f" and {len(moved) - 4} more" if len(moved) > 4 else ""
            permuted = _from_tiles(expected[np.array(taken, int)], (M, N))
            words = f"output tiles of {side} x {side} stand in other places: {shown}{more}"
            yield Change(words, partial(_always, permuted))
            return


def _always(d: BitArray, product: KernelProduct) -> BitArray:
    return d


def _by_tile(d: BitArray, side: int) -> Any:
    """D as its tiles, row by row: [tiles, side, side]."""
    M, N = d.shape
    return d.reshape(M // side, side, N // side, side).transpose(0, 2, 1, 3).reshape(-1, side, side)


def _from_tiles(tiles: Any, shape: tuple[int, int]) -> BitArray:
    M, N = shape
    side = tiles.shape[-1]
    return np.ascontiguousarray(tiles.reshape(M // side, N // side, side, side).transpose(0, 2, 1, 3).reshape(M, N))


def _scale_faults(product: KernelProduct) -> Iterator[Change]:
    """Scales that do not advance, are not applied, or are those of other rows."""
    a, b = product.scale_a, product.scale_b
    if a is None or b is None:
        return
    blocks = a.shape[1]
    for every in (2, 4, 8):
        if blocks > every:
            taken = np.arange(blocks) // every * every
            yield _with_scales(f"the scales advance every {every} blocks alone", taken, taken)
            yield _with_scales(f"the scales of a advance every {every} blocks alone", taken, None)
            yield _with_scales(f"the scales of b advance every {every} blocks alone", None, taken)
    if blocks > 1:
        first, before = np.zeros(blocks, int), np.maximum(np.arange(blocks) - 1, 0)
        yield _with_scales("the scales of the first block are used for all", first, first)
        yield _with_scales("the scales are those of the block before", before, before)
        for side in ("a", "b", "both"):
            yield Change(f"the scale of the last block of {side} is not applied", _last_not_applied(side))
    for rows in (row for row in OUTPUT_TILES if row < len(a)):
        yield Change(f"rows beyond {rows} use the scales of the first {rows}", _wrapped(rows))


def _one(product: KernelProduct) -> int:
    scale = FORMATS["fp32"] if product.order.scale_at == "promotion" else product.model.operation.scale_format
    assert scale is not None
    return scale.encode(1)


def _last_not_applied(side: str) -> Any:
    def results(product: KernelProduct) -> BitArray:
        assert product.scale_a is not None
        assert product.scale_b is not None
        a, b = product.scale_a.copy(), product.scale_b.copy()
        if side != "b":
            a[:, -1] = _one(product)
        if side != "a":
            b[-1] = _one(product)
        return product.changed(scale_a=a, scale_b=b).d

    return results


def _wrapped(rows: int) -> Any:
    def results(product: KernelProduct) -> BitArray:
        assert product.scale_a is not None
        taken = np.arange(len(product.scale_a)) % rows
        return product.changed(scale_a=np.ascontiguousarray(product.scale_a[taken])).d

    return results


def _with_scales(words: str, of_a: Any, of_b: Any) -> Change:
    """Scales of other blocks; None: their own."""

    def results(product: KernelProduct) -> BitArray:
        a, b = product.scale_a, product.scale_b
        assert a is not None
        assert b is not None
        a = a if of_a is None else np.ascontiguousarray(a[:, of_a])
        b = b if of_b is None else np.ascontiguousarray(b[of_b])
        return product.changed(scale_a=a, scale_b=b).d

    return Change(words, results)


def _c_twice(product: KernelProduct) -> BitArray:
    additions = Additions(product.model.operation, None)
    wide = product.changed(order=replace(product.order, output=None)).d
    c = additions.widened(product.c, product.model.operation.c)
    twice = additions.add(additions.widened(wide, product.model.operation.d), c)
    return additions.rounded(twice, product.output)


def _tiles(side: int, mirrored: bool) -> Any:
    """The output tiles at exchanged places: (i, j) at (j, i), or every second one of a row of tiles with its neighbour."""

    def results(product: KernelProduct) -> BitArray:
        d = product.d.copy()
        M, N = d.shape
        rows, columns = M // side, N // side
        for i in range(rows):
            for j in range(columns):
                x, y = (j, i) if mirrored else (i, j ^ 1)
                if x < rows and y < columns:
                    d[i * side : (i + 1) * side, j * side : (j + 1) * side] = product.d[
                        x * side : (x + 1) * side, y * side : (y + 1) * side
                    ]
        return d

    return results


def _stale(side: int) -> Any:
    """Tiles in row-major order, each from the D of the one before in its column of places."""

    def results(product: KernelProduct) -> BitArray:
        (M, N, _), d = product.shape, product.d.copy()
        before: BitArray | None = None
        for i in range(0, M, side):
            for j in range(0, N, side):
                rows, columns = slice(i, min(i + side, M)), slice(j, min(j + side, N))
                part = product.part(np.arange(M)[rows], np.arange(N)[columns])
                if before is not None and before.shape == part.c.shape and product.output == product.model.operation.c:
                    part = part.changed(c=before)
                before = part.d
                d[rows, columns] = before
        return d

    return results


def _missing(part: slice, words: str) -> Change:
    def results(product: KernelProduct) -> BitArray:
        a = product.a.copy()
        a[:, part] = 0
        return product.changed(a=a).d

    return Change(words, results)


def _twice(part: slice, words: str) -> Change:
    """A piece of K after which it comes again, as where two workers take it; block scales are repeated too."""

    def results(product: KernelProduct) -> BitArray:
        size = product.model.operation.block_size or product.k
        if part.start % size or (part.stop % size and part.stop != product.shape[2]) or product.order.scale_at != "unit":
            raise ValueError("not whole instructions")
        taken = np.concatenate([np.arange(part.stop), np.arange(part.start, product.shape[2])])
        parts: dict[str, Any] = {"a": product.a[:, taken], "b": product.b[taken]}
        if product.scale_a is not None and product.scale_b is not None:
            blocks = taken[::size] // size
            parts |= {"scale_a": product.scale_a[:, blocks], "scale_b": product.scale_b[blocks]}
        return product.changed(**{key: np.ascontiguousarray(value) for key, value in parts.items()}).d

    return Change(words, results)


def _ordered(words: str, **keys: Any) -> Change:
    return Change(words, lambda product: product.changed(order=replace(product.order, **keys)).d)


def _sum_of(pieces: Sequence[slice], between: Format | None = None) -> Any:
    """The sums of pieces of K, each rounded to a format between if it is given, added one after the other in d's format."""

    def results(product: KernelProduct) -> BitArray:
        if product.scale_a is not None:
            raise ValueError("scales are not divided here")
        d, additions = product.model.operation.d, Additions(product.model.operation, None)
        whole = product.changed(order=replace(product.order, split_k=1, split_tile=None, output=None))
        total: BitArray | None = None
        for cut in pieces:
            c = product.c if total is None else np.zeros_like(product.c)
            part = whole.changed(a=np.ascontiguousarray(product.a[:, cut]), b=np.ascontiguousarray(product.b[cut]), c=c).d
            if between is not None:
                part = widened(additions.rounded(part, between), between)
            part = additions.widened(part, d)
            total = part if total is None else additions.add(total, part)
        assert total is not None
        return additions.rounded(total, product.output)

    return results


def where(wrong: Any, tiles: Sequence[int] = OUTPUT_TILES) -> str:
    """The rows, columns or tile in which all wrong elements lie, in words; empty where they lie all over."""
    rows, columns = np.flatnonzero(wrong.any(1)), np.flatnonzero(wrong.any(0))
    M, N = wrong.shape
    side = next(
        (
            side
            for side in tiles
            if side < max(M, N) and rows[0] // side == rows[-1] // side and columns[0] // side == columns[-1] // side
        ),
        None,
    )
    if side is not None and (side < M or side < N):
        return f"all of them in output tile ({rows[0] // side}, {columns[0] // side}) of {side} x {side}"
    parts = [f"rows {_ranges(rows)}"] if len(rows) < M else []
    parts += [f"columns {_ranges(columns)}"] if len(columns) < N else []
    return f"all of them in {' and '.join(parts)}" if parts else ""


def _ranges(places: Any) -> str:
    """`0 to 3, 8` for 0, 1, 2, 3, 8; the first few."""
    cuts = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in cuts[:4]]
    return ", ".join(shown) + (f" and {len(cuts) - 4} more" if len(cuts) > 4 else "")
