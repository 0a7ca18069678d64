"""Small units proved step by step and in one question, and compared with golden for all operands."""

from dataclasses import replace

import pytest

from golden import Implementation
from golden.units.unit import ENCODINGS
from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.whole_unit import SMALL, whole_questions, whole_targets, whole_units
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog
from tests.mmau.prove import provable_units
from tests.mmau.prove.datapath.test_unit_questions import FAULTS, faulty
from tests.mmau.prove.method_check import check_methods, count_of_rows, first_wrong
from tests.mmau.prove.provable_units import unit_of, verilog_of

SECONDS = 60.0

TINY = SMALL[0]


@pytest.mark.slow
def test_a_small_unit_is_proved_by_both_methods() -> None:
    found = check_methods(unit_of(TINY), verilog_of(TINY), SECONDS, exhaustive=False)
    assert (found.steps, found.whole, found.rows, found.agree) == ("never", "never", 0, True)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["a product of significands", "the largest exponent", "a shift at alignment"])
def test_a_mutant_is_refuted_by_all_three_methods(fault: str) -> None:
    verilog = faulty(verilog_of(TINY), *FAULTS[fault])
    found = check_methods(unit_of(TINY), verilog, SECONDS)
    assert (found.steps, found.whole, found.rows, found.agree) == ("sometimes", "sometimes", 1 << 24, True)
    assert found.wrong is not None


@pytest.mark.long
def test_all_operands_of_a_small_unit() -> None:
    assert first_wrong(unit_of(TINY), verilog_of(TINY)) is None


@pytest.mark.slow
def test_verdicts_that_differ_do_not_agree() -> None:
    found = check_methods(unit_of(TINY), verilog_of(TINY), SECONDS, exhaustive=False)
    assert not replace(found, whole="sometimes").agree
    assert not replace(found, whole="unknown").agree
    assert not replace(found, steps="unknown", whole="unknown").agree
    assert not replace(found, rows=1 << 24, wrong={"a": 0, "b": 0, "c": 0}).agree


def test_what_is_not_asked() -> None:
    with pytest.raises(ValueError, match=r"L = 1 and no scales alone, got T-FDPA|got TFDPA"):
        first_wrong(unit_of(provable_units.SMALL), verilog_of(provable_units.SMALL))
    assert count_of_rows(TINY) == 1 << 24
    staged = replace(unit_of(TINY), implementation=Implementation(stages=1))
    with pytest.raises(NotProvable, match="no combinational datapath"):
        whole_questions(UnitDesign(staged), to_verilog(staged, "unit"))


def test_every_small_unit_is_a_target() -> None:
    assert len(whole_units()) == len(whole_targets()) == len(SMALL) * len(ENCODINGS)
    assert {operation.name for operation in SMALL} >= {
        "T-FDPA",
        "ST-FDPA",
        "GST-FDPA",
        "E-FDPA",
        "TR-FDPA",
        "GTR-FDPA",
        "IDPA",
    }
