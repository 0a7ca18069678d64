"""The list of ways to build a datapath: every value of every key, of every operation."""

from dataclasses import replace

import pytest

import golden
from golden import Implementation
from golden.operations import EFDPA, FMA, GSTFDPA, OCFDPA, PSFDPA, STFDPA, TFDPA, TRFDPA
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from studies.proofs.proved_designs import DATAPATHS, cut, each_cut, each_option, options_of
from tests.mmau.prove.provable_units import OPERATIONS, unit_of


def test_every_operation_of_the_catalogue_is_built_in_other_ways() -> None:
    specified = {type(unit.operation) for unit in golden.catalogue_units()} & SPECIFICATIONS.keys()
    assert {type(golden.instruction(*name.split(" ", 1)).operation) for name in DATAPATHS} == specified
    assert {type(unit.operation) for unit in each_option()} == specified


def test_every_value_of_every_key_by_itself_in_every_encoding() -> None:
    found = options_of(TFDPA)
    assert len(found) == len(set(found)) == 33
    for encoding in ENCODINGS:
        usual = Implementation(encoding=encoding)
        assert usual not in found
        for key, choices in {**CIRCUIT_CHOICES, "adder": LATER_KEYS["adder"]}.items():
            for value in choices[1:]:
                assert replace(usual, **{key: value}) in found  # type: ignore[arg-type]
    for kind, keys in ((TFDPA, ("multiplier", "normaliser", "rounder")), (EFDPA, ("multiplier", "accumulator"))):
        built = options_of(kind)
        for key in keys:
            assert {getattr(way, key) for way in built} == set(LATER_KEYS[key])
            others = {way.encoding for way in built if getattr(way, key) != LATER_KEYS[key][0]}
            assert others == {Implementation().encoding}
    assert {way.stages for way in found} == {0}


@pytest.mark.slow
def test_registers_stand_inside_of_every_step_that_has_a_place_for_one() -> None:
    found = each_cut()
    assert {unit.implementation.multiplier for unit in found} == set(LATER_KEYS["multiplier"])
    kinds = {type(unit.operation) for unit in found}
    assert kinds == {TFDPA, STFDPA, GSTFDPA, OCFDPA, PSFDPA, EFDPA, FMA}
    inside = {point for unit in found for point in unit.implementation.registers[:-1]}
    assert inside == {"multiply_rows", "accumulate_rows", "normalise_count"}
    assert {unit.implementation.registers[-1] for unit in found} == {"encode"}
    assert cut(unit_of(next(each for each in OPERATIONS if type(each) is TRFDPA))) is None
