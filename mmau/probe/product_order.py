"""Which order of `golden.gemm` gives every element of a matrix product that some kernel computed.

Orders are tried from the plainest on: one that differs from a chain in one respect before those that differ in two, and
those in three; most of the instructions, conversions and epilogues whose plainest order comes near the product. A few
elements decide at first, whose chains are computed once for all orders that have them; an order that gives these is held
against the whole product.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice, product
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden.arithmetic.formats import FP32, FP64, Format
from golden.arrays import BitArray, bits_dtype
from golden.comparison import is_nan
from golden.engines.engine import Batch, run
from golden.products.additions import Additions, widened
from golden.products.epilogue import OUTPUTS, finished
from golden.products.gemm_order import GemmOrder, Pieces, Plan, Run, instruction_products
from golden.products.k_layout import KLayout, k_layout
from golden.products.operand_parts import CONVERSIONS, PASSES, operand
from golden.products.tiled import Scale, Summation
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from mmau.probe.order_grammar import EVERY_ORDER, EVERY_TREE, Grammar, Keys
from mmau.probe.order_sums import Add, orders_giving, pieces_giving

SAMPLED = 24
"""Elements that are computed first."""

TRIES_BETWEEN = 128
"""Orders that are tried between two looks at the clock."""

OF_TILE = 10
"""Elements of an output tile that are computed first, where each tile has pieces of its own."""

NEAR = 4
"""Times the least distance up to which a search is near: rounding an operand in another way takes it further."""

TURNS = 16
"""Orders of a near search that are tried for each order of one that is not."""

PLAINEST = 16
"""Orders of a search of which the first that fits says how near it is."""

PLAIN = 4000
"""Orders of an instruction that are tried before those whose sums are searched by themselves."""


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


def find_order(given: GivenProduct, models: Sequence[Instruction | Unit], seconds: float = 60.0) -> FoundOrder:
    """Search for an order that gives every element of a product.

    Args:
        models: the instructions or units that may have computed it, the likelier ones first. seconds: of processor time.

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
    for search, order in _in_turn(list(zip(_turns(searches), [search.orders() for search in searches], strict=True))):
        if (order is None or tried % TRIES_BETWEEN == 0) and time.process_time() > ends:
            exhausted = False
            break
        if order is None:
            continue
        tried += 1
        right = search.right(order)
        if right < 0:
            continue
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


def _turns(searches: list["_Search"]) -> list[int]:
    """The turns of each search in a round: `TURNS` of one that is near, and one of one that is not."""
    distances = [search.distance() for search in searches]
    least = min((distance for distance in distances if distance == distance), default=0.0)
    return [1 if distance > NEAR * least else TURNS for distance in distances]


def _in_turn(sources: list[tuple[int, Iterator["_Turn"]]]) -> Iterator["_Turn"]:
    """So many of each source one source after the other, so that no instruction waits for all orders of another."""
    while sources:
        for source in list(sources):
            turns, orders = source
            for _ in range(turns):
                found = next(orders, None)
                if found is None:
                    sources.remove(source)
                    break
                yield found


def _searches(given: GivenProduct, model: Instruction | Unit) -> Iterator["_Search"]:
    """The ways in which an instruction can take the operands."""
    a, b, d = given.formats
    if model.operation.d != d and not (model.operation.d == FP32 and d.name in OUTPUTS):
        return
    if given.c is not None and model.c != given.c_format:
        return
    if (model.operation.block_size is not None) != (given.scale_a is not None) and model.operation.block_size is not None:
        return
    output = None if model.operation.d == d else d.name
    operands: list[Keys] = []
    if (model.operation.a, model.operation.b) == (a, b):
        operands = [{}]
    elif a == b == FP32 and isinstance(model, Instruction) and model.a == model.b and model.a.name in ("tf32", "bf16"):
        operands = [{"convert": convert} for convert in CONVERSIONS]
        operands += [{"passes": passes} for passes, (form, _) in PASSES.items() if form == model.a]
    places = given.sampled()
    for of_operands, epilogue, scales in product(operands, given.epilogues(output), given.scale_places(model)):
        yield _Search(given, model, {"output": output, **of_operands, **epilogue, **scales}, places)


@dataclass(eq=False)
class _Search:
    """The orders of one instruction, with what is common to all of them, and the sums of some elements of the product.

    Attributes:
        keys: of all orders. places: [elements, 2], rows and columns of D.
    """

    given: GivenProduct
    model: Instruction | Unit
    keys: Keys
    places: npt.NDArray[np.intp]
    sums: dict[int | None, dict[Any, BitArray]] = field(default_factory=dict)
    layouts: dict[Any, tuple[KLayout, npt.NDArray[np.intp]]] = field(default_factory=dict)
    converted: dict[Any, "_Rows"] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Products of an instruction."""
        return instruction_products(self.model)

    @cached_property
    def additions(self) -> Additions:
        """What is added outside of instructions, for all orders."""
        return _NumpyAdditions(self.model.operation, None)

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

    def right(self, order: GemmOrder) -> int:
        """The number of elements that an order gives; −1 if it does not fit."""
        codes = self.codes(order)
        return -1 if codes is None else int((codes == self.wanted).sum())

    def codes(self, order: GemmOrder) -> BitArray | None:
        """What an order gives for the elements; None if it does not fit."""
        codes = np.zeros_like(self.wanted)
        try:
            for inside, summation, plan in self._regions(order):
                bias = None if self.given.bias is None else self.given.bias[self.places[inside, 1]]
                with np.errstate(all="ignore"):
                    codes[inside] = summation(summation.batch(), plan, bias, summation.scale())
        except ValueError:
            return None
        return codes

    def distance(self) -> float:
        """The mean distance of the elements from what the plainest order that fits gives; NaN if none of the first does.

        Another order changes the last bits of an element, other operands or another epilogue change it more.
        """
        output = self.given.formats[2]
        for order in map(self._order, islice(self._grammar.keys(), PLAINEST)):
            codes = None if order is None else self.codes(order)
            if codes is not None:
                got, wanted = (widened(x, output).view("f8" if output is FP64 else "f4") for x in (codes, self.wanted))
                with np.errstate(all="ignore"):
                    return float(np.abs(got.astype(float) - wanted).mean())
        return float("nan")

    def _regions(self, order: GemmOrder) -> Iterator[tuple[npt.NDArray[np.bool_], "_Recalled", Plan]]:
        """The elements of each region of D that has any, their sums, and the plan.

        Raises:
            ValueError: an order that does not fit.
        """
        order.check(self.model)
        rows_of = self._rows(order)
        M, N, _ = self.given.shape
        layout, instructions = self._layout(order, rows_of.K)
        if self.given.groups is not None and order.scale_at == "promotion":
            every = order.promote_every or layout.instructions
            if -(-layout.instructions // every) != self.given.groups:
                raise ValueError(f"{self.given.groups} scales along K are not one for each promotion")
        i, j = self.places.T
        sums = self.sums.setdefault(order.pass_tile, {})
        for rows, columns, plan in order.regions(M, N, layout.instructions, self.k, layout.pieces):
            inside = (rows.start <= i) & (i < rows.stop) & (columns.start <= j) & (j < columns.stop)
            if inside.any():
                taken = instructions if plan.taken is None else instructions[list(plan.taken)]
                yield inside, _Recalled(self.model, order, None, rows_of, taken, sums, inside, self), plan

    def _rows(self, order: GemmOrder) -> "_Rows":
        """Operands of the elements, converted as an order says."""
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
            self.converted[key] = _Rows(a, b, c, scales, K)
        return self.converted[key]

    def _layout(self, order: GemmOrder, K: int) -> tuple[KLayout, npt.NDArray[np.intp]]:
        """The layout of K, and the products of each instruction, K for +0·+0."""
        key = order.k_order, order.k_tile, order.residue, order.split_k, order.split_tile, K
        if key not in self.layouts:
            layout = k_layout(self.model, order, K)
            places = np.arange(layout.instructions * self.k) if layout.places is None else layout.places
            if isinstance(order.k_order, tuple) and layout.places is None:
                size = len(order.k_order)
                places = places // size * size + np.array(order.k_order)[places % size]
            if self.model.operation.block_size is None:
                places = np.minimum(places, K)
            self.layouts[key] = layout, places.reshape(-1, self.k)
        return self.layouts[key]

    def orders(self) -> Iterator["_Turn"]:
        """Every order of the grammar, the plainer ones first, and None in between where many were tried without one. Before
        the less plain come those of which the sums themselves say which of very many it is."""
        grammar = self._grammar
        keys = grammar.keys()
        plain, rest = map(self._order, islice(keys, PLAIN)), map(self._order, keys)
        for source in (plain, self._listed(grammar), self._permuted(grammar, False), rest, self._permuted(grammar, True)):
            yield from ((self, order) for order in source)

    @cached_property
    def _grammar(self) -> Grammar:
        has_c = self.given.c is not None and "beta" not in self.keys
        groups = self.given.groups if "scale_at" in self.keys else None
        return Grammar(self.model, self.given.shape, self.keys, groups, has_c)

    def _order(self, keys: Keys) -> GemmOrder | None:
        try:
            return GemmOrder(**self.keys, **keys)
        except ValueError:  # keys that do not go together
            return None

    def _listed(self, grammar: Grammar) -> Iterator[GemmOrder | None]:
        """Lists of pieces for each output tile, which are found tile by tile."""
        if self.keys.keys() & {"passes", "scale_at"} or self.model.operation.block_size is not None:
            return
        for tile, keys in product(grammar.output_tiles(), [{}, *grammar.usual]):
            order = self._order({"k_order": "stream-k", "tile": tile, "workers": 1, **keys})
            if order is None or self.right(order) < 0:
                continue
            found: list[Pieces] = []
            for rows, columns, _ in order.regions(*self.given.shape[:2], grammar.instructions, self.k):
                sides = [np.arange(side.start, side.stop) for side in (rows, columns)]
                places = np.stack(np.meshgrid(*sides, indexing="ij"), axis=2).reshape(-1, 2)
                few = places[np.random.default_rng(7).permutation(len(places))[:OF_TILE]]
                pieces = replace(self, places=few, sums={}, layouts={}, converted={}).pieces(order)
                if pieces is None:
                    break
                found.append(pieces)
            if pieces is None:
                yield None
            else:
                yield replace(order, workers=None, tiles=tuple(found))

    def pieces(self, order: GemmOrder) -> Pieces | None:
        """The pieces of K whose sums give the elements, all of one output tile, under an order with other pieces."""
        ((_, summation, _),) = self._regions(order)
        with np.errstate(all="ignore"):
            others = summation.of_every_piece(np.zeros_like(summation.rows.c))
            starts = order.starts_from_c and summation.rows.c.any()
            first = summation.of_every_piece(summation.rows.c) if starts else others
            return pieces_giving(self.wanted, first, others, summation.additions().add, summation.finished)

    def _permuted(self, grammar: Grammar, is_late: bool) -> Iterator[GemmOrder | None]:
        """Parts or stripes that are added in any order, one after the other or as a tree."""
        for key, keys in grammar.many_sums(is_late):
            order = self._order(keys)
            if order is None or (key != "split_order" and order.split_sum != "fp32"):
                continue
            try:
                ((_, summation, plan),) = self._regions(order)
            except ValueError:
                continue
            with np.errstate(all="ignore"):
                first, others = summation.of_each(plan)
                if not EVERY_TREE < len(first) <= EVERY_ORDER:
                    continue
                first, others, add = summation.between(first, others)
                trees = not is_late and order.split_sum != "in-place"
                found = next(orders_giving(self.wanted, first, others, add, summation.finished, trees), None)
            if found is None:
                yield None
            else:
                count = order.split_k if key == "split_order" else len(found)
                keys = {**keys, key: (*found, *range(len(found), count))}
                yield self._order(keys)


_Turn = tuple[_Search, GemmOrder | None]


@dataclass(frozen=True)
class _Rows:
    """Operands of sampled elements, with products +0·+0 at the end, and scales, with ones.

    Attributes:
        K: number of products without those at the end.
    """

    a: BitArray
    b: BitArray
    c: BitArray
    scales: tuple[BitArray, BitArray] | None
    K: int


@dataclass(frozen=True)
class _Recalled(Summation):
    """A summation of sampled elements whose chains and promoted sums are computed once for all orders that have them.

    Attributes:
        rows: of all sampled elements. taken: [instructions, k], the products of each instruction in the order of the plan.
        inside: the elements that this summation is of.
    """

    rows: _Rows = field(repr=False)
    taken: npt.NDArray[np.intp] = field(repr=False)
    sums: dict[Any, BitArray] = field(repr=False)
    inside: npt.NDArray[np.bool_]
    search: _Search = field(repr=False)

    def batch(self) -> Batch:
        """The starts of the sums; operands are looked up."""
        start = self.rows.c[self.inside]
        return Batch(start[:0, None], start[:0, None], start)

    def scale(self) -> Scale | None:
        """The scales of each promotion, where the order applies any there."""
        given, (rows, columns) = self.search.given, self.order.scale_block
        if self.order.scale_at != "promotion" or given.scale_a is None or given.scale_b is None:
            return None
        of_a, of_b = given.scale_a, given.scale_b
        i, j = self.search.places[self.inside].T
        return lambda group: self.additions().multiply(of_a[i // rows, group], of_b[group, j // columns])

    def additions(self) -> Additions:
        return self.search.additions

    def finished(self, totals: BitArray, elements: slice) -> BitArray:
        """Totals [orders, elements] of some elements after the epilogue, in the format of the result."""
        additions, order, output = self.additions(), self.order, self.order.result_format(self.model)
        if order.epilogue:
            given, shape = self.search.given, totals.shape
            of_columns = None if given.bias is None else given.bias[self.search.places[self.inside, 1]][elements]
            bias = None if of_columns is None else np.broadcast_to(of_columns, shape).copy()
            starts = additions.widened(self.rows.c[self.inside][elements], self.model.operation.c)
            c = np.broadcast_to(starts, shape).copy()
            totals = finished(additions, totals, order.epilogue, (order.alpha, order.beta), c, bias, output)
        return additions.rounded(totals, output)

    def between(self, first: BitArray, others: BitArray) -> tuple[BitArray, BitArray, Add]:
        """The sums of parts, and the addition of two, rounded to the format of the result where the order says so."""
        additions, way, output = self.additions(), self.order.split_sum, self.order.result_format(self.model)

        def rounded(totals: BitArray) -> BitArray:
            return additions.widened(additions.rounded(totals, output), output)

        if way == "workspace":
            return rounded(first), rounded(others), additions.add
        if way == "in-place":
            return rounded(first), others, lambda x, y: rounded(additions.add(x, y))
        return first, others, additions.add

    def of_each(self, plan: Plan) -> tuple[BitArray, BitArray]:
        """The sum of each part, or of each stripe of the only part: from c, and from +0."""
        additions, batch = self.additions(), self.batch()
        zeros = batch._replace(c=np.zeros_like(batch.c))
        batch = batch if self.order.starts_from_c else zeros
        if len(plan.pieces) > 1:
            made = partial(self._piece, additions=additions, scale=self.scale())
            tables = [[made(start, zeros, runs) for runs in plan.pieces] for start in (batch, zeros)]
        else:
            (runs,) = plan.pieces
            tables = [[self._run(start, zeros, run, additions, self.scale()) for run in runs] for start in (batch, zeros)]
        first, others = (np.stack(table) for table in tables)
        return first, others

    def of_every_piece(self, start: BitArray) -> BitArray:
        """[begin, end, elements], the sums of all consecutive instructions."""
        count, additions, d = len(self.taken), self.additions(), self.model.operation.d
        chain, every = self.model.chain_over(self.search.k), self.order.promote_every
        a, b = (np.ascontiguousarray(x[:, self.taken].swapaxes(0, 1)) for x in (self.rows.a, self.rows.b))
        carried = np.broadcast_to(np.zeros_like(start) if every else start, (count, len(start))).copy()
        total = np.broadcast_to(additions.widened(start, self.model.operation.c), (count, len(start))).copy()
        made = np.zeros((count + 1, count + 1, len(start)), total.dtype)
        for length in range(1, count + 1):
            begins = count + 1 - length
            x, y = (operands[length - 1 :].reshape(-1, operands.shape[2]) for operands in (a, b))
            carried = run(None, chain, Batch(x, y, carried[:begins].ravel())).reshape(begins, -1)
            wide = additions.widened(carried, d)
            reached = additions.add(total[:begins], wide) if every else wide
            made[np.arange(begins), np.arange(begins) + length] = reached
            if every and length % every == 0:
                total, carried = reached, np.zeros_like(carried)
        return made

    def _run(self, batch: Batch, zeros: Batch, run: Run, additions: Additions, scale: Scale | None) -> BitArray:
        key = self.order.promote_every, self.order.scale_block, self.taken[slice(*run)].tobytes(), self.inside.tobytes()
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
        columns, size = places.ravel(), self.model.operation.block_size
        a, b = (np.ascontiguousarray(x[inside][:, columns]) for x in (self.rows.a, self.rows.b))
        batch = Batch(a, b, c)
        if self.rows.scales is not None and size is not None:
            blocks = columns[::size] // size
            of_a, of_b = (np.ascontiguousarray(x[inside][:, blocks]) for x in self.rows.scales)
            batch = batch._replace(scale_a=of_a, scale_b=of_b)
        return super().chained(batch, (0, len(places)))


class _NumpyAdditions(Additions):
    """Additions of few finite numbers, where a call of the engine would take longest; NumPy adds as IEEE 754 says."""

    def add(self, x: BitArray, y: BitArray) -> BitArray:
        floats = "f8" if x.itemsize == 8 else "f4"
        total: BitArray = (x.view(floats) + y.view(floats)).view(x.dtype)
        return total
