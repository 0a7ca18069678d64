"""The orders of `golden.gemm` that a search for a product's order tries, as keys, the plainer ones first."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

from golden.products.gemm_order import instruction_products
from golden.products.k_layout import k_widths
from golden.products.operand_parts import PASSES
from golden.products.sum_order import TREES
from golden.units.instruction import Instruction
from golden.units.unit import Unit

SIZES = (16, 32, 64, 128, 256)
"""Products along K of the tiles of kernels."""

MOST_PARTS = 64
"""Largest number of parts of K that is tried."""

FEW_PARTS = 16
"""Largest number of parts that is tried where an order differs from a chain in three respects."""

PASS_TILES = (8, 16, 32, 64, 128)
"""Products of K that are multiplied part by part."""

WORKERS = (*range(2, 17), 24, 32, 48, 64, 78, 80, 84, 96, 104, 108, 114, 128, 132, 142, 144, 148, 160, 188)
"""Numbers of workers that are tried: small ones, and those of multiprocessors of parts."""

LANES = (16, 32, 64, 128, 256)
"""Numbers of lanes or threads that share K in kernels on CUDA cores, whose instruction multiplies one product."""

OUTPUT_TILES = ((16, 16), (32, 32), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))

EVERY_TREE = 4
"""Number of sums up to which every order of their additions is tried by itself."""

EVERY_ORDER = 8
"""Number of sums up to which every order of their additions is found from the sums themselves."""

Keys = dict[str, Any]


@dataclass(frozen=True)
class Grammar:
    """The orders of one instruction, or of a unit, for a product.

    Attributes:
        shape: M, N and K. common: the keys that all orders have.
        groups: number of scales along K that are applied at promotion; None if none are.
        has_c: whether the sum that is added first starts from another number than zero.
    """

    model: Instruction | Unit
    shape: tuple[int, int, int]
    common: Keys
    groups: int | None
    has_c: bool

    @property
    def k(self) -> int:
        """Products of an instruction."""
        return instruction_products(self.model)

    @property
    def instructions(self) -> int:
        """Instructions along K."""
        return -(-self.shape[2] // self.k)

    def keys(self) -> Iterator[Keys]:
        """The keys of orders: those that differ from one chain in one respect, then in two, then in three."""
        if "passes" in self.common:
            yield from self._of_passes()
            return
        bases, splits, stripes = self._bases, self.splits, self.stripes
        usual = self.usual
        others = [keys for keys in self.promotes if keys not in usual]
        plain = [[one for one in group if not one.keys() & {"split_order", "stripe_order"}] for group in (splits, stripes)]
        if self.groups is None or self.groups == 1:
            yield {}
        for group in (usual, others, bases, plain[0], plain[1], splits, stripes):
            yield from group
        for x, y in ((usual, splits), (bases, usual), (usual, stripes), (bases, splits), (bases, stripes)):
            yield from _joined(x, y)
        yield from self._streams(usual)
        for y in (plain[0], bases, plain[1]):
            yield from _joined(others, y)
        few, plain_few = ([keys for keys in group if keys["split_k"] <= FEW_PARTS] for group in (splits, plain[0]))
        yield from _joined(plain_few, stripes)
        yield from _joined(few, plain[1])
        yield from _joined(bases, usual, plain_few)
        yield from _joined(plain_few, plain[1], usual)
        yield from _joined(bases, usual, plain[1])
        yield from _joined(bases, plain_few, plain[1])
        yield from _joined(others, few)
        yield from _joined(others, stripes)
        yield from _joined(bases, usual, stripes)
        yield from _joined(few, plain[1], usual)
        yield from _joined(plain_few, stripes, usual)
        yield from _joined(bases, others, plain[1])
        yield from _joined(bases, others, plain_few)
        yield from _joined(bases, few, usual)
        yield from self._streams(others)

    def many_sums(self, is_late: bool) -> Iterator[tuple[str, Keys]]:
        """Parts or stripes, too many for every tree of them, and the key of their order. Late: with a further respect."""
        early = [{}, *self.usual]
        promotes = [{}, *self.promotes] if is_late else early
        for (key, group), base in product(
            (("stripe_order", self.stripes), ("split_order", self.splits)), self._bases if is_late else [{}]
        ):
            plain = [keys for keys in group if key not in keys and keys.get("split_k", 0) <= FEW_PARTS]
            yield from ((key, keys) for keys in _joined(promotes, plain, [base]))
        if is_late:
            others = [keys for keys in self.promotes if keys not in early]
            plain = [keys for keys in self.splits if "split_order" not in keys and keys["split_k"] <= FEW_PARTS]
            yield from (("split_order", keys) for keys in _joined(others, plain))

    def output_tiles(self) -> list[tuple[int, int]]:
        """Rows and columns of output tiles of which D has several, and D as one."""
        M, N, _ = self.shape
        return [(M, N), *(tile for tile in OUTPUT_TILES if tile[0] < M or tile[1] < N)]

    @cached_property
    def _tiles(self) -> list[int]:
        few = (1, 2, 4, 8) if self.k == 1 else (self.k,)
        return sorted({size for size in (*few, *SIZES) if size % self.k == 0})

    @cached_property
    def _bases(self) -> list[Keys]:
        K = self.shape[2]
        widths = [{"k_order": order} for order in k_widths(self.model)] if isinstance(self.model, Instruction) else []
        reverse = [{"k_order": "reverse", "k_tile": tile} for tile in self._tiles if tile < K]
        first = [{"residue": "first", "k_tile": tile} for tile in self._tiles if K % tile and tile < K]
        return [*first, *widths, *reverse]

    @cached_property
    def promotes(self) -> list[Keys]:
        """Promotion after so many instructions, while another one follows."""
        numbers = [*range(1, 17), 32, 64, 128]
        if self.groups is not None:
            return [
                {"promote_every": n} for n in range(1, self.instructions + 1) if -(-self.instructions // n) == self.groups
            ]
        return [{"promote_every": n} for n in numbers if n < self.instructions]

    @property
    def usual(self) -> list[Keys]:
        """Promotion after a power of two of instructions, or where the scales say it."""
        return [
            keys
            for keys in self.promotes
            if self.groups is not None or not keys["promote_every"] & keys["promote_every"] - 1
        ]

    @cached_property
    def splits(self) -> list[Keys]:
        """Parts of K, each way to cut it once."""
        K = self.shape[2]
        seen, found = set(), []
        sums = ("fp32", "workspace", "in-place") if self.common["output"] is not None else ("fp32",)
        tiles = (
            (256, 128, 64, 32) if self.groups is not None else (64, 32, 128, 16, 256, 8, 4)
        )  # of whole groups: the largest
        for tile in (*tiles, *((1, 2) if self.k == 1 else ()), None):
            for parts in range(2, MOST_PARTS + 1):
                cut = (parts, 0) if tile is None else (-(-K // (parts * tile)) * tile, 1)
                count = min(parts, -(-K // self.k)) if tile is None else -(-K // cut[0])
                if cut in seen or count < 2:
                    continue
                seen.add(cut)
                parts_kept = count if tile is None else parts
                for way in sums:
                    keys = {"split_k": parts_kept, "split_tile": tile, "split_sum": way}
                    if tile is None and way != "fp32":
                        continue
                    orders = self._sum_orders(parts_kept, way != "in-place")
                    found += [keys, *({**keys, "split_order": order} for order in orders)]
        return found

    @cached_property
    def stripes(self) -> list[Keys]:
        """Accumulators that share parts of K."""
        found: list[Keys] = []
        for number, width in product((2, 4, 8, *(LANES if self.k == 1 else ())), self._tiles):
            if number * width <= 2 * self.shape[2]:
                keys = {"stripes": (number, width)}
                found += [keys, *({**keys, "stripe_order": order} for order in self._sum_orders(number, True))]
        return found

    def _of_passes(self) -> Iterator[Keys]:
        passes = len(PASSES[self.common["passes"]][1])
        for tile in (None, *PASS_TILES):
            yield {"pass_tile": tile}
            together = passes * (tile or 0)
            if not together:
                continue
            promoted = [{"promote_every": together // self.k}] if together % self.k == 0 else []
            yield from ({"pass_tile": tile, **keys} for keys in promoted)
            for parts, count in product(range(2, EVERY_ORDER + 1), (1, 2, 4, 8)):
                split = {"pass_tile": tile, "split_k": parts, "split_tile": together * count}
                yield from ({**split, **keys} for keys in ({}, *promoted))

    def _streams(self, promotes: list[Keys]) -> Iterator[Keys]:
        M, N, _ = self.shape
        for tile, workers in product(OUTPUT_TILES, WORKERS):
            of_tile = -(-M // tile[0]) * -(-N // tile[1])
            if tile[0] < 2 * M and tile[1] < 2 * N and workers % of_tile and workers < of_tile * self.instructions:
                keys = {"k_order": "stream-k", "tile": tile, "workers": workers}
                yield keys
                yield from ({**keys, **promote} for promote in promotes)

    def _sum_orders(self, count: int, trees: bool) -> Iterator[Any]:
        """Orders of additions other than from the left: of few sums every one, of more the named trees and backwards."""
        if count > EVERY_TREE:
            yield tuple(reversed(range(count)))
            yield from TREES if trees and not count & (count - 1) else ()
            return
        swapped = [order for order in permutations(range(count)) if self.has_c or order[0] < order[1]]
        yield from (order for order in swapped if order != tuple(range(count)))
        if trees and count == 4:
            yield from (((w, x), (y, z)) for w, x, y, z in swapped if self.has_c or (y < z and w < y))


def _joined(*groups: list[Keys]) -> Iterator[Keys]:
    for chosen in product(*groups):
        yield {key: value for keys in chosen for key, value in keys.items()}
