"""Selected vectors have the numbers and the operands of the whole run; the excluded ones are counted."""

import json
from dataclasses import asdict

import pytest

from cosim.bench.products import Vector
from cosim.bench.scoreboard import Scoreboard, Selection
from cosim.bench.stimulus import specification_of
from cosim.runner.job import read
from rtl import Design, UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT
from tests.cosim.bench.test_stimulus import TWO_STEPS, answered
from tests.rtl.designs.test_design import formats

UNIT = UnitDesign(T_UNIT)


def sent(design: Design, count: int, selection: Selection | None = None, first: int = 0) -> tuple[list[Vector], Scoreboard]:
    """The vectors of a run, each with golden's result."""
    board = Scoreboard(specification_of(design), count, seed=3, selection=selection, first=first)
    vectors = list[Vector]()

    def kept(vector: Vector, result: int) -> int:
        vectors.append(vector)
        return result

    return vectors, answered(board, kept)


def made_by(vector: Vector) -> set[str]:
    return {element.products.made_by(element.row) for element in vector.elements}


@pytest.mark.slow
@pytest.mark.parametrize("design", [UNIT, formats(1), TWO_STEPS], ids=lambda design: design.name)
def test_one_vector_is_that_of_the_whole_run(design: Design) -> None:
    whole, _ = sent(design, 300)
    for number in (0, 77, 299):
        (vector,), board = sent(design, 300, Selection(vector=number))
        assert (vector.number, vector.transfers) == (number, whole[number].transfers)
        assert (board.left_out, board.failures) == (299, ())


def test_only_some_classes() -> None:
    whole, _ = sent(UNIT, 1000)
    vectors, board = sent(UNIT, 1000, Selection(only=("ties", "normal")))
    wanted = [vector for vector in whole if made_by(vector) & {"ties", "normal"}]
    assert 0 < len(wanted) < 1000
    assert [(v.number, v.transfers) for v in vectors] == [(v.number, v.transfers) for v in wanted]
    outcome = board.outcome()
    assert set(outcome.classes) == {"ties", "normal"}
    assert (outcome.left_out, outcome.selected, outcome.failures) == (1000 - len(wanted), len(wanted), ())
    assert outcome.checked == sum(min(64, count) for count in outcome.classes.values())


def test_all_but_some_classes() -> None:
    whole, _ = sent(UNIT, 1000)
    vectors, board = sent(UNIT, 1000, Selection(exclude=("ties",)))
    assert [vector.number for vector in vectors] == [vector.number for vector in whole if made_by(vector) != {"ties"}]
    assert "ties" not in board.outcome().classes
    assert board.failures == ()


def test_class_of_every_format_by_its_plain_name() -> None:
    design = formats(2)
    vectors, _ = sent(design, 600, Selection(only=("normal",)))
    assert {name.partition(": ")[2] for vector in vectors for name in made_by(vector)} == {"normal"}
    assert len({name for vector in vectors for name in made_by(vector)}) == len(design.units)
    one = next(iter(made_by(vectors[0])))
    assert {name for vector in sent(design, 600, Selection(only=(one,)))[0] for name in made_by(vector)} == {one}


def test_tile_is_chosen_by_any_of_its_elements() -> None:
    vectors, _ = sent(TWO_STEPS, 100, Selection(only=("ties",)))
    assert vectors
    assert all("ties" in made_by(vector) for vector in vectors)


def test_vectors_of_a_later_simulation_go_on_counting() -> None:
    (vector,), board = sent(UNIT, 100, Selection(vector=1042), first=1000)
    assert (vector.number, board.left_out) == (1042, 99)
    assert vector.transfers == sent(UNIT, 100)[0][42].transfers


def test_vector_that_was_chosen_and_not_sent_fails() -> None:
    board = Scoreboard(specification_of(UNIT), 300, seed=3, selection=Selection(vector=5))
    assert len(list(board.vectors())) == 1
    assert "0 of 1 vectors went in" in board.failures


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(only=("tie",)), r"the class to only must be one of .*; got 'tie' \(did you mean 'ties'"),
        (
            Selection(exclude=("specals",)),
            r"the class to exclude must be one of .*; got 'specals' \(did you mean 'specials'",
        ),
        (Selection(vector=300), "the number of a vector must be from 0 to 299, got 300"),
    ],
)
def test_unknown_choice_refused(selection: Selection, message: str) -> None:
    classes = [name for part in next(specification_of(UNIT).chunks(10, 0)).products for name in part.classes()]
    with pytest.raises(ValueError, match=message):
        selection.check(classes, 300)
    with pytest.raises(ValueError, match=r"^the number of a vector must be at least 0, got -1$"):
        Selection(vector=-1)


def test_selection_survives_json() -> None:
    selection = Selection(only=("ties",), exclude=("normal",), vector=3)
    assert read(Selection, json.loads(json.dumps(asdict(selection)))) == selection


def test_fail_fast_stops_at_the_first_mismatch() -> None:
    board = Scoreboard(specification_of(UNIT), 100, seed=3, fail_fast=True)
    for vector in board.vectors():
        board.send(vector)
        board.receive(vector.elements[0].products.expected[vector.elements[0].row] ^ (vector.number >= 7))
        if board.stopped is not None:
            break
    assert (board.received, board.stopped) == (8, "stopped at the first mismatch, vector 7")
