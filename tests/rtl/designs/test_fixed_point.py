"""Circuits of fixed-point accumulators: co-simulated in both modes and proved, as arrays that keep them over many steps too;
wrong ones are seen."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

import cosim
from golden import Implementation, Unit
from golden.units.unit import Array
from mmau.prove import prove
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.design_proof import answered
from mmau.prove.pipeline.questions import pipeline_questions
from rtl import to_verilog
from rtl.designs.design import Design
from rtl.designs.unit_design import as_design
from rtl.verilog.lint import readers, write_and_lint
from tests.golden.units.own_formats import TEXTS, own_unit

FIXED = [name for name in TEXTS if own_unit(name).operation.is_native is False]


def unit(name: str, stages: int) -> Unit:
    return replace(
        own_unit(name), implementation=Implementation(stages=stages, reduction="adder-tree" if stages else "carry-save")
    )


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "stages"), [("kulisch saturates", 3), ("weights in fixed point", 0), ("fixed point read", 2)]
)
def test_circuit_is_the_unit(name: str, stages: int) -> None:
    """Co-simulated, and proved for every input."""
    of = as_design(unit(name, stages))
    report = cosim.run(of, vectors=1500)
    assert (report.failures, report.engine) == ((), "reference")
    found = prove(of, 600.0)
    assert (found.verdict, found.reason) == (PROVED, "")


@pytest.mark.simulator
@pytest.mark.slow
def test_array_keeps_the_sum_over_its_steps() -> None:
    """The first transfer loads c; the sum is read after the last."""
    of = as_design(replace(unit("numbers in fixed point", 1), array=Array(rows=1, columns=1, steps=4)))
    assert cosim.run(of, vectors=600).failures == ()
    assert prove(of, 600.0).verdict == PROVED


@pytest.mark.simulator
@pytest.mark.slow
def test_circuit_is_the_unit_in_volume() -> None:
    """The vectors after the first 20,000 are drawn by golden, and their results computed by the reference engine."""
    report = cosim.run(as_design(unit("numbers in fixed point", 0)), vectors=24_000, mode="volume")
    assert (report.failures, report.received, report.engine) == ((), 24_000, "reference")


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
def test_text_is_clean(tmp_path: Path, name: str) -> None:
    assert write_and_lint(as_design(unit(name, 0)), tmp_path, readers()) == {}


WRONG = {
    "NaN of an element is a number": ("kulisch", 0, r"decode_y_1_x__nan,", "1'h0,"),
    "infinity of an element is a number": ("kulisch saturates", 0, r"decode_x_2_x__inf,", "1'h0,"),
    "c that is no number is the least one": ("kulisch", 0, r"c == 64'h8000000000000000", "1'h0"),
    "the least sum is no number": ("kulisch saturates", 0, r"= clamped == 56'h80000000000000", "= 1'h0"),
    "no range": ("numbers in fixed point", 0, r"assign fits = .*;", "assign fits = 1'h1;"),
    "range of one bit more": (
        "numbers in fixed point",
        0,
        r"= & sum_accumulate_total\[17:13\]",
        "= & sum_accumulate_total[17:14]",
    ),
    "an exponent that does not count": ("weights in fixed point", 0, r"<< \S+ ;", "<< 4'h0 ;"),
    "products without their sign": (
        "weights in fixed point",
        0,
        r"(?s)(module unit_multiply.*?= )x__sign \^ y__sign",
        r"\1 1'h0",
    ),
    "no number is read as the least": ("fixed point read", 0, r"a == 64'h8000000000000000", "1'h0"),
    "negative numbers are read as positive": ("fixed point read small", 0, r"x__sign = code\[19\]", "x__sign = 1'h0"),
    "a mark of the next operands": ("kulisch", 4, r"= accumulate_nar \?", "= multiply_nar ?"),
}
"""What is wrong with a circuit: the unit, its stages, a text and what stands in its place."""


def wrong_verilog(wrong: str) -> tuple[Design, str]:
    name, stages, text, other = WRONG[wrong]
    of = as_design(unit(name, stages))
    verilog, count = re.subn(text, other, to_verilog(of, "unit"))
    assert count == 1
    return of, verilog


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_circuit_is_noticed_and_refuted(tmp_path: Path, wrong: str) -> None:
    of, verilog = wrong_verilog(wrong)
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(of, vectors=1500, dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert any(re.fullmatch(r"\d[\d,]* of 1,500 results differ from the golden model", each) for each in report.failures)
    assert REFUTED in dict(answered(pipeline_questions(of, verilog), time.monotonic() + 600)).values()


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", ["the least sum is no number", "no range"])
def test_wrong_circuit_is_noticed_in_volume(tmp_path: Path, wrong: str) -> None:
    of, verilog = wrong_verilog(wrong)
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(of, vectors=24_000, mode="volume", dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert not report.passed
    assert any(row.vector >= 20_000 for row in report.differing)
