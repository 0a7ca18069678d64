"""A user's specification, a dot product whose result is scaled, and callbacks for every vector."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from cocotb.types import Logic, LogicArray

import golden
from cosim.bench import Bits, Chunk, Compare, Inverted, Lanes, Result, Scoreboard, Specification, Vector, user_rows
from golden.arithmetic.formats import FP16, FP32, TF32
from golden.operations import FMA, TFDPA
from golden.stimulus import OperandShape, chunks
from tests.cosim.bench import test_stimulus as stimulus

DOT = golden.Unit(name="dot", operation=TFDPA(a=FP16, b=FP16, c=FP32, L=2, F=25, rho="RZ-FP32", e_zero=-133))
MULTIPLY = golden.Unit(name="multiply", operation=FMA(a=FP32, b=FP32, c=FP32))
MINUS_ZERO = np.uint32(1 << 31)


@dataclass
class Scaled(Specification):
    """d = scale · (c + Σ a_k·b_k), where the sum and the product are each rounded as in their unit."""

    asked: tuple[str | None, ...] = ()

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        rng = np.random.default_rng(seed)
        for part in chunks(OperandShape.of_operation(DOT.operation), count, seed, 100):
            a, b, c, *_ = part.operands
            scale = rng.integers(1 << 32, size=len(part), dtype=np.uint32)
            ports = {"a": (a, FP16), "b": (b, FP16), "c": (c, FP32), "scale": (scale, FP32)}
            yield user_rows(ports, FP32, self.model, engine, part.label, part.names).chunk()

    def model(self, ports: Mapping[str, Any], engine: str | None) -> Any:
        self.asked += (engine,)
        total = DOT.dot(ports["a"], ports["b"], ports["c"], engine=engine)
        zero = np.full(len(total), MINUS_ZERO)
        return MULTIPLY.dot(total[:, None], ports["scale"][:, None], zero, engine=engine)


def answered(board: Scoreboard, wrong: int | None = None) -> Scoreboard:
    """The board after a design has returned every expected result, except for one vector."""
    return stimulus.answered(board, lambda vector, code: code ^ (vector.number == wrong))


def returning(answers: list[int], board: Scoreboard) -> Scoreboard:
    return stimulus.answered(board, lambda vector, code: answers[vector.number])


def test_user_specification_passes_and_is_covered_and_checked() -> None:
    specification = Scaled()
    outcome = answered(Scoreboard(specification, 300, seed=1)).outcome()
    assert outcome.failures == ()
    assert (outcome.received, outcome.checked) == (300, 200)
    assert "normal" in outcome.classes
    assert sum(outcome.classes.values()) == 300
    assert sum(outcome.result_classes.values()) == 300
    assert specification.asked == ("native",) * 3 + ("reference",) * 200


def test_transfers_show_every_port() -> None:
    vector = next(iter(Scaled().chunks(1, 1))).vectors[0]
    rows = vector.elements[0].products
    (transfer,) = vector.transfers
    shown = dict(line.split()[:3:2] for line in rows.described(0, 0)[:-2])
    assert transfer["a"] == int(shown["a[0]"], 16) | int(shown["a[1]"], 16) << 16
    assert transfer["c"] == int(shown["c"], 16)
    assert transfer["scale"] == int(shown["scale"], 16)


def test_wrong_bit_is_found_and_shown_with_every_port() -> None:
    outcome = answered(Scoreboard(Scaled(), 300, seed=1), wrong=77).outcome()
    assert outcome.failures == ("1 of 300 results differ from the golden model",)
    assert outcome.first_mismatch is not None
    first, *lines = outcome.first_mismatch.splitlines()
    assert first.startswith("vector 77 (")
    assert [line.split()[0] for line in lines] == ["a[0]", "a[1]", "b[0]", "b[1]", "c", "scale", "got", "expected"]


def test_model_that_another_engine_contradicts_fails() -> None:
    class Wrong(Scaled):
        def model(self, ports: Mapping[str, Any], engine: str | None) -> Any:
            return super().model(ports, engine) ^ np.uint32(engine == "reference")

    failures = answered(Scoreboard(Wrong(), 50, seed=1)).failures
    assert failures == ("the engines native and reference differ for 50 of 50 rows",)


def test_rules_of_comparison_hold() -> None:
    rows = user_rows({"x": (np.arange(3, dtype=np.uint8), Bits(2))}, FP32, lambda ports, engine: NANS[ports["x"]])
    board = Scoreboard(Fixed(rows.chunk()), 3, 1, Compare(nan="any", zero_sign="ignore"))
    returning([0x7FFF_FFFF, 0x8000_0000, 0x3F80_0000], board)
    assert board.failures == ()
    assert board.outcome().waived == {"nan = any": 1, "zero_sign = ignore": 1}


@pytest.mark.parametrize(
    ("rule", "expected", "answer"),
    [({"zero_sign": "ignore"}, 0, 0x0000_1FFF), ({"nan": "propagate"}, 0x7FC0_0000, 0x7F80_2200)],
    ids=["a zero", "a quiet NaN"],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_no_rule_waives_bits_that_the_format_does_not_use(rule: dict[str, str], expected: int, answer: int) -> None:
    code = np.array([expected], np.uint32)
    rows = user_rows({"x": (np.zeros(1, np.uint8), Bits(2))}, TF32, lambda ports, engine: code)
    board = returning([answer], Scoreboard(Fixed(rows.chunk()), 1, 1, Compare(**rule)))
    assert board.mismatches == 1


NANS = np.array([0x7FC0_0000, 0, 0x3F80_0000], np.uint32)


@dataclass
class Fixed(Specification):
    """One chunk."""

    chunk: Chunk

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        yield self.chunk


def test_results_that_are_no_numbers_agree_bit_for_bit() -> None:
    rows = user_rows({"x": (np.arange(4, dtype=np.uint8), Bits(2))}, Bits(3), lambda ports, engine: ports["x"] + 1)
    outcome = returning([1, 2, 3, 5], Scoreboard(Fixed(rows.chunk()), 4, 1, Compare(nan="any"))).outcome()
    assert (outcome.mismatches, outcome.result_classes["normal"]) == (1, 4)
    assert str(outcome.first_mismatch).splitlines() == [
        "vector 3 (rows)", "  x        2 bits 0x3 = 3", "  got      3 bits 0x5 = 5", "  expected 3 bits 0x4 = 4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("codes", "results", "error"),
    [
        (np.array([1, 4], np.uint8), [0, 0], "codes of port x must fit in 2 bits (2 bits), got 0x4"),
        (np.array([1, 2]), [0, 0], "codes of port x must be an array of unsigned integers, bits of 2 bits; got int64"),
        (np.array([], np.uint8), [],
         "every port and the label must have the same number of rows, at least 1; got {'x': 0, 'label': 0}"),
        (np.array([1, 2], np.uint8), [0], "results of the model must have the shape (2,), one code for each row; got (1,)"),
        (np.array([1, 2], np.uint8), [0, 8], "results of the model must fit in 3 bits (3 bits), got 0x8"),
        (np.array([1, 2], np.uint8), [0, 0.5], "results of the model must be an array of unsigned integers, bits of 3 bits; "
         "got float64"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_are_refused(codes: Any, results: list[float], error: str) -> None:
    given = np.array(results, None if 0.5 in results else np.uint8)
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(error)}$"):
        user_rows({"x": (codes, Bits(2))}, Bits(3), lambda ports, engine: given)


def test_labels_that_name_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^labels must be indices of the 1 names, got 1$"):
        user_rows({"x": (np.zeros(2, np.uint8), Bits(1))}, Bits(1), lambda ports, engine: ports["x"], label=np.arange(2))


def test_callbacks_see_every_vector_and_every_mismatch() -> None:
    sent: list[Vector] = []
    results: list[Result] = []
    mismatches: list[Result] = []
    board = Scoreboard(Scaled(), 100, 1, on_send=sent.append, on_result=results.append, on_mismatch=mismatches.append)
    answered(board, wrong=42)
    assert [result.vector for result in results] == sent
    assert [result.number for result in results] == list(range(100))
    assert [result.number for result in mismatches] == [42]
    assert [result.agrees for result in results] == [number != 42 for number in range(100)]
    assert str(mismatches[0]) == board.first_mismatch


class Pin:
    """A signal with a value."""

    def __init__(self, value: Any, bits: int = 1) -> None:
        self.value, self.bits = value, bits

    def __len__(self) -> int:
        return self.bits


def test_inverted_pin_is_active_low() -> None:
    pin = Pin(Logic(0))
    inverted = Inverted(pin)
    assert inverted.value == Logic(1)
    inverted.value = 1
    assert pin.value == 0


def test_lanes_are_one_vector_with_element_0_lowest() -> None:
    pins = [Pin(0, 4), Pin(0, 8), Pin(0, 4)]
    lanes = Lanes(pins)
    lanes.value = 0xABCD
    assert [pin.value for pin in pins] == [0xD, 0xBC, 0xA]
    for pin, value in zip(pins, ("1101", "1011110X", "1010"), strict=True):
        pin.value = LogicArray(value)
    assert str(lanes.value) == "1010" + "1011110X" + "1101"
