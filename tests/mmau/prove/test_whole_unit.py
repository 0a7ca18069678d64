"""Small units proved step by step and in one question, and compared with golden for all operands: this needs neither the
specification nor a solver nor the division into steps."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from golden import Implementation, Unit
from golden.arrays import bits_dtype
from golden.units.unit import ENCODINGS
from mmau.prove.datapath.unit_questions import NotProvable, Question, unit_questions
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.solvers.installed import PACKAGES, solver
from mmau.prove.targets import SMALL, combinational_netlist, whole_questions, whole_targets, whole_units
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.row_evaluation import columns
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog
from tests.mmau.prove.datapath.test_unit_questions import FAULTS, faulty
from tests.mmau.prove.provable_units import unit_of, verilog_of

SECONDS = 60.0

TINY = SMALL[0]
"""One product, and no scales: 2^24 rows of operands."""


def verdict(question: Question) -> str:
    """Of the first solver that decides the question."""
    answers = (solver(name)(question.text, SECONDS).verdict for name in PACKAGES)
    return next((answer for answer in answers if answer != "unknown"), "unknown")


def verdicts(verilog: str) -> tuple[set[str], str]:
    """The verdicts on the obligations of TINY, and the one on its whole."""
    (whole,) = whole_questions(UnitDesign(unit_of(TINY)), verilog)
    return {verdict(each) for each in unit_questions(unit_of(TINY), verilog)}, verdict(whole)


def first_wrong(unit: Unit, verilog: str) -> dict[str, int] | None:
    """Operands for which a combinational datapath does not give golden's d, codes by port; None if there are none.

    Every product of a code of a and one of b is taken with every code of c.
    """
    operation = unit.operation
    with deep_stack() as manager:
        inputs, d = combinational_netlist(Terms(manager), verilog)
        c = np.arange(operation.c.codes, dtype=np.int64)
        for a, b in product(range(operation.a.codes), range(operation.b.codes)):
            by = {
                inputs[port].term: manager.mk_bv_value(inputs[port].term.sort(), code) for port, code in (("a", a), ("b", b))
            }
            term = Folding(manager, by).of(d.term)
            got = columns([term], {inputs["c"].term: c})[term]
            a_codes, b_codes = (
                np.full((len(c), 1), code, bits_dtype(fmt)) for code, fmt in ((a, operation.a), (b, operation.b))
            )
            wrong = np.flatnonzero(got != unit.dot(a_codes, b_codes, c.astype(bits_dtype(operation.c))))
            if len(wrong):
                return {"a": a, "b": b, "c": int(wrong[0])}
    return None


@pytest.mark.slow
def test_a_small_unit_is_proved_by_both_methods() -> None:
    assert verdicts(verilog_of(TINY)) == ({"never"}, "never")


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["a product of significands", "the largest exponent", "a shift at alignment"])
def test_a_mutant_is_refuted_by_all_three_methods(fault: str) -> None:
    verilog = faulty(verilog_of(TINY), *FAULTS[fault])
    steps, whole = verdicts(verilog)
    assert ("sometimes" in steps, whole) == (True, "sometimes")
    assert first_wrong(unit_of(TINY), verilog) is not None


@pytest.mark.long
def test_all_operands_of_a_small_unit() -> None:
    assert first_wrong(unit_of(TINY), verilog_of(TINY)) is None


def test_a_unit_with_registers_is_no_combinational_datapath() -> None:
    staged = replace(unit_of(TINY), implementation=Implementation(stages=1))
    with pytest.raises(NotProvable, match="no combinational datapath"):
        whole_questions(UnitDesign(staged), to_verilog(staged, "unit"))


def test_every_small_unit_is_a_target() -> None:
    assert len(whole_units()) == len(whole_targets()) == len(SMALL) * len(ENCODINGS)
    names = {operation.name for operation in SMALL}
    assert names >= {"T-FDPA", "ST-FDPA", "GST-FDPA", "E-FDPA", "TR-FDPA", "GTR-FDPA", "IDPA"}
