"""Datapaths of E-, TR- and GTR-FDPA under block scales: co-simulated and proved; wrong ones are seen."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from golden import Implementation
from mmau.prove import prove
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.design_proof import answered
from mmau.prove.pipeline.questions import pipeline_questions
from rtl import UnitDesign, to_verilog
from tests.golden.operations.test_block_scales import EXACT, UNITS, unit


def design(stages: int = 0, **changed: Any) -> UnitDesign:
    return UnitDesign(replace(unit(**changed), implementation=Implementation(stages=stages)))


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "stages"),
    [("even and odd", 2), ("signed scales of b", 0), ("one block of two steps", 1), ("exact, signed scales of b", 2)],
)
def test_circuit_is_the_unit(name: str, stages: int) -> None:
    of = design(stages, **UNITS[name])
    assert cosim.run(of, vectors=400).failures == ()
    assert prove(of, 600.0).verdict == PROVED


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.parametrize("implementation", [{"accumulator": "long"}, {"multiplier": "booth", "stages": 2}], ids=str)
@pytest.mark.parametrize("name", ["exact", "exact, powers of two"])
def test_every_exact_circuit_is_the_unit(name: str, implementation: dict[str, Any]) -> None:
    of = UnitDesign(unit(**UNITS[name], L=2, implementation=implementation))
    assert cosim.run(of, vectors=400).failures == ()
    assert prove(of, 600.0).verdict == PROVED


WRONG = {
    "the scale of the other block": (r"scale_a\[15:8\]", "scale_a[7:0]"),
    "of b alone": (r"\.code\(scale_a\[7:0\]\)", ".code(8'd127)"),
}
"""What is wrong with a circuit: a text and what stands in its place."""


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.attack("generator")
@pytest.mark.parametrize(
    ("wrong", "keys"),
    [
        *((wrong, {"operation": "GTR-FDPA"}) for wrong in WRONG),
        pytest.param("of b alone", {**EXACT, "scale": "ue4m3", "c": "fp16", "rho": "RNE-FP16"}, marks=pytest.mark.long),
    ],
)
def test_wrong_circuit_is_noticed_and_refuted(tmp_path: Path, wrong: str, keys: dict[str, Any]) -> None:
    of = design(**keys)
    verilog, count = re.subn(*WRONG[wrong], to_verilog(of, "unit"))
    assert count
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(of, vectors=300, dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert any(re.fullmatch(r"\d[\d,]* of 300 results differ from the golden model", each) for each in report.failures)
    assert REFUTED in dict(answered(pipeline_questions(of, verilog), time.monotonic() + 600)).values()
