"""Streams of vectors: few are in memory at a time, equal counts and seeds give equal streams, no stimulus is lost."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cosim.bench import stimulus
from cosim.bench.products import Vector
from cosim.bench.stimulus import specification_of
from golden.stimulus import CORNERS, OperandShape, generate
from rtl import Design, UnitDesign
from tests.cosim.bench.test_stimulus import SCALED, TWO_STEPS, dot_products, vectors_of
from tests.rtl.designs.test_design import formats

UNIT = UnitDesign(formats(0).units[1])

ROOT = Path(__file__).parents[3]


def plain(vectors: list[Vector]) -> list[tuple[object, ...]]:
    """The transfers and expected results, as plain values."""
    return [
        (*vector.transfers, *(element.products.expected[element.row] for element in vector.elements)) for vector in vectors
    ]


def diagonal(vectors: list[Vector]) -> list[tuple[object, ...]]:
    """Operands and corner of the elements that are rows of the stimulus' corners, in order."""
    rows = []
    for vector in vectors:
        for element in vector.elements:
            operands, name = dot_products(element.products).stimulus.operands, element.products.made_by(element.row)
            if element.place in ("", "element [0][0]", "element [1][1]") and name.rpartition(": ")[2] in CORNERS:
                rows.append((name, *(None if part is None else part[element.row].tobytes() for part in operands)))
    return rows


@pytest.mark.parametrize("design", [UNIT, formats(1), TWO_STEPS, SCALED], ids=lambda design: design.name)
def test_count_and_seed_give_the_same_stream(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stimulus, "CHUNK", 100)
    first = plain(vectors_of(design, 333, seed=1))
    assert len(first) == 333
    assert plain(vectors_of(design, 333, seed=1)) == first
    assert plain(vectors_of(design, 333, seed=2)) != first


@pytest.mark.slow
def test_stream_of_a_unit_has_every_corner_of_the_stimulus_for_any_size_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generate(OperandShape.of_operation(UNIT.operation), 20_000, 3)
    of_corner = np.array([name in CORNERS for name in whole.names])[whole.label]
    expected = Counter(UNIT.unit.dot(*whole.operands.rows(of_corner)).tolist())
    for chunk in (1 << 20, 4096, 777):
        monkeypatch.setattr(stimulus, "CHUNK", chunk)
        chunks = list(specification_of(UNIT).chunks(20_000, 3))
        assert [len(part.vectors) for part in chunks[:-1]] == [chunk] * (20_000 // chunk if 20_000 % chunk else -1)
        elements = [vector.elements[0] for part in chunks for vector in part.vectors]
        corners = [each for each in elements if each.products.made_by(each.row) in CORNERS]
        found = Counter(each.products.expected[each.row] for each in corners)
        assert expected <= found  # rows of rare results come again
        assert found.keys() == expected.keys()


@pytest.mark.parametrize("design", [UNIT, formats(1), TWO_STEPS, SCALED], ids=lambda design: design.name)
def test_corners_are_complete_for_any_size_of_chunks(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = diagonal(vectors_of(design, 500, seed=5))
    monkeypatch.setattr(stimulus, "CHUNK", 60)
    parts = diagonal(vectors_of(design, 500, seed=5))
    assert sorted(parts, key=str) == sorted(whole, key=str)


def test_tiles_of_a_chunk_take_rows_from_all_of_it() -> None:
    """Elements beside the diagonals are mixed, so that a design that exchanges rows, columns or tiles differs."""
    made = vectors_of(TWO_STEPS, 300, seed=5)
    of = [dot_products(vector.elements[1].products).stimulus.operands.a[vector.elements[1].row].tobytes() for vector in made]
    assert len(set(of)) > 150


MEASURE = """
import resource, sys
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import specification_of
from tests.cosim.bench import test_stream

design = eval(sys.argv[1], vars(test_stream))

def peak(count):
    board = Scoreboard(specification_of(design), count, seed=1)
    for vector in board.vectors():
        board.send(vector)
        codes = [element.products.expected[element.row] for element in vector.elements]
        board.receive(sum(code << 32 * place for place, code in enumerate(codes)))
    assert (board.received, board.mismatches, board.waiting) == (count, 0, 0)
    assert len(board.sample.rows()) == 200
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(-peak(int(sys.argv[2])) + peak(int(sys.argv[3])))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "few", "many"),
    [
        pytest.param("UNIT", 100_000, 1_000_000, marks=pytest.mark.long),
        pytest.param("formats(1)", 30_000, 150_000, marks=pytest.mark.long),
        ("TWO_STEPS", 5_000, 25_000),
    ],
)
def test_more_vectors_take_no_more_memory(design: str, few: int, many: int) -> None:
    """Stored one by one, 10^5 more vectors would take at least 80 MiB, as would the expected codes of 10^6."""
    command = [sys.executable, "-c", MEASURE, design, str(few), str(many)]
    growth_kib = int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert growth_kib < 8 * 1024
