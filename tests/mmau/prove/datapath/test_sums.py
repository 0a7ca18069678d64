"""Datapaths of programs of sums: proved sum by sum, and co-simulated; a wrong design of each is found by both."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.dut.generated import dut_like
from golden.arrays import bits_dtype
from golden.stimulus import OperandShape, generate
from mmau.prove.datapath.unit_questions import TOP, NotProvable
from mmau.prove.design_proof import answered, prove
from mmau.prove.evaluation import evaluate
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.pipeline.questions import pipeline_questions
from mmau.prove.specification import sums as specified
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.sums import program_of_sums
from rtl.designs.product_design import unit_operands
from rtl.designs.unit_design import as_design
from rtl.operations.sums import SumShape, circuit_sums
from rtl.verilog.emit import to_verilog
from tests.sum_units import SUM_UNITS, SumUnit

EACH = pytest.mark.parametrize("sums", SUM_UNITS.values(), ids=SUM_UNITS)


def verdicts(sums: SumUnit, is_wrong: bool) -> set[str]:
    """The verdicts on the questions of a unit about its Verilog, or about that of the wrong unit."""
    verilog = to_verilog(as_design(sums.unit(is_wrong=is_wrong, stages=0)), TOP)
    try:
        questions = pipeline_questions(as_design(sums.unit(stages=0)), verilog)
    except NotProvable:  # wires of other widths, for one
        return {"not provable"}
    return {verdict for _, verdict in answered(questions, float("inf"))}


@pytest.mark.slow
@EACH
def test_the_specification_is_golden(sums: SumUnit) -> None:
    unit = sums.unit()
    stimulus = generate(OperandShape.of(unit, unit.usual_K), 25, 5).operands
    operands = unit_operands(unit)
    expected = unit.dot(*stimulus, engine="reference").view(bits_dtype(unit.d)).tolist()
    with deep_stack() as manager:
        terms = Terms(manager)
        ports = {name: terms.free(name, each.width) for name, each in operands.items() if name != "d"}
        d = program_of_sums(terms, unit, ports, Observer()).term
        for row, code in enumerate(expected):
            given = {
                bits.term: sum(
                    int(x) << k * operands[name].format.width for k, x in enumerate(np.ravel(getattr(stimulus, name)[row]))
                )
                for name, bits in ports.items()
            }
            assert evaluate([d], given)[d] == code


def test_a_circuit_that_leaves_a_member_out_has_no_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    def shorter(*given: Any) -> tuple[SumShape, ...]:
        first, *others = circuit_sums(*given)
        return (replace(first, sum=first.sum._replace(members=first.sum.members[:-1])), *others)

    monkeypatch.setattr(specified, "circuit_sums", shorter)
    assert verdicts(SUM_UNITS["two levels"], is_wrong=False) == {"not provable"}


@pytest.mark.slow
def test_a_program_is_proved_with_its_registers() -> None:
    assert prove(as_design(SUM_UNITS["22 bits in groups, then promoted"].unit()), 600).verdict == "proved"


@pytest.mark.slow
def test_a_wrong_design_is_refuted() -> None:
    assert "refuted" in verdicts(SUM_UNITS["two levels"], is_wrong=True)


@pytest.mark.long
@EACH
def test_every_program_is_proved(sums: SumUnit) -> None:
    assert verdicts(sums, is_wrong=False) == {"proved"}


@pytest.mark.long
@EACH
def test_no_wrong_program_is_proved(sums: SumUnit) -> None:
    assert verdicts(sums, is_wrong=True) & {"refuted", "not provable"}


@pytest.mark.slow
@pytest.mark.simulator
def test_a_program_is_co_simulated_with_its_registers() -> None:
    report = cosim.run(SUM_UNITS["22 bits in groups, then promoted"].unit(), vectors=3000)
    assert (report.failures, report.sent, report.received) == ((), 3000, 3000)


@pytest.mark.long
@pytest.mark.simulator
@EACH
def test_every_program_is_co_simulated(sums: SumUnit) -> None:
    report = cosim.run(sums.unit(), vectors=20000)
    assert (report.failures, report.sent, report.received) == ((), 20000, 20000)


@pytest.mark.long
@pytest.mark.simulator
@EACH
def test_every_wrong_program_fails(sums: SumUnit, tmp_path: Path) -> None:
    unit, source = sums.unit(stages=0), tmp_path / "unit.v"
    source.write_text(to_verilog(as_design(sums.unit(is_wrong=True, stages=0)), TOP))
    report = cosim.run(as_design(unit), dut=dut_like(as_design(unit), [source], TOP), vectors=20000)
    assert report.failures
