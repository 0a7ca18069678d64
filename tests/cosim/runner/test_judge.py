"""A reset that is described wrongly is named, and one that is described rightly never."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import cosim
from cosim import Report, Request, summary
from cosim.bench.scoreboard import Selection
from cosim.build.errors import SimulationError
from cosim.dut.description import Dut, Reset
from cosim.runner.html_report import report_page
from cosim.runner.job import Simulated
from cosim.runner.judge import FEW, reset_finding
from cosim.runner.junit import failure_text
from rtl import UnitDesign
from rtl.designs.design import Design
from tests.cosim.bench.test_scoreboard import T_UNIT, run_through, scoreboard
from tests.cosim.dut.test_third_party import parts
from tests.cosim.runner.reports import nothing_done, passed

pytestmark = pytest.mark.attack("designs by hand, in cosim")

LOW = Reset("rst", "low")
OTHERS = {
    "polarity": (Reset("rst", "high"), "rst is active high, not low"),
    "kind": (Reset("rst", "low", True), "rst is asynchronous, not synchronous"),
    "both": (Reset("rst", "high", True), "rst is active high and asynchronous, not low and synchronous"),
}


def described(reset: Reset | None, protocol: str = "valid") -> Dut:
    latency = 2 if protocol == "fixed-latency" else 0
    return replace(parts("stream")[1], reset=reset, protocol=protocol, latency=latency, ports={})


def sends(passes: Callable[[Dut], bool], asked: list[Request]) -> Callable[[Design, Request, Path], Simulated]:
    """A simulator of a design that passes with some descriptions."""

    def send(design: Design, request: Request, folder: Path) -> Simulated:
        asked.append(request)
        assert request.dut is not None
        return Simulated(outcome=sound() if passes(request.dut) else stuck(), seconds=1.0)

    return send


def stuck() -> Report:
    return replace(nothing_done(), stopped="out_valid stayed low")


@cache
def sound() -> Report:
    return passed()


def found(report: Report, passes: Callable[[Dut], bool], dut: Dut, vectors: int = 2000) -> tuple[str | None, list[Request]]:
    asked: list[Request] = []
    request = Request(vectors=vectors, dut=dut)
    return reset_finding(UnitDesign(T_UNIT), request, report, False, sends(passes, asked)), asked


@pytest.mark.parametrize("case", OTHERS)
def test_reset_that_is_described_wrongly_is_named(case: str) -> None:
    reset, words = OTHERS[case]
    text, asked = found(stuck(), lambda dut: dut.reset == reset, described(LOW))
    assert text == f"{words}: with that reset 1,000 vectors pass, but as described they fail"
    assert all(request.vectors == 1000 and request.fail_fast for request in asked)


def test_reset_that_does_not_empty_the_design_is_named() -> None:
    high = replace(stuck(), stopped="out_valid was high during a reset")
    text, asked = found(high, lambda dut: dut.reset is None, described(LOW))
    assert text == (
        "as long as rst is never asserted, 90 vectors pass, but as described they fail: a reset does not empty it"
    )
    never = asked[-2]
    assert (never.vectors, never.dut and never.dut.tie["rst"]) == (FEW, 1)


@pytest.mark.parametrize(
    "passes",
    [lambda dut: False, lambda dut: True],
    ids=["a design that is wrong with every reset", "a failure that a short run does not show"],
)
def test_other_failure_is_no_reset(passes: Callable[[Dut], bool]) -> None:
    text, asked = found(stuck(), passes, described(LOW))
    assert text is None
    assert asked


def test_wrong_values_alone_are_no_reset() -> None:
    """Some results differ, none is missing: nothing is tried."""
    wrong = run_through(scoreboard(vectors=300), lambda row, code: code ^ (row % 7 == 0))
    assert wrong.mismatches > 40
    assert found(wrong, lambda dut: dut.reset != LOW, described(LOW)) == (None, [])


def test_design_that_cannot_be_driven_otherwise_passes_nothing() -> None:
    def send(design: Design, request: Request, folder: Path) -> Simulated:
        if request.dut is not None and request.dut.reset != LOW:
            raise SimulationError("no such port")
        return Simulated(outcome=stuck(), seconds=1.0)

    assert reset_finding(UnitDesign(T_UNIT), Request(dut=described(LOW)), stuck(), False, send) is None


def test_asynchronous_reset_of_a_design_that_passes_is_named() -> None:
    text, asked = found(sound(), lambda dut: True, described(LOW))
    assert text == "rst acts without a clock edge too: the reset is asynchronous, not synchronous as described"
    assert [request.dut and request.dut.reset for request in asked] == [replace(LOW, asynchronous=True)]


def test_synchronous_reset_of_a_design_that_passes_is_not_named() -> None:
    assert found(sound(), lambda dut: dut.reset == LOW, described(LOW))[0] is None


@pytest.mark.parametrize(
    ("dut", "vectors"),
    [
        (described(None), 2000),
        (described(replace(LOW, asynchronous=True)), 2000),
        (described(LOW), 999),
        (described(LOW, "fixed-latency"), 2000),
    ],
    ids=["no reset", "asynchronous already", "a short run", "no valid signal would show it"],
)
def test_nothing_is_tried_where_nothing_can_be_found(dut: Dut, vectors: int) -> None:
    assert found(sound(), lambda dut: True, dut, vectors) == (None, [])


def test_nothing_is_tried_for_a_selection_of_vectors() -> None:
    def send(design: Design, request: Request, folder: Path) -> Simulated:
        raise AssertionError

    request = Request(dut=described(LOW), selection=Selection(vector=3))
    assert reset_finding(UnitDesign(T_UNIT), request, stuck(), False, send) is None


def test_reports_say_it() -> None:
    report = replace(stuck(), reset="rst is active high, not low")
    for text in (summary([report], 0), failure_text(report), report_page([report], {}, 0)):
        assert "rst is active high, not low" in text
    assert report.as_dict()["reset"] == report.reset


WRONG: dict[str, tuple[str, Reset, dict[str, str], str]] = {
    "active low": ("stream", Reset("rst", "low"), {}, "rst is active high, not low"),
    "asynchronous": ("stream", Reset("rst", "high", True), {}, "rst is synchronous, not asynchronous"),
    "synchronous": ("lanes", Reset("rst_ni", "low"), {}, "rst_ni acts without a clock edge too"),
    "not reset": ("stream", Reset("rst"), {"BUG_VALID_NOT_RESET": ""}, "as long as rst is never asserted"),
}


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize("mode", ["volume", "cocotb"])
@pytest.mark.parametrize("case", WRONG)
def test_reset_of_a_real_design_is_named(case: str, mode: str) -> None:
    name, reset, defines, words = WRONG[case]
    unit, dut = parts(name)
    report = cosim.run(unit, vectors=2000, seed=6, mode=mode, dut=replace(dut, reset=reset, defines=defines))
    assert report.reset is not None
    assert report.reset.startswith(words)


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize("bug", ["", "BUG_READY_WHILE_FULL"])
def test_reset_of_a_real_design_described_rightly_is_not_named(bug: str) -> None:
    unit, dut = parts("stream")
    report = cosim.run(unit, vectors=2000, seed=6, mode="volume", dut=replace(dut, defines={bug: ""} if bug else {}))
    assert (report.passed, report.reset) == (not bug, None)
