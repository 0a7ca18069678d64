"""The order of accumulation of a whole matrix product: promotion, split-K, stream-K, epilogue."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from math import lcm
from typing import Any, NamedTuple

from golden.arithmetic.formats import BF16, FORMATS, FP64, TF32, Format
from golden.checks import check_choice, check_int, check_type
from golden.products.epilogue import OUTPUTS, USES_C, checked_steps, factor
from golden.products.operand_parts import CONVERSIONS, PASSES
from golden.products.sum_order import Order as SumOrder
from golden.products.sum_order import checked_sum_order, is_flat
from golden.units.instruction import Instruction
from golden.units.unit import Unit

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


@lru_cache(1 << 12)
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


K_ORDERS = ("ascending", "reverse", "stream-k")
"""Orders in which K is spent. `ascending`: one worker, or `split_k` workers, for each output tile. `reverse`: tiles of K
from the last to the first. `stream-k`: workers share the instructions of all tiles evenly. A list is a permutation of the
products of each block."""

SPLIT_SUMS = ("fp32", "workspace", "in-place")
"""How the sums of the parts of K are added, in fp32 (fp64 if d is fp64). `fp32`: as they are. `workspace`: each is rounded
to the output's format first. `in-place`: the running sum is rounded to that format after each addition."""

SCALE_PLACES = ("unit", "promotion")
"""Where block scales are applied. `unit`: in the instruction. `promotion`: in fp32, when a sum is promoted."""

RESIDUES = ("last", "first")
"""Where the products stand that a part of K has beside whole tiles of `k_tile`. `last`: at its end. `first`: before them,
padded to a tile with products +0·+0."""

SPLIT_TILE = 64
"""Number of products along K in a kernel's tile; a part of K consists of whole tiles."""

Region = tuple[slice, slice, Plan]
"""Rows and columns of D that have the same plan, and the plan."""

ADDED_FORMATS = ("fp16", "bf16", "fp32", "fp64")
"""Formats of d whose sums can be added outside of instructions; whatever is done in fp32 excludes fp64."""


@dataclass(frozen=True, kw_only=True)
class GemmOrder:
    """The order in which `golden.gemm` accumulates the instructions of a matrix product (numerics.md, section 12).

    Attributes:
        model: the instruction or the unit; None if the caller of `golden.gemm` gives it.
        promote_every: number of instructions summed from +0 before their sum is added to an fp32 accumulator; 0: never.
        scale_at: one of `SCALE_PLACES`. At promotion, scales are numbers of fp32, a sum has one of A and one of B.
        scale_block: rows of A, and columns of B, that share a scale (scale_at = "promotion" only).
        split_k: number of parts of K.
        split_tile: products of which parts have whole multiples; 64 if left out where split_sum is not "fp32". Left out with
            "fp32": if split_k does not divide the instructions, the first parts have one more.
        split_sum: one of `SPLIT_SUMS`.
        stripes: how many accumulators share each part of K in interleaved stripes, and products of a stripe; one is none.
        k_order: one of `K_ORDERS`, or the order of the products of each block: [0, 2, 1, 3].
        k_tile: products of a tile (reverse, and residue = "first", only).
        residue: one of `RESIDUES`.
        stripe_order, split_order: the order in which the sums of stripes, or of parts, are added (golden.sum_order); None:
            ascending.
        convert: one of `golden.operand_parts.CONVERSIONS`: how operands of fp32 are rounded to tf32 or bf16; None: operands
            are in the instruction's format.
        passes: one of `golden.operand_parts.PASSES`: operands of fp32 are split into parts, whose products take the place of
            each `pass_tile` products of K; all other keys count these. None: no split.
        pass_tile: products of K that are multiplied part by part (passes only); None: all.
        tile: rows and columns of an output tile (stream-k only).
        tiles: the pieces of every output tile, in row-major order of tiles (stream-k only, instead of `workers`).
        workers: number of workers that share all tiles' instructions evenly (stream-k only, instead of `tiles`).
        epilogue: the steps after the sum, in order (`golden.products.epilogue.STEPS`), with the numbers `alpha` and `beta`.
        output: format of the result, rounded once, at the end: one of its `OUTPUTS`; None: that of the model.
    """

    model: Instruction | Unit | None = None
    promote_every: int = 0
    scale_at: str = "unit"
    scale_block: tuple[int, int] = (1, 1)
    split_k: int = 1
    split_tile: int | None = None
    split_sum: str = "fp32"
    stripes: tuple[int, int] | None = None
    k_order: str | tuple[int, ...] = "ascending"
    k_tile: int | None = None
    residue: str = "last"
    stripe_order: str | tuple[SumOrder, ...] | None = None
    split_order: str | tuple[SumOrder, ...] | None = None
    convert: str | None = None
    passes: str | None = None
    pass_tile: int | None = None
    tile: tuple[int, int] | None = None
    tiles: tuple[Pieces, ...] | None = None
    workers: int | None = None
    epilogue: tuple[str, ...] = ()
    alpha: float = 1.0
    beta: float = 0.0
    output: str | None = None

    def __post_init__(self) -> None:
        if self.model is not None:
            check_type("model of an order", self.model, Instruction, Unit)
        check_int("promote_every", self.promote_every, 0, MAX_INSTRUCTIONS)
        check_choice("scale_at", self.scale_at, SCALE_PLACES)
        check_int("split_k", self.split_k, 1, MAX_INSTRUCTIONS)
        check_choice("split_sum", self.split_sum, SPLIT_SUMS)
        if self.split_tile is not None:
            check_int("split_tile", self.split_tile, 1, MAX_INSTRUCTIONS)
        elif self.split_sum != "fp32":
            object.__setattr__(self, "split_tile", SPLIT_TILE)
        self._set_pair("scale_block", "[rows, columns]", ("rows", "columns"))
        if self.stripes is not None:
            self._set_pair("stripes", "[how many, how wide]", ("number", "width"))
            if self.stripes[0] == 1:
                object.__setattr__(self, "stripes", None)
        check_choice("residue", self.residue, RESIDUES)
        self._check_k_order()
        self._check_sum_orders()
        self._check_operands()
        object.__setattr__(self, "epilogue", checked_steps(self.epilogue))
        for key in ("alpha", "beta"):
            object.__setattr__(self, key, factor(key, getattr(self, key)))
        if self.output is not None:
            check_choice("output", self.output, OUTPUTS)
        self._check_combinations()
        if self.model is not None:
            self.check(self.model)

    def _set_pair(self, key: str, names: str, sides: tuple[str, str]) -> None:
        """Make a tuple of a key's two numbers, each at least 1."""
        object.__setattr__(self, key, pair(key, getattr(self, key), names))
        for side, size in zip(sides, getattr(self, key), strict=True):
            check_int(f"{side} of {key}", size, 1, MAX_INSTRUCTIONS)

    def _check_k_order(self) -> None:
        if isinstance(self.k_order, (list, tuple)):
            object.__setattr__(self, "k_order", checked_permutation(self.k_order))
        else:
            check_choice("k_order", self.k_order, K_ORDERS)
        of_others = {"tile": "stream-k", "tiles": "stream-k", "workers": "stream-k"}
        if self.residue == "last":
            of_others["k_tile"] = "reverse"
        for key, needed in of_others.items():
            if getattr(self, key) is not None and self.k_order != needed:
                shown = list(self.k_order) if isinstance(self.k_order, tuple) else self.k_order
                raise ValueError(f"{key} is for k_order = {needed!r} alone, got k_order = {shown!r}; leave it out")
        if self.k_order == "stream-k":
            self._check_stream_k()
        if self.k_order == "reverse":
            if self.k_tile is None:
                raise ValueError("k_tile is missing: k_order = 'reverse' needs the products of a tile, as 64")
            check_int("k_tile", self.k_tile, 1, MAX_INSTRUCTIONS)
        if self.residue == "first":
            self._check_residue()

    def _check_residue(self) -> None:
        if self.k_order in ("reverse", "stream-k") or self.scale_at == "promotion":
            raise ValueError(
                "residue = 'first' goes neither with k_order 'reverse' or 'stream-k' nor with scale_at = 'promotion'"
            )
        if self.k_tile is None:
            raise ValueError("k_tile is missing: residue = 'first' needs the products of a tile, as 32")
        check_int("k_tile", self.k_tile, 1, MAX_INSTRUCTIONS)
        if self.split_k > 1 and self.split_tile is None:
            raise ValueError(
                "split_tile is missing: residue = 'first' with split_k needs the products that parts are whole tiles of"
            )

    def _check_sum_orders(self) -> None:
        stripes = 1 if self.stripes is None else self.stripes[0]
        for key, needs, count in (("stripe_order", "stripes", stripes), ("split_order", "split_k", self.split_k)):
            if getattr(self, key) is None:
                continue
            if count == 1:
                raise ValueError(f"{key} is the order of several sums: it needs {needs}; leave it out")
            object.__setattr__(self, key, checked_sum_order(key, getattr(self, key), count))
        if self.split_sum == "in-place" and self.split_order is not None and not is_flat(self.split_order):
            raise ValueError(
                "split_sum = 'in-place' adds one part after the other: split_order must be a list without lists in it"
            )

    def _check_operands(self) -> None:
        if self.convert is not None:
            check_choice("convert", self.convert, CONVERSIONS)
        if self.passes is not None:
            check_choice("passes", self.passes, PASSES)
        if self.pass_tile is not None:
            if self.passes is None:
                raise ValueError("pass_tile is for passes alone; leave it out")
            check_int("pass_tile", self.pass_tile, 1, MAX_INSTRUCTIONS)

    def _check_stream_k(self) -> None:
        if self.split_k != 1:
            raise ValueError(
                f"split_k must be 1 with k_order = 'stream-k', which takes its pieces from tiles or workers; "
                f"got {self.split_k}"
            )
        if self.tile is None:
            raise ValueError(
                "tile is missing: k_order = 'stream-k' needs the rows and columns of an output tile, as [128, 128]"
            )
        self._set_pair("tile", "[rows, columns]", ("rows", "columns"))
        if (self.tiles is None) == (self.workers is None):
            given = "neither" if self.tiles is None else "both"
            raise ValueError(
                f"k_order = 'stream-k' needs either tiles, a list for each output tile, or workers; got {given}"
            )
        if self.workers is not None:
            check_int("workers", self.workers, 1, MAX_INSTRUCTIONS)
        if self.tiles is not None:
            object.__setattr__(self, "tiles", checked_tiles(self.tiles))

    def _check_combinations(self) -> None:
        """Refuse keys that no rule combines."""
        if self.stripes is not None and self.k_order in ("reverse", "stream-k"):
            raise ValueError(f"stripes must be left out with k_order = {self.k_order!r}, got {list(self.stripes)}")
        if self.split_sum == "in-place" and self.epilogue:
            raise ValueError(
                f"split_sum = 'in-place' rounds the running sum, with no epilogue after it; got {', '.join(self.epilogue)}"
            )
        if self.scale_at == "promotion" and (self.k_order != "ascending" or self.stripes is not None):
            raise ValueError("scale_at = 'promotion' needs k_order = 'ascending' and no stripes: a group has one scale")

    @property
    def chosen(self) -> dict[str, Any]:
        """The keys that are not the defaults, without the model."""
        keys = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "model"}
        return {key: value for key, value in keys.items() if value != getattr(GemmOrder, key)}

    def __repr__(self) -> str:
        keys = self.chosen if self.model is None else {"model": self.model, **self.chosen}
        return f"GemmOrder({', '.join(f'{key}={value!r}' for key, value in keys.items())})"

    @property
    def adds(self) -> bool:
        """Whether anything is computed outside of the instructions."""
        sums = self.promote_every > 0 or self.split_k > 1 or self.k_order == "stream-k" or self.stripes is not None
        return sums or self.scale_at == "promotion" or bool(self.epilogue) or self.output is not None

    @property
    def converts(self) -> bool:
        """Whether operands are of fp32 and become numbers of the instruction's format."""
        return self.convert is not None or self.passes is not None

    @property
    def starts_from_c(self) -> bool:
        """Whether the first sum starts from C; else C enters in the epilogue."""
        return not any(step in USES_C for step in self.epilogue)

    def result_format(self, model: Instruction | Unit) -> Format:
        """The format of D for an instruction or a unit: the order's `output`, or the model's own."""
        return model.operation.d if self.output is None else FORMATS[self.output]

    def check(self, model: Instruction | Unit) -> None:
        """Raise ValueError if the order does not fit the instruction or the unit."""
        if self.model is not None and model != self.model:
            raise ValueError(
                f"the order names {self.model.name}, got {model.name}; give that one, or an order without a model"
            )
        d = model.operation.d
        if self.adds and d not in [FORMATS[name] for name in ADDED_FORMATS]:
            raise ValueError(
                f"promotion, split-K and stream-K add in floating point; {model.name} gives {d}: "
                f"take promote_every = 0, split_k = 1 and k_order = 'ascending'"
            )
        if self.promote_every and d == FP64:
            raise ValueError(
                f"promote_every adds to an fp32 accumulator, which does not hold fp64; {model.name} gives {d}: "
                f"take promote_every = 0"
            )
        if (self.epilogue or self.output or self.scale_at == "promotion" or self.split_sum != "fp32") and d == FP64:
            raise ValueError(f"epilogue, output, scale_at and split_sum are of fp32, not of fp64; {model.name} gives {d}")
        self._check_sizes(model)

    def _check_sizes(self, model: Instruction | Unit) -> None:
        """Raise ValueError if a size along K is not of whole instructions of the model, or of whole groups with a scale."""
        k = instruction_products(model)
        group = k * max(self.promote_every, 1)
        sizes = {"split_tile": self.split_tile, "k_tile": self.k_tile, "width of stripes": (self.stripes or (1, None))[1]}
        is_padded = model.operation.block_size is None  # each part by itself
        for key, size in sizes.items():
            if size is not None and size % k and not (key == "split_tile" and is_padded):
                raise ValueError(
                    f"{key} must be a multiple of the {k} products of one instruction of {model.name}, got {size}"
                )
        if model.operation.block_size is not None and (isinstance(self.k_order, tuple) or self.residue == "first"):
            what = "residue = 'first'" if self.residue == "first" else "a permutation of k"
            raise ValueError(f"{what} is for operations without block scales; {model.name} has scales")
        self._check_formats(model)
        if self.scale_at != "promotion":
            return
        if model.operation.block_size is not None:
            raise ValueError(f"scale_at must be 'unit' for {model.name}, which applies block scales itself, got 'promotion'")
        if self.split_k > 1 and (self.split_tile is None or not self.promote_every or self.split_tile % group):
            raise ValueError(
                f"split_tile must be a multiple of the {group} products that share a scale, and promote_every above 0, "
                f"for scale_at = 'promotion' with split_k; got {self.split_tile} and {self.promote_every}"
            )

    def _check_formats(self, model: Instruction | Unit) -> None:
        """Raise ValueError if operands of fp32 cannot become the model's."""
        wanted = (TF32, BF16) if self.passes is None else (PASSES[self.passes][0],)
        if self.converts and (model.a not in wanted or model.b != model.a):
            key = "convert" if self.passes is None else f"passes = {self.passes!r}"
            raise ValueError(
                f"{key} is for instructions on {' or '.join(map(str, wanted))}; {model.name} takes {model.a} and {model.b}"
            )

    def regions(self, M: int, N: int, instructions: int, k: int, pieces: Pieces | None = None) -> Iterator[Region]:
        """Parts of D [M, N], each with the plan of its `instructions` of k products along K.

        Args:
            pieces: the parts of K where a layout has cut them; None: whole instructions are cut here.

        Raises:
            ValueError: `tiles` do not fit the shape.
        """
        if self.tile is None:
            if pieces is not None:
                pass
            elif self.split_tile is None:
                pieces = split(instructions, self.split_k)
            else:
                pieces = split_by_tile(instructions, self.split_k, self.split_tile // k)
            stripes = None if self.stripes is None else (self.stripes[0], self.stripes[1] // k)
            reverse = self.k_tile // k if self.k_tile is not None and self.k_order == "reverse" else None
            yield slice(0, M), slice(0, N), plan(pieces, stripes, reverse)
            return
        rows, columns = (range(0, length, side) for length, side in zip((M, N), self.tile, strict=True))
        of_tiles = self._stream_k(len(rows) * len(columns), (M, N), instructions)
        for i in rows:
            for j in columns:
                yield slice(i, min(i + self.tile[0], M)), slice(j, min(j + self.tile[1], N)), plan(next(of_tiles))

    def _stream_k(self, count: int, shape: tuple[int, int], instructions: int) -> Iterator[Pieces]:
        if self.workers is not None:
            return shared(count, instructions, self.workers)
        assert self.tiles is not None
        if len(self.tiles) != count:
            raise ValueError(
                f"tiles must have a list for each of the {count} output tiles of {self.tile} in D of {shape}, "
                f"got {len(self.tiles)}"
            )
        listed = max(end for _, end in self.tiles[0])
        if listed != instructions:
            raise ValueError(f"tiles must name the instructions 0 to {instructions - 1} along K, got 0 to {listed - 1}")
        return iter(self.tiles)


def instruction_products(model: Instruction | Unit) -> int:
    """Products along K of one instruction. For a unit: of one step, or `usual_K` with a table [chain], rounded up to whole
    blocks of its scales."""
    return lcm(model.usual_K, model.operation.block_size or 1)
