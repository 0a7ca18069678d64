"""Every operation of golden is one that the probe searches, and a unit of it with random keys is found."""

import random
from typing import Any

import pytest

import golden
from golden.arithmetic.formats import E4M3, E5M2, FP16
from golden.chains.chain import Chain, ChainTable
from golden.units.unit import Unit
from golden.units.unit_file import operation_from_table
from mmau.probe.device_under_test import dut_of
from mmau.probe.loop import probe
from mmau.probe.model import CONVERTED, FAMILIES, values_of
from mmau.probe.start_models import possible_families, starts, varied_starts
from tests.mmau.probe.devices import dut
from tests.mmau.probe.known_units import RECOVERED, is_recovered, random_operation, random_unit, verdict

OF_THREE = [name for name, operation in golden.OPERATIONS.items() if operation.operands == ("a", "b", "c")]
"""The operations that the probe looks for: a device under test takes a, b and c."""

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
@pytest.mark.parametrize("name", OF_THREE)
def test_a_search_begins_at_every_operation(name: str) -> None:
    assert name in FAMILIES
    for unit in drawn(name):
        shape = dut_of(unit).shape
        assert name in possible_families(shape)
        assert any(start.operation.length == unit.operation.length for start in starts(name, shape)), unit


@pytest.mark.parametrize("name", OF_THREE)
def test_a_conversion_to_fp16_is_searched_with_every_operation_that_allows_it(name: str) -> None:
    rng = random.Random(f"converted {name}")
    for _ in range(100):
        operation = random_operation(rng, name)
        try:
            ChainTable(convert="fp16").check(operation.changed(a=FP16, b=FP16), E4M3, E4M3)
        except ValueError:
            continue
        assert f"{CONVERTED}{name}" in FAMILIES
        return
    assert f"{CONVERTED}{name}" not in FAMILIES


@pytest.mark.attack("a search that lacks an operation")
def test_a_family_without_a_start_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmau.probe.start_models.FAMILIES", tuple(name for name in FAMILIES if name != "PS-FDPA"))
    with pytest.raises(AssertionError):
        test_a_search_begins_at_every_operation("PS-FDPA")


SOON = ("FMA", "FTZ-FMA", "IDPA", "T-FDPA", "OC-FDPA")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name in SOON else pytest.param(name, marks=pytest.mark.long) for name in OF_THREE])
def test_a_random_unit_of_every_operation_is_found(name: str) -> None:
    unit = drawn(name)[0]
    dut = dut_of(unit)
    assert verdict(probe(dut, 2000), dut, Chain(unit.operation)) in RECOVERED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mma.m8n8k128.s32.b1.b1.s32.xor.popc", "mma.m8n8k32.satfinite.s32.s4.s4.s32"])
def test_integers_of_one_bit_and_of_four_are_found(name: str) -> None:
    instruction = golden.instruction("sm_80", name)
    dut = dut_of(instruction)
    assert verdict(probe(dut, 500), dut, instruction.chain) in RECOVERED


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "keys"), [("OC-FDPA", {"h": 2}), ("PS-FDPA", {"h": 1, "P": 4}), ("T-FDPA", {"truncation": "RO"})]
)
def test_c_added_last_behind_converted_products_is_found(name: str, keys: dict[str, Any]) -> None:
    keys = {"a": "fp16", "b": "fp16", "c": "fp32", "L": 8, "F": 26, "rho": "RO-FP32", "e_zero": -126, **keys}
    table = ChainTable(convert="fp16", add_c="last", addition="RO")
    unit = Unit(
        name="converted", operation=operation_from_table({"operation": name, **keys}), chain=table, converted=(E5M2, E5M2)
    )
    dut = dut_of(unit)
    assert verdict(probe(dut, 2000), dut, unit.chain_over(dut.shape.K)) in RECOVERED


def test_varied_starts_have_every_rounding_and_every_way_to_cut_each_once() -> None:
    shape = dut().shape
    plain, varied = starts("GTR-FDPA", shape), varied_starts("GTR-FDPA", shape)
    assert len({model.keys["rho"] for model in plain}) == 1
    ways = {(rho, cut) for rho in values_of("rho", "GTR-FDPA", shape) for cut in ("RZ", "RD")}
    assert {(model.keys["rho"], model.keys["truncation"]) for model in varied} == ways
    assert len(set(varied)) == len(varied)
    assert set(plain) <= set(varied)
    assert sorted(map(str, varied_starts("FMA", shape))) == sorted(
        map(str, starts("FMA", shape))
    )  # of every rounding already


@pytest.mark.long
def test_a_rounding_to_few_bits_hides_no_family() -> None:
    """A GTR-FDPA of two steps whose results keep 13 bits, as those of a small F do: no start of its own family and length is
    among the best of the first round."""
    assert is_recovered(random_unit(150), vectors=2_000)
