"""The checks of one instruction, on a stand-in for a device: agreement, planted faults, batches, minimisation."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.chains.chain import ORDERS, Chain, Order
from golden.engines.engine import Batch, run
from golden.recordings.recording import MIN_ROWS
from golden.stimulus import CLASSES, CORNERS, NAMES, Operands, Stimulus, Tiles, complete_rows
from golden.stimulus.shape import OperandShape
from hwtests import on_host
from hwtests.conform import differing_rows
from hwtests.conform.check import Check, check
from hwtests.conform.instruction_progress import Mismatch, Progress, text_of
from hwtests.tally import KEPT_ROWS, Tally
from tests.hwtests.conform.stand_in import Program, StandIn, at_the_right, with_negative_c

FP16_MMA = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
SCALED = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")
WGMMA = golden.instruction("sm_90", "wgmma.m64n8k16.f32.f16.f16")
FP8_MMA = golden.instruction("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32")
VECTORS = 40_000


def checked(device: StandIn, instruction: golden.Instruction = FP16_MMA, vectors: int = VECTORS) -> Progress:
    progress = Progress()
    check(device, instruction, vectors, 1, progress, lambda: None)
    return progress


def names_of(instruction: golden.Instruction) -> set[str]:
    """The classes, and the corners that have a case of these formats."""
    shape = OperandShape.of(instruction)
    return {name for name in NAMES if name in CLASSES or CORNERS[name].cases(shape)}


@pytest.mark.slow
@pytest.mark.parametrize("instruction", [FP16_MMA, SCALED], ids=lambda i: i.name)
def test_agreement_counts_every_class_and_corner(instruction: golden.Instruction) -> None:
    progress = checked(StandIn(), instruction)
    assert (progress.status, progress.wrong(), progress.first) == ("running", 0, None)
    assert progress.total() >= VECTORS
    rows = names_of(instruction)
    assert rows <= set(progress.vectors) <= rows | set(on_host.NAMES)
    assert progress.next_tile > 0
    assert Progress(**json.loads(json.dumps(asdict(progress)))) == progress


def test_rows_are_enough_for_a_recording() -> None:
    kept: list[tuple[Stimulus, np.ndarray]] = []
    check(StandIn(), FP16_MMA, 1, 1, Progress(), lambda: None, keep=lambda *results: kept.append(results))
    ((stimulus, results),) = kept
    assert len(stimulus) == len(results) >= max(MIN_ROWS, complete_rows(OperandShape.of(FP16_MMA)))
    assert {NAMES[label] for label in stimulus.label.tolist()} == names_of(FP16_MMA)


@pytest.mark.slow
def test_fault_is_found_counted_and_simplified() -> None:
    progress = checked(StandIn(with_negative_c))
    assert progress.status == "running"
    assert 0.2 * progress.total() < progress.wrong() < 0.8 * progress.total()
    assert progress.first is not None
    first = Mismatch(**progress.first)
    assert set(first.a) == set(first.b) == {0}
    assert first.c == 0x80000000
    assert (first.got, first.expected) == (0x80000001, 0x80000000)
    text = text_of(first, FP16_MMA)
    assert text.splitlines()[0].startswith("sm_90 mma.m16n8k16.f32.f16.f16.f32, found in ")
    assert "got      fp32 0x80000001 1_00000000_00000000000000000000001 subnormal sign=1" in text
    assert "expected fp32 0x80000000 1_00000000_00000000000000000000000 zero sign=1" in text


def test_dependence_on_place_stops_the_instruction_and_its_rows_are_kept(tmp_path: Path) -> None:
    """With what the device gave first and then; the status says how many."""
    progress = Progress()
    check(StandIn(at_the_right), FP16_MMA, VECTORS, 1, progress, lambda: None, mismatches=tmp_path)
    assert (progress.status, progress.total()) == ("dependent", 0)
    assert "with shift=" in progress.detail
    rows = differing_rows.read(differing_rows.path_of(tmp_path, FP16_MMA))
    assert 0 < len(rows.got) == progress.kept <= KEPT_ROWS
    assert (rows.got != rows.expected).all()
    assert {name.decode() for name in rows.found_in.tolist()} == {"shift=1, below=0"}
    assert "; 4,666 rows of 18,664 differ like that, " in progress.detail
    assert progress.detail.endswith(f" differ like that, and {progress.kept:,} of them are stored")


@pytest.mark.slow
def test_rows_that_differ_are_kept(tmp_path: Path) -> None:
    """Those of the rows and of the tiles, up to 4,096, with what makes them fail again."""
    progress = Progress()
    check(StandIn(with_negative_c), FP16_MMA, VECTORS, 1, progress, lambda: None, mismatches=tmp_path)
    assert progress.wrong() > KEPT_ROWS == progress.kept
    rows = differing_rows.read(differing_rows.path_of(tmp_path, FP16_MMA))
    assert len(rows.got) == KEPT_ROWS
    assert (rows.got == rows.expected + 1).all()
    assert (rows.operands.c >> 31 == 1).all()
    np.testing.assert_array_equal(StandIn().dot(FP16_MMA.chain, rows.operands), rows.expected)
    assert {name.decode() for name in rows.found_in.tolist()} <= set(NAMES)


def test_a_few_rows_of_tiles_are_kept(tmp_path: Path) -> None:
    def in_one_place(instruction: golden.Instruction, tiles: Tiles, d: np.ndarray) -> np.ndarray:
        d = d.copy()
        d[3:5, 7, 2] ^= 1
        return d

    progress = Progress(rows_done=True)
    checks = Check(StandIn(in_one_place), FP16_MMA, 1, progress, tmp_path)
    checks._check_batch(8, checks.programs[0])
    assert (progress.wrong(), progress.kept) == (2, 2)
    tiles, labels = on_host.tiles_of(FP16_MMA, 1, 0, 8)
    rows = differing_rows.read(differing_rows.path_of(tmp_path, FP16_MMA))
    np.testing.assert_array_equal(rows.operands.a, tiles.a[3:5, 7])
    np.testing.assert_array_equal(rows.operands.b, tiles.b[3:5, 2])
    np.testing.assert_array_equal(rows.operands.c, tiles.c[3:5, 7, 2])
    assert [name.decode() for name in rows.found_in.tolist()] == [on_host.NAMES[label] for label in labels[3:5].tolist()]


@pytest.mark.slow
def test_other_operand_route_must_agree() -> None:
    """A from registers: a layout that is wrong there alone makes the instruction dependent, before anything is compared."""

    class OneRouteWrong(StandIn):
        def load(self, instruction: golden.Instruction) -> tuple[Program, ...]:
            first, second = super().load(instruction)
            return first, Program(instruction, at_the_right, second.route)

    assert checked(StandIn(), WGMMA, 10_000).status == "running"
    progress = checked(OneRouteWrong(), WGMMA, 10_000)
    assert (progress.status, progress.total()) == ("dependent", 0)
    assert "with shift=0, below=0, A from registers; " in progress.detail


@pytest.mark.slow
def test_batches_take_the_routes_in_turn() -> None:
    class Counting(StandIn):
        routes: list[str] = []  # noqa: RUF012

        def compare(self, instruction: golden.Instruction, program: Any, seed: int, first: int, count: int) -> Tally:
            found = super().compare(instruction, program, seed, first, count)
            self.routes.append(program.route)
            return found

    device = Counting(largest_batch=4)
    check(device, WGMMA, 30_000, 1, Progress(), lambda: None)
    assert device.routes[:4] == ["", "A from registers", "", "A from registers"]


@pytest.mark.slow
def test_machine_code_that_is_not_expected_is_reported() -> None:
    class Other(StandIn):
        def load(self, instruction: golden.Instruction) -> tuple[Program, ...]:
            (program,) = super().load(instruction)
            program.machine_code = {"OTHER": 2}
            return (program,)

    assert checked(StandIn()).unexpected_code == {}
    assert checked(Other()).unexpected_code == {"": {"OTHER": 2}}


@pytest.mark.parametrize("order", ORDERS)
def test_orders_of_fp8_mma_are_scored(order: Order) -> None:
    """On a device that has one of the three orders: that order gets no row wrong, each of the others gets some wrong."""

    class InOrder(StandIn):
        def load(self, instruction: golden.Instruction) -> tuple[Program, ...]:
            return (Program(instruction, lambda i, tiles, _: of(order).dot(*tiles.rows(np))),)

        def dot(self, chain: Chain, rows: Operands) -> np.ndarray:
            return run(None, chain, Batch(*rows))

    def of(taken: Order) -> golden.Instruction:
        assert FP8_MMA.fp16_order is not None
        return replace(FP8_MMA, chain=replace(FP8_MMA.chain, order=taken))

    progress = Progress()
    checks = Check(InOrder(), FP8_MMA, 1, progress)
    assert FP8_MMA.fp16_order is not None
    checks.check_orders(FP8_MMA.chain)
    assert progress.order_rows > 100
    assert [name for name, wrong in progress.orders.items() if not wrong] == [order]


@pytest.mark.slow
def test_batch_that_does_not_fit_is_halved_down_to_one_tile() -> None:
    device = StandIn(largest_batch=3)
    progress = checked(device, vectors=FP16_MMA.m * FP16_MMA.n * 400)
    assert progress.status == "running"
    assert max(device.batches) <= 3
    with pytest.raises(MemoryError):
        checked(StandIn(largest_batch=0))


@pytest.mark.slow
def test_interrupted_check_goes_on_where_it_stopped() -> None:
    class StopError(Exception):
        pass

    halves, whole = Progress(), checked(StandIn())

    def stop() -> None:
        raise StopError

    with pytest.raises(StopError):
        check(StandIn(), FP16_MMA, VECTORS, 1, halves, stop)
    assert 0 < halves.total() < VECTORS
    check(StandIn(), FP16_MMA, VECTORS, 1, halves, lambda: None)
    assert (halves.vectors, halves.next_tile) == (whole.vectors, whole.next_tile)
