"""Datapaths of the catalogue with registers: few distinct questions, and faults of registers."""

from dataclasses import replace
from pathlib import Path

import pytest

import golden
from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.pipeline.questions import register_questions
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog
from studies.proofs.registers import INSIDE, STAGES, put_together, with_registers
from tests.mmau.prove.pipeline.designs import faulty
from tests.mmau.prove.pipeline.test_questions import refuted

pytestmark = pytest.mark.slow

KIND = "generated pipelines and tiles, in prove"

NAMES = ("x86-avx512 vdpbf16ps", "sm_90 mma.m16n8k8.f16.f16.f16.f16")


def catalogued(name: str, stages: int) -> UnitDesign:
    unit = next(unit for unit in golden.catalogue_units() if unit.name == name)
    return UnitDesign(replace(unit, implementation=replace(unit.implementation, stages=stages)))


def test_datapaths_of_the_catalogue_share_their_questions() -> None:
    texts = [{each.text for each in register_questions(catalogued(name, 1))} for name in NAMES]
    assert texts[0] == texts[1]


@pytest.mark.attack(KIND)
@pytest.mark.parametrize(
    ("there", "instead"),
    [
        pytest.param(".e_max(accumulate_sum_exp)", ".e_max(max_exp_sum_exp)", marks=pytest.mark.long),  # no register
        ("takes_accumulate ? max_exp_sum_exp : accumulate_sum_exp", "takes_encode ? max_exp_sum_exp : accumulate_sum_exp"),
        pytest.param("rst ? 1'h0 : \\$procmux", "rst ? 1'h1 : \\$procmux", marks=pytest.mark.long),
    ],
    ids=["missing", "enable", "reset"],
)
def test_a_wrong_register_of_a_catalogued_datapath_is_not_proved(there: str, instead: str) -> None:
    design = catalogued(NAMES[1], 3)
    verilog = to_verilog(design, "unit")
    wrong = faulty(verilog, there, instead) if "procmux" not in there else verilog.replace(there, instead, 1)
    assert wrong != verilog
    assert refuted(register_questions(design, wrong))


@pytest.mark.attack(KIND)
def test_a_valid_bit_that_skips_a_stage_is_not_proved() -> None:
    design = catalogued(NAMES[1], 3)
    there = "takes_accumulate ? valid_max_exp : valid_accumulate"
    wrong = faulty(to_verilog(design, "unit"), there, "takes_accumulate ? in_valid : valid_accumulate")
    with pytest.raises(NotProvable, match=r"^2 registers in a row are valid bits, of 3 stages; "):
        register_questions(design, wrong)


def test_a_datapath_is_asked_about_in_every_way_that_it_has(tmp_path: Path) -> None:
    ways = put_together({"design": catalogued(NAMES[0], 0).as_table()}, tmp_path)
    assert ways == dict.fromkeys(STAGES, "")  # FTZ-EO-FMA has no boundary inside of a step
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{way}.json.gz" for way in ways)
    assert with_registers(catalogued(NAMES[0], 0).unit, INSIDE) is None
    inside = with_registers(catalogued(NAMES[1], 0).unit, INSIDE)
    assert inside is not None
    assert inside.implementation.registers == ("multiply_rows", "accumulate_rows", "normalise_count", "encode")
