"""Which order of `golden.gemm` gives every element of a matrix product that some kernel computed.

Orders are tried from the plainest on: one that differs from a chain in one respect before those that differ in two, and
those in three. A few elements decide at first, whose chains are computed once for all orders that have them; an order that
gives these is held against the whole product.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden.arithmetic.formats import FP32, Format
from golden.arrays import BitArray, bits_dtype
from golden.comparison import is_nan
from golden.engines.engine import Batch
from golden.products.additions import Additions
from golden.products.epilogue import OUTPUTS
from golden.products.gemm_order import GemmOrder, Run, instruction_products
from golden.products.k_layout import KLayout, k_layout
from golden.products.k_width import k_widths
from golden.products.operand_parts import CONVERSIONS, PASSES, operand
from golden.products.sum_order import TREES
from golden.products.tiled import Summation
from golden.units.instruction import Instruction
from golden.units.unit import Unit

SAMPLED = 24
"""Elements that are computed first."""

TRIES_BETWEEN = 128
"""Orders that are tried between two looks at the clock."""

SIZES = (16, 32, 64, 128, 256)
"""Products along K of the tiles of kernels."""

MOST_PARTS = 64
"""Largest number of parts of K that is tried."""

PASS_TILES = (8, 16, 32, 64, 128)
"""Products of K that are multiplied part by part."""

WORKERS = (2, 3, 4, 5, 6, 7, 8, 16, 24, 32, 48, 64, 78, 80, 84, 96, 104, 108, 114, 128, 132, 142, 144, 148, 160, 188)
"""Numbers of workers that are tried: small ones, and those of multiprocessors of parts."""

OUTPUT_TILES = ((16, 16), (32, 32), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))

Keys = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenProduct:
    """A product that a kernel computed, as codes.

    Attributes:
        a: [M, K], b: [K, N], d: [M, N]; c: [M, N] or None for zeros.
        formats: of a, b and d. Operands of fp32 may have been read as tf32, or split.
    """

    a: BitArray
    b: BitArray
    d: BitArray
    formats: tuple[Format, Format, Format]
    c: BitArray | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N and K."""
        return len(self.a), self.b.shape[1], self.a.shape[1]

    def differing(self, model: Instruction | Unit, order: GemmOrder) -> npt.NDArray[np.bool_]:
        """The elements [M, N] that an order does not give."""
        got = golden.gemm(model, self.a, self.b, self.c, order=order)
        bits = np.asarray(got).view(self.d.dtype)
        differs = np.asarray(bits != self.d)
        if not model.operation.nan_is_fixed():
            differs &= ~(is_nan(bits, self.formats[2]) & is_nan(self.d, self.formats[2]))
        return differs


@dataclass(frozen=True)
class FoundOrder:
    """The outcome of a search.

    Attributes:
        order: the order that gives every element, with its instruction; None if none does.
        tried: number of orders that were tried. exhausted: whether the time sufficed for all of them.
        unexplained: [M, N], the elements that none of the nearest orders gives; all False with an order.
        nearest: without an order, the one that gives most elements, and how many.
    """

    order: GemmOrder | None
    tried: int
    exhausted: bool
    unexplained: npt.NDArray[np.bool_]
    nearest: tuple[GemmOrder, int] | None = None


def find_order(given: GivenProduct, models: list[Instruction], seconds: float = 60.0) -> FoundOrder:
    """Search for an order that gives every element of a product.

    Args:
        models: the instructions that may have computed it, the likelier ones first. seconds: of the processor's time.

    Raises:
        ValueError: none of the instructions takes the formats.
    """
    ends = time.process_time() + seconds
    searches = [search for model in models for search in _searches(given, model)]
    if not searches:
        a, b, d = given.formats
        raise ValueError(f"no instruction that was named multiplies {a} by {b} into {d}")
    tried, near = 0, _Near()
    exhausted = True
    for search, order in _in_turn([search.orders() for search in searches]):
        if tried % TRIES_BETWEEN == 0 and time.process_time() > ends:
            exhausted = False
            break
        tried += 1
        right = search.right(order)
        near.add(right, search, order)
        if right == search.count:
            differs = given.differing(search.model, order)
            if not differs.any():
                return FoundOrder(replace(order, model=search.model), tried, True, differs)
    return near.outcome(given, tried, exhausted)


class _Near:
    """The orders that gave most of the sampled elements."""

    def __init__(self) -> None:
        self.best: list[tuple[int, int, _Search, GemmOrder]] = []

    def add(self, right: int, search: "_Search", order: GemmOrder) -> None:
        if len(self.best) < 4 or right > self.best[-1][0]:
            self.best.append((right, -len(self.best), search, order))
            self.best.sort(key=lambda one: one[:2], reverse=True)
            del self.best[4:]

    def outcome(self, given: GivenProduct, tried: int, exhausted: bool) -> FoundOrder:
        unexplained = np.ones(given.d.shape, bool)
        nearest: tuple[GemmOrder, int] | None = None
        for _, _, search, order in self.best:
            differs = given.differing(search.model, order)
            unexplained &= differs
            right = int(differs.size - differs.sum())
            if nearest is None or right > nearest[1]:
                nearest = replace(order, model=search.model), right
        return FoundOrder(None, tried, exhausted, unexplained, nearest)


def _in_turn(sources: list[Iterator[tuple["_Search", GemmOrder]]]) -> Iterator[tuple["_Search", GemmOrder]]:
    """One of each source after the other, so that no instruction waits for all orders of another."""
    while sources:
        for source in list(sources):
            found = next(source, None)
            if found is None:
                sources.remove(source)
            else:
                yield found


def _searches(given: GivenProduct, model: Instruction) -> Iterator["_Search"]:
    """The ways in which an instruction can take the operands."""
    a, b, d = given.formats
    if model.operation.d != d and not (model.operation.d == FP32 and d.name in OUTPUTS):
        return
    output = None if model.operation.d == d else d.name
    if (model.a, model.b) == (a, b):
        yield _Search(given, model, {"output": output})
    elif a == b == FP32 and model.a == model.b and model.a.name in ("tf32", "bf16"):
        for convert in CONVERSIONS:
            yield _Search(given, model, {"output": output, "convert": convert})
        for passes, (form, _) in PASSES.items():
            if form == model.a:
                yield _Search(given, model, {"output": output, "passes": passes})


@dataclass(eq=False)
class _Search:
    """The orders of one instruction, with what is common to all of them, and the sums of the sampled elements."""

    given: GivenProduct
    model: Instruction
    keys: Keys
    sums: dict[int | None, dict[Any, BitArray]] = field(default_factory=dict)
    layouts: dict[Any, tuple[KLayout, npt.NDArray[np.intp]]] = field(default_factory=dict)

    @cached_property
    def k(self) -> int:
        return instruction_products(self.model)

    @cached_property
    def places(self) -> npt.NDArray[np.intp]:
        """The sampled elements [SAMPLED, 2], anywhere, finite ones where there are any."""
        form, d = self.given.formats[2], self.given.d
        exponents = d >> form.man_bits & (1 << form.exp_bits) - 1 if form.exp_bits else d * 0
        finite = np.argwhere(exponents != (1 << form.exp_bits) - 1)
        chosen = finite if len(finite) else np.argwhere(d == d)
        return chosen[np.sort(np.random.default_rng(7).permutation(len(chosen))[:SAMPLED])]

    @property
    def count(self) -> int:
        """Number of sampled elements."""
        return len(self.places)

    def right(self, order: GemmOrder) -> int:
        """The number of sampled elements that an order gives; an order that does not fit gives none."""
        M, N, _ = self.given.shape
        a, b = self._operands(order)
        try:
            order.check(self.model)
            layout, instructions = self._layout(order, a.shape[1] - 1)
            regions = list(order.regions(M, N, layout.instructions, self.k, layout.pieces))
        except ValueError:
            return -1
        c = np.zeros((M, N), bits_dtype(self.model.c)) if self.given.c is None else self.given.c
        i, j = self.places.T
        right = 0
        sums = self.sums.setdefault(order.pass_tile, {})
        for rows, columns, plan in regions:
            inside = (rows.start <= i) & (i < rows.stop) & (columns.start <= j) & (j < columns.stop)
            if inside.any():
                taken = instructions if plan.taken is None else instructions[list(plan.taken)]
                start = c[i[inside], j[inside]]
                with np.errstate(all="ignore"):
                    summation = _Recalled(self.model, order, None, (a, b), taken, sums, inside)
                    got = summation(Batch(start[:0, None], start[:0, None], start), plan)
                right += int((got == self.given.d[i[inside], j[inside]]).sum())
        return right

    def _instructions(self, order: GemmOrder, layout: KLayout, K: int) -> npt.NDArray[np.intp]:
        """The products of each instruction along K, K for +0·+0."""
        places = np.arange(layout.instructions * self.k) if layout.places is None else layout.places
        if isinstance(order.k_order, tuple) and layout.places is None:
            size = len(order.k_order)
            places = places // size * size + np.array(order.k_order)[places % size]
        taken: npt.NDArray[np.intp] = np.minimum(places, K).reshape(-1, self.k)
        return taken

    def _operands(self, order: GemmOrder) -> tuple[BitArray, BitArray]:
        """Rows of a and b of the sampled elements, converted, with a last product +0·+0."""
        key = order.convert, order.passes, order.pass_tile
        if key not in self._converted:
            i, j = self.places.T
            a = operand("a", self.given.a[i], self.model.a, *key, is_b=False)
            b = operand("b", self.given.b[:, j], self.model.b, *key, is_b=True).T
            self._converted[key] = np.pad(a, ((0, 0), (0, 1))), np.pad(b, ((0, 0), (0, 1)))
        return self._converted[key]

    @cached_property
    def _converted(self) -> dict[Any, tuple[BitArray, BitArray]]:
        return {}

    def _layout(self, order: GemmOrder, K: int) -> tuple[KLayout, npt.NDArray[np.intp]]:
        key = order.k_order, order.k_tile, order.residue, order.split_k, order.split_tile, K
        if key not in self.layouts:
            layout = k_layout(self.model, order, K)
            self.layouts[key] = layout, self._instructions(order, layout, K)
        return self.layouts[key]

    def orders(self) -> Iterator[tuple["_Search", GemmOrder]]:
        """Every order of the grammar, the plainer ones first."""
        for keys in self._keys():
            try:
                yield self, GemmOrder(**self.keys, **keys)
            except ValueError:  # keys that do not go together
                continue

    def _keys(self) -> Iterator[Keys]:
        if "passes" in self.keys:
            yield from self._passes()
            return
        bases, promotes, splits, stripes = self._bases(), self._promotes(), self._splits(), self._stripes()
        plain = [[one for one in group if not one.keys() & {"split_order", "stripe_order"}] for group in (splits, stripes)]
        yield {}
        for group in (promotes, bases, plain[0], plain[1], splits, stripes):
            yield from group
        for x, y in ((promotes, splits), (bases, promotes), (promotes, stripes), (bases, splits), (bases, stripes)):
            yield from _joined(x, y)
        yield from self._streams()
        yield from _joined(plain[0], stripes)
        yield from _joined(splits, plain[1])
        yield from _joined(bases, promotes, plain[0])
        yield from _joined(promotes, *plain)
        yield from _joined(bases, promotes, plain[1])
        yield from _joined(bases, *plain)

    def _passes(self) -> Iterator[Keys]:
        passes = len(PASSES[self.keys["passes"]][1])
        for tile in (None, *PASS_TILES):
            yield {"pass_tile": tile}
            if tile is not None and passes * tile % self.k == 0:
                yield {"pass_tile": tile, "promote_every": passes * tile // self.k}

    def _tiles(self) -> list[int]:
        return sorted({size for size in (self.k, *SIZES) if size % self.k == 0})

    def _bases(self) -> list[Keys]:
        K = self.given.shape[2]
        widths = [{"k_order": order} for order in k_widths(self.model)]
        reverse = [{"k_order": "reverse", "k_tile": tile} for tile in self._tiles() if tile < K]
        first = [{"residue": "first", "k_tile": tile} for tile in self._tiles() if K % tile and tile < K]
        return [*first, *widths, *reverse]

    def _promotes(self) -> list[Keys]:
        """Promotion after so many instructions, while another one follows."""
        return [{"promote_every": 1 << power} for power in range(8) if 1 << power < -(-self.given.shape[2] // self.k)]

    def _splits(self) -> list[Keys]:
        """Parts of K, each way to cut it once."""
        K = self.given.shape[2]
        seen, found = set(), []
        sums = ("fp32", "workspace", "in-place") if self.keys["output"] is not None else ("fp32",)
        for tile in (64, 32, 128, 16, 256, 8, 4, None):
            for parts in range(2, MOST_PARTS + 1):
                cut = (parts, 0) if tile is None else (-(-K // (parts * tile)) * tile, 1)
                count = min(parts, -(-K // self.k)) if tile is None else -(-K // cut[0])
                if cut in seen or count < 2:
                    continue
                seen.add(cut)
                for way in sums:
                    keys = {"split_k": count if tile is None else parts, "split_tile": tile, "split_sum": way}
                    if tile is None and way != "fp32":
                        continue
                    found += [keys, *({**keys, "split_order": order} for order in _sum_orders(parts, way != "in-place"))]
        return found

    def _stripes(self) -> list[Keys]:
        found: list[Keys] = []
        for number, width in product((2, 4, 8), self._tiles()):
            if number * width <= 2 * self.given.shape[2]:
                keys = {"stripes": (number, width)}
                found += [keys, *({**keys, "stripe_order": order} for order in _sum_orders(number, True, number == 4))]
        return found

    def _streams(self) -> Iterator[Keys]:
        M, N, K = self.given.shape
        for tile, workers in product(OUTPUT_TILES, WORKERS):
            of_tile = -(-M // tile[0]) * -(-N // tile[1])
            if tile[0] < 2 * M and tile[1] < 2 * N and workers % of_tile and workers < of_tile * -(-K // self.k):
                keys = {"k_order": "stream-k", "tile": tile, "workers": workers}
                yield keys
                yield from ({**keys, **promote} for promote in self._promotes())


def _sum_orders(count: int, trees: bool, every: bool = False) -> Iterator[Any]:
    """Orders of additions other than from the left: backwards, trees, and where wanted every one."""
    yield tuple(reversed(range(count)))
    if trees and count > 2 and not count & (count - 1):
        yield from TREES
    if every:
        yield from (order for order in permutations(range(count)) if order[0] < order[1] and order != tuple(range(count)))


def _joined(*groups: list[Keys]) -> Iterator[Keys]:
    for chosen in product(*groups):
        yield {key: value for keys in chosen for key, value in keys.items()}


@dataclass(frozen=True)
class _Recalled(Summation):
    """A summation of sampled elements whose chains and promoted sums are computed once for all orders that have them.

    Attributes:
        operands: rows of a and b of all sampled elements. taken: [instructions, k], the products of each instruction in the
            order of the plan. inside: the elements that this summation is of.
    """

    operands: tuple[BitArray, BitArray] = field(repr=False)
    taken: npt.NDArray[np.intp] = field(repr=False)
    sums: dict[Any, BitArray] = field(repr=False)
    inside: npt.NDArray[np.bool_]

    def additions(self) -> Additions:
        return _NumpyAdditions(self.model.operation, self.engine)

    def _run(self, batch: Batch, zeros: Batch, run: Run, additions: Additions, scale: Any) -> BitArray:
        key = self.order.promote_every, self.taken[slice(*run)].tobytes(), self.inside.tobytes()
        if batch is not zeros and batch.c.any():
            return super()._run(batch, zeros, run, additions, scale)
        if key not in self.sums:
            self.sums[key] = super()._run(batch, zeros, run, additions, scale)
        return self.sums[key]

    def chained(self, batch: Batch, instructions: Run) -> BitArray:
        places = self.taken[slice(*instructions)]
        if batch.c.any():
            return self._computed(places, batch.c, self.inside)
        key = places.tobytes()
        if key not in self.sums:
            whole = np.zeros(len(self.inside), batch.c.dtype)
            self.sums[key] = self._computed(places, whole, np.ones(len(self.inside), bool))
        return self.sums[key][self.inside]

    def _computed(self, places: npt.NDArray[np.intp], c: BitArray, inside: npt.NDArray[np.bool_]) -> BitArray:
        a, b = (np.ascontiguousarray(x[inside][:, places.ravel()]) for x in self.operands)
        return super().chained(Batch(a, b, c), (0, len(places)))


class _NumpyAdditions(Additions):
    """Additions of few finite numbers, where a call of the engine would take longest; NumPy adds as IEEE 754 says."""

    def add(self, x: BitArray, y: BitArray) -> BitArray:
        floats = "f8" if x.itemsize == 8 else "f4"
        total: BitArray = (x.view(floats) + y.view(floats)).view(x.dtype)
        return total
