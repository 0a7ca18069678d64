"""The checks of one instruction, on a stand-in for a device: agreement, planted faults, batches, minimisation."""

import json
from dataclasses import asdict

import numpy as np
import pytest

import golden
from golden.formats import E4M3, FP16, FP32
from golden.recording import MIN_ROWS
from golden.stimulus import NAMES, Tiles, complete_rows
from golden.stimulus.shape import OperandShape
from hwtests.conform.check import Check, Progress, check
from hwtests.conform.mismatch import Mismatch, simpler_codes, text_of
from tests.hwtests.conform.stand_in import StandIn, at_the_right, with_negative_c

FP16_MMA = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
SCALED = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")
VECTORS = 40_000


def checked(device: StandIn, instruction: golden.Instruction = FP16_MMA, vectors: int = VECTORS) -> Progress:
    progress = Progress()
    finished = check(device, instruction, vectors, 1, progress, lambda: None) is not None
    assert finished == (progress.status == "running")
    return progress


@pytest.mark.parametrize("instruction", [FP16_MMA, SCALED], ids=lambda i: i.name)
def test_agreement_counts_every_class_and_corner(instruction: golden.Instruction) -> None:
    progress = checked(StandIn(), instruction)
    assert (progress.status, progress.wrong(), progress.first) == ("running", 0, None)
    assert progress.total() >= VECTORS
    assert set(progress.vectors) == set(NAMES) - (set() if instruction is FP16_MMA else {"discrepancy"})
    assert progress.next_tile > 0
    assert Progress(**json.loads(json.dumps(asdict(progress)))) == progress


def test_rows_are_enough_for_a_recording() -> None:
    checked = check(StandIn(), FP16_MMA, 1, 1, Progress(), lambda: None)
    assert checked is not None
    stimulus, results = checked
    assert len(stimulus) == len(results) >= max(MIN_ROWS, complete_rows(OperandShape.of_instruction(FP16_MMA)))
    assert set(stimulus.label.tolist()) == set(range(len(NAMES)))


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


def test_fault_in_random_tiles_alone_is_found() -> None:
    """The rows agree; a fault that only large tile numbers show is found later, and its row is told."""

    def late(instruction: golden.Instruction, tiles: Tiles, d: np.ndarray) -> np.ndarray:
        return d if len(d) != 64 else with_negative_c(instruction, tiles, d)

    device = StandIn(late)
    progress = Progress()
    checks = Check(device, FP16_MMA, 1, progress)
    checks._check_batch(8)
    assert progress.wrong() == 0
    checks._check_batch(64)
    assert progress.wrong() > 0
    assert progress.next_tile == 72


def test_dependence_on_place_stops_the_instruction() -> None:
    progress = checked(StandIn(at_the_right))
    assert progress.status == "dependent"
    assert progress.total() == 0
    assert "with shift=" in progress.detail


def test_batch_that_does_not_fit_is_halved() -> None:
    device = StandIn(largest_batch=3)
    progress = checked(device, vectors=FP16_MMA.m * FP16_MMA.n * 400)
    assert progress.status == "running"
    assert max(device.batches) <= 3


def test_memory_too_small_for_one_tile_is_an_error() -> None:
    with pytest.raises(MemoryError):
        checked(StandIn(largest_batch=0))


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


@pytest.mark.parametrize(
    ("code", "operand", "expected"),
    [
        (0xBC03, FP16, [0xBC00, 0xBC02, 0x3C03]),
        (0x0003, FP16, [0x0002]),
        (0x8001, FP16, [0x8000, 0x0001]),
        (0x8000, FP16, [0]),
        (0xFBFF, FP16, [0x8000, 0xBC00, 0xF800]),
        (0x3C00, FP16, [0]),
        (0xC0490FDB, FP32, [0xC0000000, 0xC0490FDA, 0x40490FDB]),
        (0x39, E4M3, [0x38]),
    ],
)  # fmt: skip
def test_simpler_codes(code: int, operand: golden.Format, expected: list[int]) -> None:
    got = simpler_codes(code, operand)
    assert set(expected) <= set(got)
    assert code not in got
