"""Which order of `golden.gemm` gives every element of a matrix product that some kernel computed.

Orders are tried from the plainest on: one that differs from a chain in one respect before those that differ in two, and
those in three; most of the instructions, conversions and epilogues whose plainest order comes near the product. A few
elements decide at first, whose chains are computed once for all orders that have them; an order that gives these is held
against the whole product.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import golden
from golden.arithmetic.formats import BF16, FORMATS, FP32, FP64, TF32, Format
from golden.arrays import BitArray, bits_dtype
from golden.comparison import is_nan
from golden.products.additions import Additions, widened
from golden.products.epilogue import OUTPUTS
from golden.products.gemm_order import GemmOrder, Pieces, instruction_products
from golden.products.k_layout import KLayout, k_layout
from golden.products.operand_parts import CONVERSIONS, PASSES, operand
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from mmau.probe.order_grammar import EVERY_ORDER, EVERY_TREE, Family, Grammar, Keys
from mmau.probe.order_sums import orders_giving, pieces_giving
from mmau.probe.order_totals import Elements, Indices, Sums

SAMPLED = 24
"""Elements that are computed first."""

FEW = 4
"""Elements that are computed of orders that are not plain; of those that give these, all."""

OF_TILE = 10
"""Elements of an output tile that are computed first, where each tile has pieces of its own."""

NEAR = 4
"""Times the least distance up to which a search is near: rounding an operand in another way takes it further."""

TURNS = 16
"""Families of orders of a near search that are tried for each of one that is not, or for each search of all trees."""

PLAINEST = 16
"""Families of orders of a search of which the first that fits says how near it is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenProduct:
    """A product that a kernel computed, as codes.

    Attributes:
        a: [M, K], b: [K, N], d: [M, N]; c: [M, N] or None for zeros.
        formats: of a, b and d. Operands of fp32 may have been read as tf32, or split. c_format: that of c.
        scale_a, scale_b: codes of an instruction's blocks, or of fp32 where they are applied at promotion; None without.
        bias: codes of fp32 for each column, where the kernel adds one. alpha, beta: its factors of A·B and of c.
    """

    a: BitArray
    b: BitArray
    d: BitArray
    formats: tuple[Format, Format, Format]
    c: BitArray | None = None
    c_format: Format = FP32
    scale_a: BitArray | None = None
    scale_b: BitArray | None = None
    bias: BitArray | None = None
    alpha: float = 1.0
    beta: float = 1.0

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N and K."""
        return len(self.a), self.b.shape[1], self.a.shape[1]

    def differing(self, model: Instruction | Unit, order: GemmOrder) -> npt.NDArray[np.bool_]:
        """The elements [M, N] that an order does not give."""
        bias = None if self.bias is None else self.bias.view(np.float32)
        got = golden.gemm(model, self.a, self.b, self.c, self.scale_a, self.scale_b, order=order, bias=bias)
        bits = np.asarray(got).view(self.d.dtype)
        differs = np.asarray(bits != self.d)
        if not model.operation.nan_is_fixed():
            differs &= ~(is_nan(bits, self.formats[2]) & is_nan(self.d, self.formats[2]))
        return differs

    def epilogues(self, output: str | None) -> list[Keys]:
        """The epilogues that take what was given, as keys of orders; `output` if D is rounded to that format."""
        scaled: list[tuple[str, ...]] = [("alpha",)] if self.alpha != 1 else [()]
        if self.c is not None:
            fused: list[tuple[str, ...]] = [("beta",) if self.alpha == 1 else ("alpha", "beta"), ("alpha-beta",)]
            scaled = fused if self.alpha != 1 or self.beta != 1 else [(), *fused[:1]]
        made: list[Keys] = []
        for steps in scaled:
            whole = (*steps, "bias") if self.bias is not None else steps
            variants = [whole, (*whole[:-1], "output", whole[-1])] if output is not None and whole else [whole]
            for epilogue in variants:
                made.append({"epilogue": epilogue, "alpha": self.alpha} if epilogue else {})
                if "beta" in epilogue or "alpha-beta" in epilogue:
                    made[-1]["beta"] = self.beta
        return made

    def scale_places(self, model: Instruction | Unit) -> list[Keys]:
        """Where scales are applied, as keys of orders."""
        if self.scale_a is None or self.scale_b is None or model.operation.block_size is not None:
            return [{}]
        (M, N, _), rows, columns = self.shape, len(self.scale_a), self.scale_b.shape[1]
        sides = [
            [side for side in dict.fromkeys((1, 128, 64, 32, -(-whole // count))) if -(-whole // side) == count]
            for whole, count in ((M, rows), (N, columns))
        ]
        return [{"scale_at": "promotion", "scale_block": block} for block in product(*sides)]

    @property
    def groups(self) -> int | None:
        """Number of scales along K; None without."""
        return None if self.scale_a is None else self.scale_a.shape[1]

    def sampled(self) -> npt.NDArray[np.intp]:
        """The elements [SAMPLED, 2] that are computed first, anywhere, finite ones where there are any."""
        form, d = self.formats[2], self.d
        exponents = d >> form.man_bits & (1 << form.exp_bits) - 1 if form.exp_bits else d * 0
        finite = np.argwhere(exponents != (1 << form.exp_bits) - 1)
        chosen = finite if len(finite) else np.argwhere(d == d)
        return chosen[np.sort(np.random.default_rng(7).permutation(len(chosen))[:SAMPLED])]


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


def find_order(
    given: GivenProduct, models: Sequence[Instruction | Unit], seconds: float = 60.0, is_brief: bool = False
) -> FoundOrder:
    """Search for an order that gives every element of a product.

    Args:
        models: the instructions or units that may have computed it, the likelier ones first. seconds: of processor time.
        is_brief: whether only orders are tried that differ from a chain in one respect and promotion.

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
    for search, turn in _in_turn(_turns(searches, is_brief)):
        if time.process_time() > ends:
            exhausted = False
            break
        tried += turn.tried
        for order, right in turn.found:
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


def _turns(searches: list["_Search"], is_brief: bool) -> list[tuple[int, "_Search", Iterator["_Turn"]]]:
    """The turns of each search in a round, and its orders: `TURNS` of one that is near, and one of one that is not."""
    distances = [search.distance() for search in searches]
    least = min((distance for distance in distances if distance == distance), default=0.0)
    turns = [1 if distance > NEAR * least else TURNS for distance in distances]
    return [(number, search, search.orders(is_brief)) for number, search in zip(turns, searches, strict=True)]


def _in_turn(sources: list[tuple[int, "_Search", Iterator["_Turn"]]]) -> Iterator[tuple["_Search", "_Turn"]]:
    """So many of each source one source after the other, so that no instruction waits for all orders of another."""
    while sources:
        for source in list(sources):
            turns, search, orders = source
            for _ in range(turns):
                found = next(orders, None)
                if found is None:
                    sources.remove(source)
                    break
                yield search, found


def _searches(given: GivenProduct, model: Instruction | Unit) -> Iterator["_Search"]:
    """The ways in which an instruction can take the operands."""
    a, b, d = given.formats
    if model.operation.d != d and not (model.operation.d == FP32 and d in [FORMATS[name] for name in OUTPUTS]):
        return
    if given.c is not None and model.c != given.c_format:
        return
    if (model.operation.block_size is not None) != (given.scale_a is not None) and model.operation.block_size is not None:
        return
    output = None if model.operation.d == d else d.name
    operands: list[Keys] = []
    if (model.operation.a, model.operation.b) == (a, b):
        operands = [{}]
    elif a == b == FP32 and isinstance(model, Instruction) and model.a == model.b and model.a in (TF32, BF16):
        operands = [{"convert": convert} for convert in CONVERSIONS]
        operands += [{"passes": passes} for passes, (form, _) in PASSES.items() if form == model.a]
    epilogues = given.epilogues(output)
    from_c = [keys for keys in epilogues if GemmOrder(**keys).starts_from_c]
    alike = [group for group in (from_c, [keys for keys in epilogues if keys not in from_c]) if group]
    for of_operands, group, scales in product(operands, alike, given.scale_places(model)):
        yield _Search(given, model, {"output": output, **of_operands, **scales}, group, given.sampled())


class _Turn(NamedTuple):
    """What a family of orders gives.

    Attributes:
        tried: number of orders. found: those that give most elements, and how many.
    """

    tried: int
    found: Sequence[tuple[GemmOrder, int]] = ()


@dataclass(eq=False)
class _Search:
    """The orders of one instruction, with what is common to all of them, and some elements of the product.

    Attributes:
        keys: of all orders. epilogues: keys of what may follow the sum, which takes c in all of them or in none.
        places: [elements, 2], rows and columns of D.
    """

    given: GivenProduct
    model: Instruction | Unit
    keys: Keys
    epilogues: list[Keys]
    places: npt.NDArray[np.intp]
    converted: dict[Any, Elements] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Products of an instruction."""
        return instruction_products(self.model)

    @cached_property
    def additions(self) -> Additions:
        """What is added outside of instructions, for all orders."""
        return _NumpyAdditions(self.model.operation, None)

    @property
    def from_c(self) -> bool:
        """Whether sums start from c."""
        return GemmOrder(**self.epilogues[0]).starts_from_c

    @property
    def count(self) -> int:
        """Number of elements that are computed."""
        return len(self.places)

    @cached_property
    def wanted(self) -> BitArray:
        """What the kernel gave for the elements."""
        i, j = self.places.T
        codes: BitArray = self.given.d[i, j]
        return codes

    def codes(self, family: Family, few: int | None = None) -> BitArray | None:
        """[epilogues, sums of parts, orders of stripes, promotions, elements], what the orders of a family give for the
        elements, or for so many of them; None if the family does not fit."""
        shape = len(self.epilogues), len(family.part_sums), len(family.stripe_orders), len(family.promotes)
        codes = np.zeros((*shape, len(self.wanted[:few])), self.wanted.dtype)
        try:
            with np.errstate(all="ignore"):
                for inside, sums in self._regions(family, slice(0, few)):
                    parts = sums.of_parts(sums.of_runs(family.promotes), family.stripe_orders)
                    orders = [replace(sums.order, **epilogue) for epilogue in self.epilogues]
                    for at, keys in enumerate(family.part_sums):
                        added, way = keys.get("split_order"), keys.get("split_sum", "fp32")
                        totals = sums.of_all(parts, added, way, orders[0].result_format(self.model))
                        for number, order in enumerate(orders):
                            codes[number, at][..., inside] = sums.finished(order, totals)
        except ValueError:
            return None
        return codes

    def turn(self, family: Family, is_plain: bool) -> _Turn:
        """The orders of a family that give every element; of a plain one the nearest, if none does."""
        codes = self.codes(family, None if is_plain else FEW)
        if codes is None:
            return _Turn(0)
        tried = codes[..., 0].size
        if not is_plain:
            if not (codes == self.wanted[:FEW]).all(axis=-1).any():
                return _Turn(tried)
            codes = self.codes(family)
            assert codes is not None
        right = (codes == self.wanted).sum(axis=-1)
        found: list[tuple[GemmOrder, int]] = []
        for epilogue, part_sum, stripe_order, promote in np.argwhere(right == right.max()).tolist():
            keys = family.member(family.promotes[promote], family.stripe_orders[stripe_order], family.part_sums[part_sum])
            order = self._order({**keys, **self.epilogues[epilogue]})
            if order is not None:
                found.append((order, int(right.max())))
            if found and right.max() < self.count:
                break
        return _Turn(tried, found)

    def distance(self) -> float:
        """The mean distance of the elements from what a chain gives, or the plainest order that fits; NaN if none does.

        Another order changes the last bits of an element, other operands or another epilogue change it more.
        """
        output = self.given.formats[2]
        for family in islice(self._grammar.plain(), PLAINEST):
            codes = self.codes(replace(family, promotes=family.promotes[:1]))
            if codes is not None:
                got, wanted = (widened(x, output).view("f8" if output is FP64 else "f4") for x in (codes, self.wanted))
                with np.errstate(all="ignore"):
                    return float(np.abs(got.astype(float) - wanted).mean(axis=-1).min())
        return float("nan")

    def _regions(self, family: Family, elements: slice) -> Iterator[tuple[npt.NDArray[np.bool_], Sums]]:
        """The elements of each region of D that has any, and their sums.

        Raises:
            ValueError: orders that do not fit.
        """
        promotes = family.promotes if "scale_at" in self.keys else (0,)
        order = next(filter(None, (self._order({**family.keys, "promote_every": every}) for every in promotes)), None)
        if order is None:
            raise ValueError(f"no order has {family.keys}")
        of = self._elements(order).some(elements)
        (M, N, _), (i, j) = self.given.shape, self.places[elements].T
        layout = k_layout(self.model, order, of.K)
        groups = {-(-layout.instructions // (every or layout.instructions)) for every in promotes}
        if order.scale_at == "promotion" and groups != {self.given.groups}:
            raise ValueError(f"{self.given.groups} scales along K are not one for each promotion")
        instructions = self._products(order, layout, of.K)
        for rows, columns, plan in order.regions(M, N, layout.instructions, self.k, layout.pieces):
            inside = (rows.start <= i) & (i < rows.stop) & (columns.start <= j) & (j < columns.stop)
            if inside.any():
                taken = instructions if plan.taken is None else instructions[list(plan.taken)]
                scale = self._scale(order, i[inside], j[inside])
                yield inside, Sums(self.model, order, self.additions, of.some(inside), taken, plan, self.from_c, scale)

    def _scale(self, order: GemmOrder, i: Indices, j: Indices) -> Callable[[Indices], BitArray] | None:
        """The scales of promotions for some elements, where the order applies any there."""
        given, (rows, columns) = self.given, order.scale_block
        if order.scale_at != "promotion" or given.scale_a is None or given.scale_b is None:
            return None
        of_a, of_b = given.scale_a[i // rows].T, given.scale_b[:, j // columns]
        return lambda numbers: self.additions.multiply(
            np.ascontiguousarray(of_a[numbers]), np.ascontiguousarray(of_b[numbers])
        )

    def _elements(self, order: GemmOrder) -> Elements:
        """The elements, with operands converted as an order says."""
        key = order.convert, order.passes, order.pass_tile
        if key not in self.converted:
            i, j = self.places.T
            given, operation = self.given, self.model.operation
            a = operand("a", given.a[i], self.model.a, *key, is_b=False)
            b = operand("b", given.b[:, j], self.model.b, *key, is_b=True).T
            K, size = a.shape[1], operation.block_size
            padding = 1 if size is None else -K % self.k
            a, b = (np.pad(x, ((0, 0), (0, padding))) for x in (a, b))
            c = np.zeros(len(a), bits_dtype(self.model.c)) if given.c is None else given.c[i, j]
            scales: tuple[BitArray, BitArray] | None = None
            if size is not None and given.scale_a is not None and given.scale_b is not None:
                assert operation.scale_format is not None
                more = (K + padding) // size - given.scale_a.shape[1]
                one = operation.scale_format.encode(1)
                of_a, of_b = (
                    np.pad(x, ((0, 0), (0, more)), constant_values=one) for x in (given.scale_a[i], given.scale_b[:, j].T)
                )
                scales = of_a, of_b
            self.converted[key] = Elements(a, b, c, scales, None if given.bias is None else given.bias[j], K)
        return self.converted[key]

    def _products(self, order: GemmOrder, layout: KLayout, K: int) -> Indices:
        """[instructions, k], the products of each instruction, K for +0·+0."""
        places = np.arange(layout.instructions * self.k) if layout.places is None else layout.places
        if isinstance(order.k_order, tuple) and layout.places is None:
            size = len(order.k_order)
            places = places // size * size + np.array(order.k_order)[places % size]
        if self.model.operation.block_size is None:
            places = np.minimum(places, K)
        return places.reshape(-1, self.k)

    def orders(self, is_brief: bool) -> Iterator[_Turn]:
        """Every order of the grammar, or the plainest alone; the plainer ones first. Before the less plain come those of
        which the sums themselves say which of very many it is."""
        grammar = self._grammar
        for family in grammar.plain():
            is_plain = len(family.keys) < 3
            if is_plain or not is_brief:
                yield self.turn(family, is_plain)
        if is_brief:
            return
        usual = [every for every in grammar.promotes if not every & every - 1]  # never, or by a power of two
        yield from self._listed(grammar, usual)
        rest = (self.turn(family, False) for family in grammar.rest())
        for turn in self._permuted(grammar, False):  # which take longer, and are fewer
            yield turn
            yield from islice(rest, TURNS)
        yield from rest
        yield from self._permuted(grammar, True)
        yield from self._listed(grammar, [every for every in grammar.promotes if every not in usual])

    @cached_property
    def _grammar(self) -> Grammar:
        groups = self.given.groups if "scale_at" in self.keys else None
        return Grammar(self.model, self.given.shape, self.keys, groups, self.given.c is not None and self.from_c)

    def _order(self, keys: Keys) -> GemmOrder | None:
        try:
            order = GemmOrder(**self.keys, **keys)
            order.check(self.model)
        except ValueError:  # keys that do not go together
            return None
        return order

    def _listed(self, grammar: Grammar, promotes: Sequence[int]) -> Iterator[_Turn]:
        """Lists of pieces for each output tile, which are found tile by tile.

        Args:
            promotes: numbers of instructions between promotions, 0 for none.
        """
        if self.keys.keys() & {"passes", "scale_at"} or self.model.operation.block_size is not None:
            return
        for tile, every, epilogue in product(grammar.output_tiles(), promotes, self.epilogues):
            keys = {"k_order": "stream-k", "tile": tile, "workers": 1, "promote_every": every, **epilogue}
            order = self._order(keys)
            if order is None:
                continue
            found: list[Pieces] = []
            for rows, columns, _ in order.regions(*self.given.shape[:2], grammar.instructions, self.k):
                sides = [np.arange(side.start, side.stop) for side in (rows, columns)]
                places = np.stack(np.meshgrid(*sides, indexing="ij"), axis=2).reshape(-1, 2)
                few = places[np.random.default_rng(7).permutation(len(places))[:OF_TILE]]
                pieces = replace(self, places=few, converted={}).pieces(order)
                if pieces is None:
                    yield _Turn(1)
                    break
                found.append(pieces)
            else:
                yield _Turn(1, [(replace(order, workers=None, tiles=tuple(found)), self.count)])

    def pieces(self, order: GemmOrder) -> Pieces | None:
        """The pieces of K whose sums give the elements, all of one output tile, under an order with other pieces."""
        keys = {key: getattr(order, key) for key in ("k_order", "tile", "workers")}
        ((_, sums),) = self._regions(Family(keys), slice(None))
        with np.errstate(all="ignore"):
            tables = [sums.of_every_piece(start, order.promote_every) for start in sums.starts]
            return pieces_giving(self.wanted, tables[-1], tables[0], sums.additions.add, partial(sums.finished, order))

    def _permuted(self, grammar: Grammar, is_late: bool) -> Iterator[_Turn]:
        """Parts or stripes that are added in any order, one after the other or as a tree."""
        for key, family in grammar.many_sums(is_late):
            try:
                ((_, sums),) = self._regions(family, slice(None))
            except ValueError:
                continue
            counts = [len(piece) for piece in sums.plan.pieces]
            count = len(counts) if key == "split_order" else counts[0]
            if not EVERY_TREE < count <= EVERY_ORDER:
                continue
            with np.errstate(all="ignore"):
                runs = sums.of_runs(family.promotes)
                tables = runs if key == "stripe_order" else sums.of_parts(runs, (None,))[:, 0]
                for (place, every), keys, epilogue in product(enumerate(family.promotes), family.part_sums, self.epilogues):
                    order = self._order({**family.member(every, None, keys), **epilogue})
                    if order is None:
                        continue
                    output, trees = order.result_format(self.model), not is_late and order.split_sum != "in-place"
                    first, others, add = sums.between(tables[-1, place], tables[0, place], order.split_sum, output)
                    way = partial(sums.finished, order)
                    found = next(orders_giving(self.wanted, first, others, add, way, trees), None)
                    if found is None:
                        yield _Turn(1)
                    else:
                        whole = order.split_k if key == "split_order" else len(found)
                        keys = {**keys, key: (*found, *range(len(found), whole))}
                        order = self._order({**family.keys, "promote_every": every, **keys, **epilogue})
                        yield _Turn(1, [] if order is None else [(order, self.count)])


class _NumpyAdditions(Additions):
    """Additions of few finite numbers, where a call of the engine would take longest; NumPy adds as IEEE 754 says."""

    def add(self, x: BitArray, y: BitArray) -> BitArray:
        floats = "f8" if self.wide is FP64 else "f4"
        total: BitArray = (x.view(floats) + y.view(floats)).view(x.dtype)
        return total
