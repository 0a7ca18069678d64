"""Instructions of a device as functions of rows: each row gives its dot product, at any place in a tile."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import golden
from golden.stimulus import OperandShape, Tiles, generate
from hwtests.device import Description, Device, DeviceError
from hwtests.dot import DeviceDot, opened
from tests.hwtests.cpu.test_host_processor import HERE

TILE = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
SCALED = next(i for i in golden.instructions("sm_120") if i.scale is not None)


class ModelDevice:
    """A device whose instructions are the models'; `at` changes one place of every tile."""

    xp: Any = np

    def __init__(self, at: tuple[int, int] | None = None) -> None:
        self.at, self.tiles = at, 0
        self.description, self.sha256 = Description("the models", "sm_90", "1", "2", "3"), "a program"

    def describe(self) -> Description:
        return self.description

    def load(self, instruction: golden.Instruction) -> tuple["ModelDevice"]:
        self.instruction = instruction
        return (self,)

    def run(self, tiles: Tiles) -> Any:
        i = self.instruction
        a, b, c, scale_a, scale_b = tiles.rows(np)
        d = i.dot(a, b, c, scale_a, scale_b)
        if self.at is not None:
            d[:, *self.at] ^= 1
        self.tiles += len(tiles)
        return d

    def to_host(self, array: Any) -> Any:
        return array


def asked(instruction: golden.Instruction, device: ModelDevice) -> DeviceDot:
    return DeviceDot(instruction, cast(Device, device))


@pytest.mark.parametrize("instruction", [TILE, SCALED], ids=lambda i: i.name)
def test_rows_are_answered_in_order_in_whichever_tiles(instruction: golden.Instruction) -> None:
    device = ModelDevice()
    dot = asked(instruction, device)
    rows = generate(OperandShape.of(instruction), 37, 0).operands
    for _ in range(3):
        assert np.array_equal(dot.dot(rows), instruction.dot(*rows))
    assert device.tiles == 3 * -(-37 // min(instruction.m, instruction.n))


def test_a_place_that_computes_something_else_is_met_by_other_rows_each_time() -> None:
    dot = asked(TILE, ModelDevice(at=(3, 3)))
    rows = generate(OperandShape.of(TILE), 8, 0).operands
    expected = TILE.dot(rows.a, rows.b, rows.c)
    wrong = [np.flatnonzero(dot.dot(rows) != expected).tolist() for _ in range(3)]
    assert wrong[0] == [3]
    assert wrong[1:] != wrong[:-1]


@pytest.mark.attack("answers of something that has changed since")
def test_identity_follows_the_device_its_driver_and_the_program() -> None:
    device = ModelDevice()
    before = asked(TILE, device).identity
    assert asked(TILE, ModelDevice()).identity == before
    sound = device.description
    for name in ("device", "driver", "runtime", "compiler"):
        device.description = replace(sound, **{name: "another"})
        assert asked(TILE, device).identity != before, name
    device.description, device.sha256 = sound, "another program"
    assert asked(TILE, device).identity != before


@pytest.mark.skipif(not HERE, reason="this processor has no dot product of the catalogue")
def test_this_machines_processor_answers() -> None:
    instruction = HERE[0]
    rows = generate(OperandShape.of(instruction), 100, 0).operands
    d = DeviceDot(instruction).dot(rows)
    assert np.array_equal(d, instruction.dot(rows.a, rows.b, rows.c))


def test_an_architecture_that_nothing_here_runs() -> None:
    with pytest.raises(DeviceError, match="instructions of aarch64 cannot be run from here"):
        opened("aarch64")
