"""Runs of vectors that repeat operands of the vector before, for designs that keep or count them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from cosim.bench.products import DotProducts, Vector
from cosim.bench.waits import class_numbers
from golden.stimulus import CLASSES, Operands, Stimulus, Tiles

REPEATED = "repeated"
"""The class of a vector that has operands of the previous vector."""

EVERY = 192
"""Number of vectors for each run of repeated operands; a shorter stream has one run."""

LENGTHS = (*(2,) * 12, *(3,) * 4, *(4,) * 4, *(20,) * 3, 80)
"""Lengths of runs (vectors), all equally likely: mostly pairs, and long runs for designs that count repetitions."""


LONG = 272
"""Length of the longer run at the beginning of each large chunk (vectors), for designs that count repetitions in 8 bits."""

BLOCK_OF_LONG = 1024
"""Number of vectors among which the rows of the longer run are chosen."""

RARE = 128
"""A class of results that a chunk has at all makes up at least one row in 128."""

LARGE = 2048
"""Number of vectors from which a chunk is large and has a longer run."""


@dataclass(frozen=True)
class Run:
    """Consecutive vectors with equal operands.

    Attributes:
        first: place of its first vector, which is as the stimulus has it.
        length: number of vectors. held: names of the operands that are equal in all of them.
    """

    first: int
    length: int
    held: frozenset[str]

    @property
    def all(self) -> slice:
        """The places of its vectors."""
        return slice(self.first, self.first + self.length)

    @property
    def later(self) -> slice:
        """The places of the vectors that repeat the first one's operands."""
        return slice(self.first + 1, self.first + self.length)


def gathered(stimulus: Stimulus, of_vector: int, rng: np.random.Generator, part: int) -> tuple[Stimulus, list[Run]]:
    """Choose runs, and move rows of random classes into them: rows of corners are never changed.

    Args:
        of_vector: rows of a vector. part: number of the chunk; in each other one the long run holds every operand.

    Returns:
        The rows in an order in which the vectors of each run are of random classes alone; and the runs.
    """
    vectors = len(stimulus) // of_vector
    is_random = np.isin(stimulus.label, [n for n, name in enumerate(stimulus.names) if name in CLASSES])
    order, runs = np.arange(len(stimulus)), []
    kinds = _kinds(stimulus.operands, rng)
    every = frozenset(name for name, codes in stimulus.operands._asdict().items() if codes is not None)
    for start, end in _blocks(vectors):
        is_long = end - start > EVERY
        places = np.arange(start * of_vector, end * of_vector)
        random = places[is_random[places]]
        wanted = min(LONG, vectors // 12) if is_long else min(int(rng.choice(LENGTHS)), vectors // 16 + 2)
        length = min(wanted, len(random) // of_vector)
        if length < 2:
            continue
        chosen = random[: length * of_vector]
        order[places] = np.concatenate([chosen, np.setdiff1d(places, chosen)])
        runs.append(Run(start, length, every if is_long and part % 2 == 0 else next(kinds)))
    return stimulus.rows(order), runs


def _blocks(vectors: int) -> list[tuple[int, int]]:
    """The first vector of each block with a run, and the one behind its last: a large chunk begins with a long block."""
    first = BLOCK_OF_LONG if vectors >= LARGE else 0
    further = (min(start + EVERY, vectors) for start in range(first, vectors - 1, EVERY))
    return list(pairwise([*dict.fromkeys((0, first)), *further]))


def repeated(stimulus: Stimulus, runs: Sequence[Run], of_vector: int) -> Stimulus:
    """The rows with the operands that their runs hold; the changed rows have the class `REPEATED`."""
    label, names = stimulus.label.copy(), (*stimulus.names, REPEATED)
    arrays = {name: None if codes is None else codes.copy() for name, codes in stimulus.operands._asdict().items()}
    for run in runs:
        label[run.later.start * of_vector : run.later.stop * of_vector] = len(names) - 1
        for name in run.held:
            codes = arrays[name]
            assert codes is not None
            by_vector = codes[: len(codes) // of_vector * of_vector].reshape(-1, of_vector, *codes.shape[1:])
            by_vector[run.later] = by_vector[run.first]
    return Stimulus(Operands(**arrays), label, names)  # type: ignore[arg-type]


def with_rare_results(products: DotProducts, runs: Sequence[Run], of_vector: int) -> DotProducts:
    """The rows with copies of those whose results are of a rare class, in the place of rows of random classes with results
    of the most frequent one: each class must meet gaps and stalls of many lengths. Runs of repeated operands stay."""
    found = np.array(class_numbers(products))
    counts = np.bincount(found)
    is_free = np.isin(products.label, [n for n, name in enumerate(products.stimulus.names) if name in CLASSES])
    is_free &= found == counts.argmax()
    for run in runs:
        is_free[run.first * of_vector : run.later.stop * of_vector] = False
    free, order = np.flatnonzero(is_free), np.arange(len(found))
    for number in np.flatnonzero((counts > 0) & (counts < len(found) // RARE)).tolist():
        taken, free = np.split(free, [len(found) // RARE - int(counts[number])])
        order[taken] = np.resize(np.flatnonzero(found == number), len(taken))
    return products.rows(order)


def repeat_in_tiles(
    tiles: Tiles, runs: Sequence[Run], products: Sequence[Sequence[int]], scales: Sequence[Sequence[int]]
) -> Tiles:
    """The tiles with the operands that their runs hold: equal in every step of every tile, the first one's among them; but
    for scales of a block that several steps share.

    Args:
        products: the k of each step. scales: the blocks of each step; none where unscaled.
    """
    arrays = [None if codes is None else codes.copy() for codes in (tiles.a, tiles.b, tiles.c, tiles.scale_a, tiles.scale_b)]
    for run in runs:
        for name, codes in zip(Operands._fields, arrays, strict=True):
            if name not in run.held or codes is None:
                continue
            if name == "c":
                codes[run.all] = codes[run.first]
                continue
            steps = products if name in ("a", "b") else scales
            for step in steps:
                codes[run.all, :, step] = codes[run.first][:, steps[0]]
    return Tiles(*arrays)


def blocks_of(vectors: Sequence[Vector], runs: Sequence[Run]) -> list[Sequence[Vector]]:
    """The vectors in blocks, which must not be taken apart: a run is one, any other vector is one by itself."""
    blocks: list[Sequence[Vector]] = []
    place = 0
    for run in runs:
        blocks += [(vector,) for vector in vectors[place : run.first]]
        place = run.later.stop
        blocks.append(vectors[run.first : place])
    return [*blocks, *((vector,) for vector in vectors[place:])]


def _kinds(operands: Operands, rng: np.random.Generator) -> Iterator[frozenset[str]]:
    """Sets of operands that a run holds, each set once before any comes again."""
    names = [name for name, codes in operands._asdict().items() if codes is not None]
    kinds = [frozenset(kind) for count in range(1, len(names) + 1) for kind in combinations(names, count)]
    while True:
        yield from (kinds[n] for n in rng.permutation(len(kinds)))
