"""Hand-written designs in various styles, driven without an adapter: the sound ones pass, and every bug is found."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
import golden

FOLDER = Path(__file__).parents[2] / "third_party"
DESIGNS = ("lanes", "arrays", "simd", "stream")


def parts(name: str) -> tuple[golden.Unit, cosim.Dut]:
    return golden.load_unit(FOLDER / name / "unit.toml"), cosim.load_dut(FOLDER / name / "dut.toml")


def bugs() -> Iterator[tuple[str, str]]:
    """Every design with each macro that puts a bug into it."""
    for name in DESIGNS:
        _, dut = parts(name)
        for macro in sorted({macro for source in dut.sources for macro in re.findall(r"BUG_\w+", source.read_text())}):
            yield name, macro


DIAGNOSES = {
    "BUG_LANES_SWAPPED": "elements 1 and 2 of a, or of b, are swapped",
    "BUG_MAX_WITHOUT_C": "e_max leaves out c, and a term shifted left loses what is above 64 bits",
    "BUG_OUTPUT_INVERTED": "every bit of d is inverted",
    "BUG_PRODUCT_RENORMALISED": "a product of 2 or more is renormalised before alignment, and loses its last bit",
    "BUG_RESULT_OF_THE_OTHER": None,  # not visible in a result's operands
    "BUG_SUBNORMALS_FLUSHED": "subnormal results are flushed",
    "BUG_SUBNORMAL_EXPONENT": "the exponent of a subnormal a or b is one too small",
    "BUG_ZERO_C_KEEPS_HIDDEN_BIT": "a zero c keeps its hidden bit: it counts as the smallest normal number",
}
"""The diagnosis of each arithmetic bug's mismatches; None where no single change of the model explains them. The
others are bugs of a protocol."""


def chosen() -> Iterator[Any]:
    """Every bug of every design. The long run has each bug in the first design that has it, and one bug of each design."""
    seen: set[str] = set()
    for bug in bugs():
        is_new = not seen >= {*bug}
        seen |= {*bug}
        volume = pytest.mark.long if is_new else pytest.mark.campaign
        yield pytest.param(*bug, marks=volume, id="-".join(bug))


def check_sound(name: str, vectors: int, **options: Any) -> None:
    unit, dut = parts(name)
    report = cosim.run(unit, vectors=vectors, seed=5, dut=dut, **options)
    assert (report.failures, report.sent, report.received, report.waived) == ((), vectors, vectors, {})
    assert (report.dropped > 0) == (dut.reset is not None)  # resets in the middle of the stream
    assert sum(report.classes.values()) == vectors * dut.results


def check_bug(name: str, bug: str, **options: Any) -> None:
    unit, dut = parts(name)
    report = cosim.run(unit, vectors=2000, seed=6, dut=replace(dut, defines={bug: ""}), **options)
    assert not report.passed
    if bug in DIAGNOSES:
        assert report.explanation is not None
        cause = report.explanation.diagnoses[""].cause
        assert (cause.change if cause else None) == DIAGNOSES[bug]
        assert report.explanation.shown.reproduced
        assert report.explanation.trace.d == report.explanation.shown.row.expected


@pytest.mark.simulator
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "stream" else pytest.mark.long) for name in DESIGNS]
)
def test_sound_design_passes(name: str) -> None:
    check_sound(name, 3000)


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(("name", "bug"), [*chosen()])
@pytest.mark.attack("designs by hand, in cosim")
def test_bug_is_found(name: str, bug: str) -> None:
    check_bug(name, bug)


def test_there_is_a_bug_of_every_kind() -> None:
    assert {bug for _, bug in bugs()} == {
        *DIAGNOSES, "BUG_ENABLE_IGNORED", "BUG_READY_WHILE_FULL", "BUG_VALID_NOT_RESET",
    }  # fmt: skip


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("designs by hand, in cosim")
def test_latency_one_off_is_found() -> None:
    unit, dut = parts("arrays")
    assert not cosim.run(unit, vectors=200, dut=replace(dut, latency=2)).passed
    assert not cosim.run(unit, vectors=200, dut=replace(dut, latency=4)).passed


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("designs by hand, in cosim")
def test_reset_of_the_wrong_kind_is_found() -> None:
    """A reset that needs a clock edge is not asynchronous, and a reset of the wrong polarity never lets the design run."""
    unit, dut = parts("stream")
    assert not cosim.run(unit, vectors=500, dut=replace(dut, reset=cosim.Reset("rst", asynchronous=True))).passed
    assert not cosim.run(unit, vectors=500, dut=replace(dut, reset=cosim.Reset("rst", active="low"))).passed
