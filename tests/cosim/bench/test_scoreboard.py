"""The scoreboard and its report: runs that pass, and every kind of run that must fail."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cocotb.types import LogicArray

from cosim import Report, table
from cosim.bench.handshake import Driver, Monitor, Stalls, code_of
from cosim.bench.products import DotProducts
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import specification_of
from cosim.runner.job import Simulated
from golden import Cls, Unit
from golden.arithmetic.formats import FP16, FP32
from golden.operations import EFDPA, TFDPA
from rtl import UnitDesign
from tests.cosim.bench.test_stimulus import dot_products

T_UNIT = Unit(name="t", operation=TFDPA(a=FP16, b=FP16, c=FP32, L=2, F=25, rho="RZ-FP32", e_zero=-133))
E_UNIT = Unit(name="e", operation=EFDPA(a=FP16, b=FP16, c=FP32, L=2))


class Board(Scoreboard):
    """A scoreboard with all its vectors: a few vectors are one chunk."""

    def __init__(self, unit: Unit, count: int) -> None:
        super().__init__(specification_of(UnitDesign(unit)), count, seed=3)
        self.unit = unit
        self.all = list(self.vectors())

    @property
    def products(self) -> DotProducts:
        return dot_products(self.all[0].elements[0].products)


def scoreboard(unit: Unit = T_UNIT, vectors: int = 200) -> Board:
    return Board(unit, vectors)


def expected(board: Board) -> list[int]:
    """The expected results, in order."""
    return [board.products.expected[vector.elements[0].row] for vector in board.all]


def report(board: Board) -> Report:
    return Report.of(UnitDesign(board.unit), board.outcome(), "none", 3, 0.5)


def run_through(board: Board, answer: Callable[[int, int], int | str] | None = None) -> Report:
    """Send every vector; the design answers with the golden model's result, or with `answer(row, expected)`."""
    for row, (vector, code) in enumerate(zip(board.all, expected(board), strict=True)):
        board.send(vector)
        board.receive(code if answer is None else answer(row, code))
    return report(board)


def row_whose_result_is(board: Board, cls: Cls) -> int:
    return next(row for row, code in enumerate(expected(board)) if T_UNIT.operation.d.decode(code).cls is cls)


def test_all_equal_passes() -> None:
    board = scoreboard()
    result = run_through(board)
    assert np.array_equal(board.products.expected, T_UNIT.dot(*board.products.stimulus.operands))
    assert result.passed
    assert result.failures == ()
    assert (result.sent, result.received, result.waiting, result.mismatches) == (200, 200, 0, 0)
    assert sum(result.classes.values()) == sum(result.result_classes.values()) == 200
    assert result.classes_hit == len(result.classes)
    assert result.vectors_per_second == 400


CHANGED = "a result changed, or was withdrawn, while out_valid was high and out_ready low"
SURPLUS = "{} results came out that no vector asked for"


@pytest.mark.parametrize(
    ("sent", "received", "stopped", "failures"),
    [
        (0, 0, (), ("no vector went in", "no result came out", "0 of 200 vectors went in")),
        (200, 0, (), ("no result came out", "0 results came out for 200 vectors", "200 vectors have no result")),
        (200, 199, (), ("199 results came out for 200 vectors", "1 vectors have no result")),
        (200, 201, (), (SURPLUS.format(1),)),
        (200, 202, (), (SURPLUS.format(2),)),
        (150, 150, (), ("150 of 200 vectors went in",)),
        (200, 200, ("first reason", "second reason"), ("first reason",)),
        (200, 200, (CHANGED,), (CHANGED,)),
        (
            200, 150, ("in_ready stayed low for 1000 cycles",),
            ("in_ready stayed low for 1000 cycles", "150 results came out for 200 vectors", "50 vectors have no result"),
        ),
    ],
    ids=["nothing", "silent", "one missing", "one surplus", "surplus", "not all sent", "stopped", "changed", "stuck"],
)  # fmt: skip
def test_run_that_is_not_whole_fails(sent: int, received: int, stopped: tuple[str, ...], failures: tuple[str, ...]) -> None:
    """A user's testbench reads the verdict from the scoreboard, without a report."""
    board = scoreboard()
    for vector in board.all[:sent]:
        board.send(vector)
    for code in [*expected(board), 0, 0][:received]:
        board.receive(code)
    for reason in stopped:
        board.stop(reason)
    assert board.failures == report(board).failures == failures
    assert board.mismatches == 0


def test_result_before_its_vector_fails() -> None:
    board = scoreboard()
    board.receive(expected(board)[0])
    assert SURPLUS.format(1) in run_through(board).failures


def test_results_out_of_order_fail() -> None:
    board = scoreboard()
    swapped = [*expected(board)[1::-1], *expected(board)[2:]]
    assert swapped[0] != swapped[1]
    assert run_through(board, lambda row, _: swapped[row]).mismatches == 2


@pytest.mark.parametrize("bit", [0, 15, 31])
def test_one_wrong_bit_fails(bit: int) -> None:
    result = run_through(scoreboard(), lambda row, code: code ^ ((row == 77) << bit))
    assert result.mismatches == 1
    assert result.failures == ("1 of 200 results differ from the golden model",)
    assert result.first_mismatch is not None
    assert result.first_mismatch.startswith("vector 77 (")


@pytest.mark.parametrize(
    ("unit", "cls", "got", "mismatches"),
    [
        (T_UNIT, Cls.ZERO, 0x8000_0000, 1),
        (T_UNIT, Cls.NAN, 0x7FC0_0000, 1),
        (E_UNIT, Cls.NAN, 0xFFFF_FFFF, 0),  # whose NaN is not fixed
        (E_UNIT, Cls.NAN, 0x7F80_0000, 1),
        (E_UNIT, Cls.INFINITY, 0x7FC0_0000, 1),
    ],
)
def test_other_code_of_a_class(unit: Unit, cls: Cls, got: int, mismatches: int) -> None:
    board = scoreboard(unit, vectors=2000)
    there = row_whose_result_is(board, cls)
    result = run_through(board, lambda row, code: got if row == there else code)
    assert (result.mismatches, result.passed) == (mismatches, not mismatches)


def test_undefined_bits_fail() -> None:
    bits = "X" * 32
    result = run_through(scoreboard(), lambda row, code: bits if row == 5 else code)
    assert result.mismatches == 1
    assert result.first_mismatch is not None
    assert f"got      fp32 {bits}: bits that are neither 0 nor 1" in result.first_mismatch


def test_mismatch_shows_inputs_got_and_expected() -> None:
    board = scoreboard()
    text = run_through(board, lambda row, code: 0x3F80_0000 if row == 9 else code).first_mismatch
    products, row, _ = board.all[9].elements[0]
    operation, operands = T_UNIT.operation, dot_products(products).stimulus.operands
    assert text is not None
    assert text.splitlines() == [
        f"vector 9 ({products.made_by(row)})",
        f"  a[0]     {operation.a.describe(int(operands.a[row, 0]))}",
        f"  a[1]     {operation.a.describe(int(operands.a[row, 1]))}",
        f"  b[0]     {operation.b.describe(int(operands.b[row, 0]))}",
        f"  b[1]     {operation.b.describe(int(operands.b[row, 1]))}",
        f"  c        {operation.c.describe(int(operands.c[row]))}",
        "  got      fp32 0x3f800000 0_01111111_00000000000000000000000 normal sign=0 exp=0 sig=0x800000 = +8388608·2^-23",
        f"  expected {operation.d.describe(products.expected[row])}",
    ]


def test_outcome_survives_json() -> None:
    board = scoreboard()
    result = run_through(board, lambda row, code: code ^ (row == 3))
    simulated = Simulated(outcome=board.outcome(), seconds=0.5)
    assert Simulated.from_json(simulated.to_json()) == simulated
    shown = json.loads(json.dumps(result.as_dict()))
    assert shown["failures"] == ["1 of 200 results differ from the golden model"]
    assert shown["passed"] is False
    assert shown["vectors_per_second"] == 400


def test_table_has_a_line_a_report() -> None:
    good = run_through(scoreboard())
    bad = dataclasses.replace(good, unit="a longer name", mismatches=1234)
    hit = f"200     {good.classes_hit} of {len(good.classes)}  {good.bins.hit} of {good.bins.reachable}"
    assert table([good, bad]).splitlines() == [
        "unit           operation  vectors  classes hit    bins hit  mismatches  vectors/s  engine  checked by reference",
        f"t              T-FDPA         {hit}           0        400  native            200 of 200  passed",
        f"a longer name  T-FDPA         {hit}       1,234        400  native            200 of 200  "
        "FAILED: 1,234 of 200 results differ from the golden model",
    ]


def test_bins_count_what_agrees_alone() -> None:
    good = run_through(scoreboard())
    half = run_through(scoreboard(), lambda row, code: code ^ (row < 100))
    nothing = run_through(scoreboard(), lambda row, code: code ^ 1)
    assert [sum(counts.rows for counts in result.coverage) for result in (good, half, nothing)] == [200, 100, 0]
    assert good.bins.hit > half.bins.hit > nothing.bins.hit == 0


class Pin:
    """A signal with a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


def test_code_of_defined_and_undefined_bits() -> None:
    assert code_of(Pin(LogicArray("1010"))) == 10
    assert code_of(Pin(LogicArray("1X1Z"))) == "1X1Z"


@pytest.mark.parametrize("level", ["X", "Z"])
@pytest.mark.parametrize("port", ["in_ready", "out_valid"])
def test_handshake_that_is_undefined_ends_the_run(port: str, level: str) -> None:
    board = scoreboard()
    pins = {name: Pin(0) for name in ("a", "b", "c", "in_valid", "out_ready")} | {"d": Pin(LogicArray("0" * 32))}
    pins |= {name: Pin(LogicArray("1")[0]) for name in ("in_ready", "out_valid")}
    timing = Timing("valid-ready")
    driver = Driver(pins, timing, board, Stalls("in"), iter(board.all))
    monitor = Monitor(pins, timing, board, Stalls("out"))
    while not board.sent:
        driver.drive()
        driver.sample()
    assert board.stopped is None
    pins[port].value = LogicArray(level)[0]
    for _ in range(10):
        driver.drive()
        monitor.drive()
        monitor.sample(driver.sample())
    assert board.stopped == f"{port} is neither 0 nor 1"
