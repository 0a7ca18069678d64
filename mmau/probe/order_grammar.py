"""The orders of `golden.gemm` that a search for a product's order tries, in families, the plainer ones first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product, starmap
from operator import or_
from typing import Any

from golden.arithmetic.formats import FP64
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

PROMOTES = (*range(1, 17), 32, 64, 128)
"""Instructions between promotions."""

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
class Family:
    """Orders that cut K alike.

    Attributes:
        keys: of all. promotes: numbers of instructions between promotions, 0 for none. stripe_orders: orders of the sums of
            stripes. part_sums: keys that say how the sums of parts are added.
    """

    keys: Keys
    promotes: tuple[int, ...] = (0,)
    stripe_orders: tuple[Any, ...] = (None,)
    part_sums: tuple[Keys, ...] = ({},)

    def member(self, promote: int, stripe_order: Any, part_sum: Keys) -> Keys:
        """The keys of one order."""
        return {**self.keys, "promote_every": promote, "stripe_order": stripe_order, **part_sum}

    def __or__(self, other: "Family") -> "Family":
        """The orders that cut K as both do; each of these has what the other lacks."""
        return Family(
            {**self.keys, **other.keys}, self.promotes,
            max(self.stripe_orders, other.stripe_orders, key=len), max(self.part_sums, other.part_sums, key=len),
        )  # fmt: skip


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

    def plain(self) -> Iterator[Family]:
        """Orders that differ from one chain in one respect, then in two, each with every promotion."""
        if "passes" in self.common:
            yield from self._of_passes()
            return
        bases, cuts, stripes = self._bases, self._cuts, self._stripes
        yield Family({}, self.promotes)
        for group in (bases, cuts, stripes):
            yield from group
        for x, y in ((bases, cuts), (bases, stripes)):
            yield from starmap(or_, product(x, y))
        yield from self._streams()

    def rest(self) -> Iterator[Family]:
        """Orders that differ in three respects or more."""
        if "passes" in self.common:
            return
        few = self._few
        both = [x | y for x, y in product(few, self._stripes)]
        yield from both
        yield from (replace(x | y, promotes=self.promotes[:1]) for x, y in product(self._bases, both))

    def many_sums(self, is_late: bool) -> Iterator[tuple[str, Family]]:
        """Parts or stripes, too many for every tree of them, and the key of their order. Late: with a further respect."""
        bases = self._bases if is_late else [Family({}, self.promotes)]
        for (key, group), base in product((("stripe_order", self._stripes), ("split_order", self._few)), bases):
            for one in group:
                ways = tuple(keys for keys in one.part_sums if keys.get("split_order") is None)
                yield key, replace(one | base, stripe_orders=(None,), part_sums=ways)

    def output_tiles(self) -> list[tuple[int, int]]:
        """Rows and columns of output tiles of which D has several, and D as one."""
        M, N, _ = self.shape
        return [(M, N), *(tile for tile in OUTPUT_TILES if tile[0] < M or tile[1] < N)]

    @cached_property
    def _tiles(self) -> list[int]:
        few = (1, 2, 4, 8) if self.k == 1 else (self.k,)
        return sorted({size for size in (*few, *SIZES) if size % self.k == 0})

    @cached_property
    def _bases(self) -> list[Family]:
        K = self.shape[2]
        widths: list[Keys] = (
            [{"k_order": order} for order in k_widths(self.model)] if isinstance(self.model, Instruction) else []
        )
        reverse: list[Keys] = [{"k_order": "reverse", "k_tile": tile} for tile in self._tiles if tile < K]
        first: list[Keys] = [{"residue": "first", "k_tile": tile} for tile in self._tiles if K % tile and tile < K]
        return [Family(keys, self.promotes) for keys in (*first, *widths, *reverse)]

    @cached_property
    def promotes(self) -> tuple[int, ...]:
        """No promotion, and promotion after so many instructions, while another one follows; only those that the scales say,
        where they are applied there."""
        if self.groups is not None:
            every = [n for n in range(1, self.instructions) if -(-self.instructions // n) == self.groups]
            return (*([0] if self.groups == 1 else []), *every, *([self.instructions] if self.groups == 1 else []))
        numbers = [n for n in PROMOTES if n < self.instructions]
        return (0, *numbers) if self.model.operation.d != FP64 else (0,)

    @cached_property
    def _cuts(self) -> list[Family]:
        """Parts of K, each way to cut it once."""
        K = self.shape[2]
        seen, found = set(), []
        ways = ("fp32", "workspace", "in-place") if self.common["output"] is not None else ("fp32",)
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
                kept = count if tile is None else parts
                sums = tuple(
                    {"split_sum": way, "split_order": order}
                    for way in (ways if tile is not None else ways[:1])
                    for order in (None, *self._sum_orders(kept, way != "in-place"))
                )
                found.append(Family({"split_k": kept, "split_tile": tile}, self.promotes, part_sums=sums))
        return found

    @property
    def _few(self) -> list[Family]:
        """Few parts of K."""
        return [one for one in self._cuts if one.keys["split_k"] <= FEW_PARTS]

    @cached_property
    def _stripes(self) -> list[Family]:
        """Accumulators that share parts of K."""
        return [
            Family({"stripes": (number, width)}, self.promotes, (None, *self._sum_orders(number, True)))
            for number, width in product((2, 4, 8, *(LANES if self.k == 1 else ())), self._tiles)
            if number * width <= 2 * self.shape[2]
        ]

    def _of_passes(self) -> Iterator[Family]:
        passes = len(PASSES[self.common["passes"]][1])
        for tile in (None, *PASS_TILES):
            together = passes * (tile or 0)
            promotes = (0, together // self.k) if together and together % self.k == 0 else (0,)
            yield Family({"pass_tile": tile}, promotes)
            for parts, count in product(range(2, EVERY_ORDER + 1), (1, 2, 4, 8) if tile else ()):
                yield Family({"pass_tile": tile, "split_k": parts, "split_tile": together * count}, promotes)

    def _streams(self) -> Iterator[Family]:
        M, N, _ = self.shape
        for tile, workers in product(OUTPUT_TILES, WORKERS):
            of_tile = -(-M // tile[0]) * -(-N // tile[1])
            if tile[0] < 2 * M and tile[1] < 2 * N and workers % of_tile and workers < of_tile * self.instructions:
                yield Family({"k_order": "stream-k", "tile": tile, "workers": workers}, self.promotes)

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
