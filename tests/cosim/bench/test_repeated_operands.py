"""Streams repeat operands from one vector to the next, and have every pair of classes of results back to back."""

from collections import Counter
from itertools import pairwise

import pytest

from cosim.bench.products import Vector
from cosim.bench.stimulus import specification_of
from golden.stimulus import CLASSES
from rtl import Design, UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT, Board
from tests.cosim.bench.test_stimulus import CONVERTED, SCALED, TWO_STEPS, VOLTA, vectors_of
from tests.rtl.designs.test_design import formats

DESIGNS = [pytest.param(UnitDesign(T_UNIT), id="unit"), TWO_STEPS, VOLTA, SCALED, CONVERTED, formats()]


def held(vectors: list[Vector], ports: tuple[str, ...]) -> Counter[frozenset[str]]:
    """How often ports keep their values from the last transfer of a vector to the first of the next."""
    pairs = [(first.transfers[-1], second.transfers[0]) for first, second in pairwise(vectors)]
    return Counter(frozenset(port for port in ports if a[port] == b[port]) for a, b in pairs)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_stream_repeats_operands(design: Design, seed: int) -> None:
    found = held(vectors_of(design, 4000, seed), ("a", "b"))
    assert min(found[frozenset(ports)] for ports in ("a", "b", "ab")) >= 2


def test_a_stream_repeats_c_alone_and_everything() -> None:
    found = held(vectors_of(UnitDesign(T_UNIT), 4000, 0), ("a", "b", "c"))
    assert min(found[frozenset(ports)] for ports in ("a", "b", "c", "ab", "ac", "bc", "abc")) >= 2


@pytest.mark.slow
def test_rows_of_corners_stay_as_they_are() -> None:
    """Repeating costs a tenth of the rows of random classes, and a few more are copies of rows with rare results."""
    vectors = vectors_of(UnitDesign(T_UNIT), 20_000, 0)
    made = Counter(vector.elements[0].products.made_by(vector.elements[0].row) for vector in vectors)
    random = sum(made[name] for name in CLASSES)
    assert 1500 < made["repeated"] < 2200
    assert 9_700 < random + made["repeated"] <= 10_000


def test_lanes_repeat_together() -> None:
    vectors = [vector for chunk in specification_of(UnitDesign(T_UNIT), 4).chunks(4000, 0) for vector in chunk.vectors]
    found = held(vectors, ("a", "b", "c"))
    assert found[frozenset("ab")] >= 2


@pytest.mark.parametrize("vectors", [1, 2, 16, 100])
def test_short_streams_are_whole(vectors: int) -> None:
    assert len(vectors_of(UnitDesign(T_UNIT), vectors, 0)) == vectors


def test_every_pair_of_classes_of_results_comes() -> None:
    board = Board(T_UNIT, 4000)
    for vector in board.all:
        board.send(vector)
        board.receive(vector.elements[0].products.expected[vector.elements[0].row])
    found = board.outcome().result_pairs
    names = {name for pair in found for name in pair.split(", ")}
    assert len(names) >= 8
    assert {f"{first}, {second}" for first in names for second in names} == set(found)
