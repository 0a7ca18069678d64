"""Every operation of golden is one that the probe searches, and a unit of it with random keys is found."""

import random

import pytest

import golden
from golden.chain import Chain
from golden.unit import Unit
from mmau.probe.device_under_test import dut_of_instruction, dut_of_unit
from mmau.probe.loop import probe
from mmau.probe.model import FAMILIES
from mmau.probe.start_models import possible_families, starts
from studies.probe_sweep.__main__ import RECOVERED, verdict
from studies.probe_sweep.random_units import random_operation

DRAWN = 3
"""Units of each operation that a search must begin at; the probe is run on the first."""

LONGEST = 8


def drawn(name: str) -> list[Unit]:
    """Units of an operation with random keys and few products."""
    rng = random.Random(f"units of {name}")
    found: list[Unit] = []
    while len(found) < DRAWN:
        operation = random_operation(rng, name)
        if operation.length <= LONGEST:
            found.append(Unit(name="drawn", operation=operation))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_a_search_begins_at_every_operation(name: str) -> None:
    assert name in FAMILIES
    for unit in drawn(name):
        shape = dut_of_unit(unit).shape
        assert name in possible_families(shape)
        assert any(start.operation.length == unit.operation.length for start in starts(name, shape)), unit


@pytest.mark.attack("a search that lacks an operation")
def test_a_family_without_a_start_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmau.probe.start_models.FAMILIES", tuple(name for name in FAMILIES if name != "PS-FDPA"))
    with pytest.raises(AssertionError):
        test_a_search_begins_at_every_operation("PS-FDPA")


@pytest.mark.long
@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_a_random_unit_of_every_operation_is_found(name: str) -> None:
    unit = drawn(name)[0]
    dut = dut_of_unit(unit)
    assert verdict(probe(dut, 2000), dut, Chain(unit.operation)) in RECOVERED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mma.m8n8k128.s32.b1.b1.s32.xor.popc", "mma.m8n8k32.satfinite.s32.s4.s4.s32"])
def test_integers_of_one_bit_and_of_four_are_found(name: str) -> None:
    instruction = golden.instruction("sm_80", name)
    dut = dut_of_instruction(instruction)
    assert verdict(probe(dut, 500), dut, instruction.chain) in RECOVERED
