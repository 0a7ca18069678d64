"""Streams of vectors: few exist at a time, the same for the same count and seed, and nothing of the stimulus is lost."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cosim.bench import stimulus
from cosim.bench.products import Vector
from cosim.bench.stimulus import specification_of
from golden.stimulus import OperandShape, generate
from rtl import Design, UnitDesign
from tests.cosim.bench.test_stimulus import SCALED, TWO_STEPS, dot_products, formats, vectors_of

UNIT = UnitDesign(formats(0).units[1])

ROOT = Path(__file__).parents[3]


def shown(vectors: list[Vector]) -> list[tuple[object, ...]]:
    """What is sent and what must come back."""
    return [
        (*vector.transfers, *(element.products.expected[element.row] for element in vector.elements)) for vector in vectors
    ]


def diagonal(vectors: list[Vector]) -> list[tuple[object, ...]]:
    """Operands and class of the elements that are rows of the stimulus, in order."""
    rows = []
    for vector in vectors:
        for element in vector.elements:
            operands, name = dot_products(element.products).stimulus.operands, element.products.made_by(element.row)
            if element.place in ("", "element [0][0]", "element [1][1]"):
                rows.append((name, *(None if part is None else part[element.row].tobytes() for part in operands)))
    return rows


@pytest.mark.parametrize("design", [UNIT, formats(1), TWO_STEPS, SCALED], ids=lambda design: design.name)
def test_count_and_seed_give_the_same_stream(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stimulus, "CHUNK", 100)
    first = shown(vectors_of(design, 333, seed=1))
    assert len(first) == 333
    assert shown(vectors_of(design, 333, seed=1)) == first
    assert shown(vectors_of(design, 333, seed=2)) != first


def test_stream_of_a_unit_is_the_stimulus_whatever_its_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generate(OperandShape.of_operation(UNIT.operation), 20_000, 3)
    expected = UNIT.unit.dot(*whole.operands).tolist()
    for chunk in (1 << 20, 4096, 777):
        monkeypatch.setattr(stimulus, "CHUNK", chunk)
        chunks = list(specification_of(UNIT).chunks(20_000, 3))
        assert [len(part.vectors) for part in chunks[:-1]] == [chunk] * (20_000 // chunk if 20_000 % chunk else -1)
        assert [code for part in chunks for code in part.products[0].expected] == expected
        assert np.array_equal(
            np.concatenate([dot_products(part.products[0]).stimulus.operands.a for part in chunks]), whole.operands.a
        )
        assert np.array_equal(
            np.concatenate([dot_products(part.products[0]).stimulus.label for part in chunks]), whole.label
        )


@pytest.mark.parametrize("design", [UNIT, formats(1), TWO_STEPS, SCALED], ids=lambda design: design.name)
def test_rows_of_the_stimulus_are_all_there_whatever_the_chunks(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = diagonal(vectors_of(design, 500, seed=5))
    monkeypatch.setattr(stimulus, "CHUNK", 60)
    parts = diagonal(vectors_of(design, 500, seed=5))
    mixed = isinstance(design, type(formats(1)))
    assert (sorted(parts, key=str) if mixed else parts) == (sorted(whole, key=str) if mixed else whole)


def test_tiles_of_a_chunk_take_rows_from_all_of_it() -> None:
    """Beside the diagonals, so that a design that mixes up rows, columns or tiles differs."""
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
        ("TWO_STEPS", 10_000, 50_000),
    ],
)
def test_more_vectors_take_no_more_memory(design: str, few: int, many: int) -> None:
    """Kept one by one, 10^5 more vectors would take 80 MiB at least, and so would their expected codes in 10^6."""
    command = [sys.executable, "-c", MEASURE, design, str(few), str(many)]
    growth_kib = int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert growth_kib < 8 * 1024
