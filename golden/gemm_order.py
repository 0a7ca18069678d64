"""How a whole matrix product spends its steps: promotion, split-K and stream-K, as an object and as a file, gemm.toml."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from golden.catalogue import instruction as find_instruction
from golden.checks import check_choice, check_int, check_type, unknown
from golden.files import read_toml
from golden.instruction import Instruction
from golden.unit import Unit
from golden.unit_file import load_unit

K_ORDERS = ("ascending", "stream-k")
"""One worker, or `split_k` of them, for every output tile; or workers that take even shares of all tiles' instructions."""

MAX_INSTRUCTIONS = 1 << 30
"""Most instructions along K, workers, and elements along a side of a tile, that are accepted."""

Piece = tuple[int, int]
"""Consecutive instructions along K, which one worker sums: the number of the first, and the one after the last."""

Pieces = tuple[Piece, ...]
"""The pieces of one output tile, in the order in which their sums are added."""

Region = tuple[slice, slice, Pieces]
"""Rows and columns of D that share their pieces, and these."""

ADDED_FORMATS = ("fp16", "bf16", "fp32", "fp64")
"""Formats of d whose sums can be added; with promotion all but fp64, which an fp32 accumulator does not hold."""


@dataclass(frozen=True, kw_only=True)
class GemmOrder:
    """How `golden.gemm` spends the instructions of a matrix product (numerics.md, section 12).

    Attributes:
        model: the instruction or the unit; None leaves it to `golden.gemm`.
        promote_every: instructions whose sum, started from +0, is then added to an fp32 accumulator; 0: never.
        split_k: parts of K, equal but for the first ones, which have an instruction more where it does not go into them.
        k_order: one of `K_ORDERS`.
        tile: rows and columns of an output tile, under stream-k alone.
        tiles: the pieces of every output tile, row by row of tiles; under stream-k alone, instead of `workers`.
        workers: how many share all tiles' instructions evenly, tile after tile; under stream-k alone, instead of `tiles`.
    """

    model: Instruction | Unit | None = None
    promote_every: int = 0
    split_k: int = 1
    k_order: str = "ascending"
    tile: tuple[int, int] | None = None
    tiles: tuple[Pieces, ...] | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.model is not None:
            check_type("model of an order", self.model, Instruction, Unit)
        check_int("promote_every", self.promote_every, 0, MAX_INSTRUCTIONS)
        check_int("split_k", self.split_k, 1, MAX_INSTRUCTIONS)
        check_choice("k_order", self.k_order, K_ORDERS)
        if self.k_order == "stream-k":
            self._check_stream_k()
        else:
            for key in ("tile", "tiles", "workers"):
                if getattr(self, key) is not None:
                    raise ValueError(
                        f"{key} is for k_order = 'stream-k' alone, got k_order = {self.k_order!r}; leave it out"
                    )
        if self.model is not None:
            self.check(self.model)

    def _check_stream_k(self) -> None:
        if self.split_k != 1:
            raise ValueError(f"split_k must be 1 under k_order = 'stream-k', whose pieces its tiles say; got {self.split_k}")
        if self.tile is None:
            raise ValueError(
                "tile is missing: k_order = 'stream-k' needs the rows and columns of an output tile, as [128, 128]"
            )
        object.__setattr__(self, "tile", _pair("tile", self.tile, "[rows, columns]"))
        for side, size in zip(("rows", "columns"), self.tile, strict=True):
            check_int(f"{side} of tile", size, 1, MAX_INSTRUCTIONS)
        if (self.tiles is None) == (self.workers is None):
            given = "neither" if self.tiles is None else "both"
            raise ValueError(
                f"k_order = 'stream-k' needs either tiles, a list for each output tile, or workers; got {given}"
            )
        if self.workers is not None:
            check_int("workers", self.workers, 1, MAX_INSTRUCTIONS)
        if self.tiles is not None:
            object.__setattr__(self, "tiles", checked_tiles(self.tiles))

    @property
    def adds(self) -> bool:
        """Whether there may be additions outside of the instructions."""
        return self.promote_every > 0 or self.split_k > 1 or self.k_order == "stream-k"

    def check(self, model: Instruction | Unit) -> None:
        """Raise ValueError where the order cannot be that of an instruction or a unit."""
        if self.model is not None and model != self.model:
            raise ValueError(
                f"the order is that of {self.model.name}, got {model.name}; give that one, or an order without a model"
            )
        d = model.operation.d
        if self.adds and d.name not in ADDED_FORMATS:
            raise ValueError(
                f"promotion, split-K and stream-K add in floating point; {model.name} gives {d}: "
                f"take promote_every = 0, split_k = 1 and k_order = 'ascending'"
            )
        if self.promote_every and d.name == "fp64":
            raise ValueError(
                f"promote_every adds to an fp32 accumulator, which does not hold fp64; {model.name} gives {d}: "
                f"take promote_every = 0"
            )

    def regions(self, M: int, N: int, instructions: int) -> Iterator[Region]:
        """Parts of D [M, N], with the pieces that their `instructions` along K make.

        Raises:
            ValueError: `tiles` are those of another shape.
        """
        if self.tile is None:
            yield slice(0, M), slice(0, N), split(instructions, self.split_k)
            return
        rows, columns = (range(0, length, side) for length, side in zip((M, N), self.tile, strict=True))
        pieces = self._stream_k(len(rows) * len(columns), (M, N), instructions)
        for i in rows:
            for j in columns:
                yield slice(i, min(i + self.tile[0], M)), slice(j, min(j + self.tile[1], N)), next(pieces)

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


def split(instructions: int, parts: int) -> Pieces:
    """Equal parts, in order; the first ones have an instruction more where it does not go into them, and parts without an
    instruction are left out."""
    share, longer = divmod(instructions, parts)
    begins = [part * share + min(part, longer) for part in range(min(parts, instructions) + 1)]
    return tuple(pairwise(begins))


def shared(count: int, instructions: int, workers: int) -> Iterator[Pieces]:
    """The pieces of each of `count` output tiles where workers take even, consecutive shares of all their instructions.

    The first workers have an instruction more where it does not go into them. Where a share ends within a tile, the tile is
    cut; its pieces are added from the lowest instruction on. This is basic stream-K of M. Osama et al., "Stream-K:
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
    """Lists of pieces, each of which has every instruction once.

    Raises:
        TypeError, ValueError: no such lists, or an instruction that is missing or there twice.
    """
    if not isinstance(tiles, (list, tuple)) or not tiles:
        raise ValueError(f"tiles must be a list with a list of pieces for each output tile, got {tiles!r:.80}")
    made: list[Pieces] = []
    for number, pieces in enumerate(tiles):
        what = f"output tile {number} of tiles"
        if not isinstance(pieces, (list, tuple)) or not pieces:
            raise ValueError(f"{what} must be a list of pieces [first, end] of its instructions, got {pieces!r:.80}")
        pairs = tuple(_pair(f"a piece of {what}", piece, "[first, end]") for piece in pieces)
        _check_cover(what, pairs, None if not made else max(end for _, end in made[0]))
        made.append(pairs)
    return tuple(made)


def _pair(what: str, value: Any, names: str) -> tuple[int, int]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError(f"{what} must be two integers {names}, got {value!r:.80}")
    return (value[0], value[1])


def _check_cover(what: str, pieces: Pieces, instructions: int | None) -> None:
    """Raise unless the pieces, in whatever order, are the instructions from 0 on, as many as in the first tile."""
    for first, end in pieces:
        check_int(f"the first instruction of a piece of {what}", first, 0, MAX_INSTRUCTIONS - 1)
        check_int(f"the end of a piece of {what} that begins at {first}", end, first + 1, MAX_INSTRUCTIONS)
    reached = 0
    for first, end in sorted(pieces):
        if first != reached:
            raise ValueError(f"{what} must have every instruction once, in one of its pieces; instruction "
                             f"{min(first, reached)} is {'missing' if first > reached else 'there twice'}")  # fmt: skip
        reached = end
    if instructions is not None and reached != instructions:
        raise ValueError(
            f"every output tile of tiles must have as many instructions; tile 0 has {instructions}, {what} {reached}"
        )


KEYS = ("instruction", "unit", *(field.name for field in fields(GemmOrder) if field.name != "model"))
"""The keys of a gemm.toml."""


def load_order(path: str | Path) -> GemmOrder:
    """Read a gemm.toml: how a whole matrix product spends its steps.

    Its keys are `instruction`, "ARCH:NAME" of the catalogue, or `unit`, the path of a unit's file relative to this one, or
    neither; and the attributes of `GemmOrder` but `model`.

    Raises:
        ValueError: not TOML, or a key that is unknown or out of range; the message names key, rule and value.
        OSError: the file, or that of the unit, cannot be read.
    """
    table = read_toml(path)
    try:
        return order_from_table(table, Path(path).parent)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def order_from_table(table: dict[str, Any], folder: Path) -> GemmOrder:
    """The order that a parsed TOML table describes.

    Args:
        folder: what the path of a unit's file is relative to.

    Raises:
        ValueError, TypeError, OSError: as `load_order`, without the path.
    """
    for key in table:
        if key not in KEYS:
            raise ValueError(unknown("key", key, KEYS))
    keys = dict(table)
    name, unit = keys.pop("instruction", None), keys.pop("unit", None)
    if name is not None and unit is not None:
        raise ValueError(f"give instruction or unit, not both; got instruction = {name!r}, unit = {unit!r}")
    model: Instruction | Unit | None = None
    if name is not None:
        model = _named(name)
    if unit is not None:
        if not isinstance(unit, str) or not unit:
            raise ValueError(f"unit must be the path of a unit's file, got {unit!r}")
        model = load_unit(folder / unit)
    return GemmOrder(model=model, **keys)


def _named(name: Any) -> Instruction:
    arch, colon, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not colon:
        raise ValueError(
            f'instruction must be "ARCH:NAME", as "sm_90:wgmma.m64n128k32.f32.e4m3.e4m3"; got {name!r}'
        )  # fmt: skip
    return find_instruction(arch, rest)
