"""Circuits that round by random bits, an operand: co-simulated in both modes, and proved; wrong ones are seen."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

import cosim
from golden import Implementation
from mmau.prove import prove
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.design_proof import answered
from mmau.prove.pipeline.questions import pipeline_questions
from mmau.prove.proof_identity import specification_digest
from rtl import ControlledDesign, to_verilog
from rtl.verilog.lint import readers, write_and_lint
from tests.golden.units.test_random_bits import KINDS, unit


def design(kind: str, variant: str = "A", bits: int = 3, stages: int = 0) -> ControlledDesign:
    return ControlledDesign.of(replace(unit(kind, variant, bits), implementation=Implementation(stages=stages)))


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "variant", "bits", "stages"), [
    ("e4m3", "B", 3, 3), ("p3109", "C", 1, 0), ("fnuz", "A", 4, 0), ("bf16", "A", 8, 7), ("scaled", "C", 5, 1),
])  # fmt: skip
def test_circuit_is_the_unit(kind: str, variant: str, bits: int, stages: int) -> None:
    """Co-simulated, and proved for every input."""
    of = design(kind, variant, bits, stages)
    report = cosim.run(of, vectors=1500)
    assert report.failures == ()
    found = prove(of, 600.0)
    assert (found.verdict, found.reason) == (PROVED, "")


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.parametrize("kind", ["numbers", "NaN", "fp16", "e5m2"])
def test_circuit_is_the_unit_in_volume(kind: str) -> None:
    """Native code draws the vectors after the first 20,000."""
    report = cosim.run(design(kind, "B", 10), vectors=40_000, mode="volume")
    assert report.failures == ()
    assert report.received == 40_000


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_text_is_clean(tmp_path: Path, kind: str) -> None:
    assert write_and_lint(design(kind, "B"), tmp_path, readers()) == {}


WRONG = {
    "bits one place too high": ("e4m3", 0, r"\{ random, 1'h1 \}", "{ random[1:0], 2'h2 }"),
    "half left out": ("e4m3", 0, r"\{ random, 1'h1 \}", "{ random, 1'h0 }"),
    "NaN takes bits": ("p3109", 0, r"(?s)(module \w+_add_random.*?assign d = )\S+ *\?", r"\1 1'b0 ?"),
    "infinity for the largest number": ("e4m3", 0, "8'hfe : 8'h7e", "8'hff : 8'h7f"),
    "the bits of the next operands": ("e4m3", 3, r"\.random\(accumulate_random\)", ".random(random)"),
    "the bits of one stage earlier": ("e4m3", 3, r"\.random\(accumulate_random\)", ".random(align_random)"),
    "no overflow": ("e4m3", 0, r"assign \\\$2  = total\[11:4\] > 7'h7e", r"assign \\$2  = 1'b0"),
}
"""What is wrong with a circuit: the kind of unit, its stages, a text and what stands in its place."""


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_circuit_is_noticed_and_refuted(tmp_path: Path, wrong: str) -> None:
    kind, stages, text, other = WRONG[wrong]
    of = design(kind, "B", 3, stages)
    verilog, count = re.subn(text, other, to_verilog(of, "unit"))
    assert count == 1
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(of, vectors=1500, dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert any(re.fullmatch(r"\d[\d,]* of 1,500 results differ from the golden model", each) for each in report.failures)
    assert REFUTED in dict(answered(pipeline_questions(of, verilog), time.monotonic() + 600)).values()


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", ["half left out", "NaN takes bits"])
def test_wrong_circuit_is_noticed_in_volume(tmp_path: Path, wrong: str) -> None:
    kind, stages, text, other = WRONG[wrong]
    of = design(kind, "B", 3, stages)
    (tmp_path / "wrong.v").write_text(re.sub(text, other, to_verilog(of, "unit")))
    dut = cosim.dut_like(of, [tmp_path / "wrong.v"], "unit")
    report = cosim.run(of, vectors=30_000, mode="volume", dut=dut)
    assert not report.passed
    assert any(row.vector >= 20_000 for row in report.differing)
    assert all(len(row.ports["random"]) == 1 for row in report.differing)


def test_records_tell_units_by_their_random_bits() -> None:
    """And by all else of the step."""
    kinds = [design("e4m3"), design("e4m3", "B"), design("e4m3", "C"), design("e4m3", bits=4), design("NaN")]
    assert len({specification_digest(of) for of in kinds}) == len(kinds)
