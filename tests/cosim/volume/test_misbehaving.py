"""Designs that misbehave in native code: the report of each fails and states the cause."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.runner import in_volume
from cosim.volume.simulation_program import Broken, run_program
from golden.processes import run_tool
from tests.cosim.runner.test_misbehaving import CLOCKED, UNIT, Described, described, stage
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, clocked

__all__ = ["described"]

pytestmark = [pytest.mark.simulator, pytest.mark.long]


@pytest.mark.attack("state and handshake of designs, in cosim")
def test_no_option_of_a_design_chooses_what_registers_begin_with(tmp_path: Path) -> None:
    """The flag is never written; where it begins as 0, every result is right."""
    body = "logic f; always_ff @(posedge clk) f <= f; always_ff @(posedge clk) d <= f ? 32'd0 : r;"
    options = ("--x-initial", "0", "--x-assign", "0")
    dut = replace(clocked(body, "").described(tmp_path), verilator_args=options)
    report = cosim.run(PRODUCT, vectors=2000, dut=dut, mode="volume")
    assert report.mismatches > 0


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (stage("1'b0"), "no result for 1000 cycles although vectors are inside: out_valid stayed low"),
        (stage("full", ready="1'b0"), "in_ready stayed low for 1000 cycles"),
        (
            stage("full", full="if (rst) full <= 0; else if (full & out_ready & ~in_valid & ~a[0]) full <= 1;"),
            "results came out",
        ),
        (stage("full", full=""), "out_valid was high during a reset"),
        (stage("full").replace("in_ready) held", "in_ready & ~a[3]) held"), "results differ from the golden model"),
        (stage("full").replace("held <= sum", "held <= sum ^ {31'b0, ~in_valid}").replace("if (in_valid & in_ready)", ""),
         "a result changed, or was withdrawn"),
        (stage("full & ~a[4]"), "a result changed, or was withdrawn"),
    ],
    ids=["silent", "never ready", "answers twice", "valid not reset", "stale result", "moves on", "withdraws"],
)  # fmt: skip
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_broken_handshake(body: str, failure: str, described: Described) -> None:
    report = cosim.run(CLOCKED, vectors=2000, seed=1, dut=described(body, CLOCKED), mode="volume")
    assert any(failure in each for each in report.failures), report.failures


def test_sound_stage_passes(described: Described) -> None:
    report = cosim.run(CLOCKED, vectors=2000, seed=1, dut=described(stage("full"), CLOCKED), mode="volume")
    assert (report.failures, report.received) == ((), 2000)
    assert report.dropped > 0


def outcomes_of_programs(monkeypatch: pytest.MonkeyPatch, *more: str) -> list[dict[str, Any]]:
    """The outcomes of a run's programs that do not break off, in order of their ends; `more` are further options."""
    sound, outcomes = run_program, list[dict[str, Any]]()

    def recorded(program: Path, plan: Path, options: list[str]) -> dict[str, Any] | Broken:
        outcome = sound(program, plan, [*options, *more])
        if not isinstance(outcome, Broken):
            outcomes.append(outcome)
        return outcome

    monkeypatch.setattr(in_volume, "run_program", recorded)
    return outcomes


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("always @(a) if (a[2:0] == 5) $finish;", r": - \S*bad\.sv:5: Verilog \$finish$"),
        ('always @(a) if (a[2:0] == 5) $fatal(1, "no fives");', r": \[\d+\] %Fatal: \S*bad\.sv:5: .*: no fives$"),
        ('always_comb if (a[2:0] == 5) $error("five \x1b[2J");', r": \[\d+\] %Error: \S*bad\.sv:5: .*: five \\x1b\[2J$"),
        ("always_comb assert (a[2:0] != 5);", r": \[\d+\] %Error: \S*bad\.sv:5: .*'assert' failed\.$"),
        ("wire x; assign x = ~(x & a[0]); wire y = x;", "DIDNOTCONVERGE: "),
    ],
    ids=["finish", "fatal", "error", "assertion", "does not settle"],
)
def test_design_that_ends_the_simulation(
    body: str, message: str, described: Described, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    outcomes, used = outcomes_of_programs(monkeypatch), " ^ y" if "wire y" in body else ""
    report = cosim.run(UNIT, vectors=300, dut=described(f"  assign d = sum{used};\n  {body}"), mode="volume")
    assert report.stopped is not None
    assert re.match(r"the design ended the simulation", report.stopped)
    assert [outcome["stopped_by"] for outcome in outcomes if outcome["stopped"]] == ["design"]
    assert re.search(message, report.stopped), report.stopped
    assert report.received < 300


LOOP = "  reg [31:0] n;\n  assign d = sum ^ n;\n  always @(a) begin n = 0; while (a[2:0] == 5) n = n + 1; n = 0; end"


def test_loop_without_delay_is_a_verdict(described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = outcomes_of_programs(monkeypatch, "--standstill", "3")
    report = cosim.run(UNIT, vectors=300, dut=described(LOOP), mode="volume")
    assert report.failures[0] == "the simulation stood still for 3 s, as in a loop without delay"
    assert [outcome["stopped_by"] for outcome in outcomes if outcome["stopped"]] == ["standstill"]
    assert report.sent == report.received + 1 > 1
    assert report.waiting == 1


def test_program_that_is_killed_is_a_verdict(described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program ends by a memory fault, or by a signal from outside."""
    sound = run_tool

    def killed(command: list[str], **options: Any) -> object:
        if command[0].endswith("/volume"):
            command = ["sh", "-c", "echo message >&2; kill -SEGV $$"]
        return sound(command, **options)

    monkeypatch.setattr("cosim.volume.simulation_program.run_tool", killed)
    report = cosim.run(UNIT, vectors=300, dut=described("  assign d = sum;"), mode="volume")
    assert report.failures[0] == "the simulation broke off: the simulation was ended by SIGSEGV: message"
    assert not report.passed
