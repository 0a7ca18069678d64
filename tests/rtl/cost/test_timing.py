"""Static timing analysis: figures worked out by hand, and reports that must not pass."""

import re
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtl.cost import timing
from rtl.cost.liberty import Library, library
from rtl.cost.timing import TimingError, analyse, read_report, run_script, script
from rtl.tools import MissingTool
from tests.rtl.cost.needs import needs_library, needs_sta

INVERTER = "module top(a, y); input a; output y; INVX1 u (.A(a), .Y(y)); endmodule\n"
CHAIN = """
module top(a, y); input a; output y; wire p; wire q;
  INVX1 u (.A(a), .Y(p)); INVX1 v (.A(p), .Y(q)); INVX1 w (.A(q), .Y(y));
endmodule
"""
REGISTERED = """
module top(clk, a, y, z); input clk; input a; output y; output z; wire p; wire q;
  DFFPOSX1 r (.CLK(clk), .D(a), .Q(p)); INVX1 u (.A(p), .Y(q)); DFFPOSX1 s (.CLK(clk), .D(q), .Q(y)); INVX1 v (.A(a), .Y(z));
endmodule
"""
CONSTANT = "module top(a, y, z); input a; output y; output z; INVX1 u (.A(a), .Y(y)); assign z = 1'h0; endmodule\n"

REPORT = """\
constrained 1
ended 1
slack 5.25
Group                    Internal    Switching      Leakage        Total
                            Power        Power        Power        Power
------------------------------------------------------------------------
Sequential        1.0e-03 2.0e-03 3.0e-09 3.000003000e-03  30.0%
Total             3.0e-03 4.0e-03 5.0e-09 7.000005000e-03 100.0%
                            64.7%        35.3%         0.0%
end of report
"""


@pytest.fixture(scope="module")
def osu018() -> Library:
    return library("osu018")


def test_report_is_read() -> None:
    found = read_report(staged("5.25", "6"), 20.0, stages=2)
    assert (found.delay, found.power, found.stages) == (14.75, 7.000005e-3, (14.75, 14.0))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("slack 5.25\n", "", "OpenSTA's report must state the worst slack once, it does 0 times"),
        ("slack 5.25", "slack", "OpenSTA's report must state the worst slack once, it does 0 times"),
        ("slack 5.25", "slack INF", "OpenSTA's report must state the worst slack once, it does 0 times"),
        ("slack 5.25", "slack 5.25\nslack 5.25", "OpenSTA's report must state the worst slack once, it does 2 times"),
        ("slack 5.25", "slack 1e+39", "delay and power must be above 0, got a slack of 1e+39 of 20.0 ns and 0.007000005 W"),
        ("slack 5.25", "slack 20", "delay and power must be above 0, got a slack of 20.0 of 20.0 ns and 0.007000005 W"),
        ("Total  ", "Sum", "OpenSTA's report must state the total power once, it does 0 times"),
        ("7.000005000e-03 100.0%", "nan 100.0%", "OpenSTA's report must state the total power once, it does 0 times"),
        ("7.000005000e-03 100", "0.0 100", "delay and power must be above 0, got a slack of 5.25 of 20.0 ns and 0.0 W"),
        ("constrained 1", "constrained 0", "OpenSTA must come to the end of its report and find every path constrained"),
        ("ended 1", "ended 0", "OpenSTA must come to the end of its report and find every path constrained"),
        ("constrained 1\n", "", "OpenSTA's report must state the check of the constraints once, it does 0 times"),
        ("end of report\n", "", "OpenSTA must come to the end of its report and find every path constrained"),
        ("slack", "Warning: x.\nslack", "OpenSTA must have nothing to warn of, it says: Warning: x."),
        ("slack", "Error: y, 3\nslack", "OpenSTA must have nothing to warn of, it says: Error: y, 3"),
    ],
)
def test_report_that_is_not_whole_is_an_error(old: str, new: str, message: str) -> None:
    with pytest.raises(TimingError, match=f"^{re.escape(message)}$") as error:
        read_report(REPORT.replace(old, new, 1), 20.0)
    assert error.value.log == REPORT.replace(old, new, 1)


def staged(*slacks: str) -> str:
    lines = "".join(f"stage {number} slack {slack}\n" for number, slack in enumerate(slacks, 1))
    return REPORT.replace("slack 5.25\n", f"slack 5.25\n{lines}")


@pytest.mark.attack("a report that leaves out the slack of a stage, or states one that is worse than the worst")
@pytest.mark.parametrize(
    ("slacks", "message"),
    [
        (("5.25",), "OpenSTA's report must state the slack of stage 2 once, it does 0 times"),
        (("5.25", ""), "OpenSTA's report must state the slack of stage 2 once, it does 0 times"),
        (("5.24", "6"), "no stage must be slower than the whole, 5.25 of 20.0 ns, got slacks of [5.24, 6.0]"),
        (("5.25", "20"), "no stage must be slower than the whole, 5.25 of 20.0 ns, got slacks of [5.25, 20.0]"),
    ],
)
def test_stages_that_are_not_whole_are_an_error(slacks: tuple[str, ...], message: str) -> None:
    with pytest.raises(TimingError, match=f"^{re.escape(message)}$"):
        read_report(staged(*slacks), 20.0, stages=2)


@needs_sta
@needs_library
def test_stage_has_the_worst_slack_of_its_ends(osu018: Library) -> None:
    """The path through the inverter is the longer one; that to the first register begins at a port."""
    found = analyse(REGISTERED, "top", osu018, True, 20.0, 0.1, stages=[["r/D"], ["s/D"], ["r/D", "s/D"]])
    first, second, both = found.stages
    assert first < second == both <= found.delay


@needs_sta
@needs_library
def test_power_of_a_load_is_that_of_its_charge(osu018: Library) -> None:
    """Half of C·V² a change: 1 pF more at 1.8 V, 0.1 changes in 20 ns, take 8.1 µW more; the cell takes what it did."""

    def switching(load: float) -> float:
        cells = replace(osu018, output_load=load)
        text = run_script(INVERTER, cells, script("top", cells, False, 20.0, 0.1))
        return float(re.findall(r"^Total +\S+ +(\S+)", text, flags=re.MULTILINE)[0])

    assert round((switching(1.5) - switching(0.5)) * 1e6, 3) == round(0.5 * 1.8**2 * 0.1 / 20e-3, 3) == 8.1


@needs_sta
@needs_library
def test_figures_follow_the_circuit_the_clock_and_the_activity(osu018: Library) -> None:
    one, base = (analyse(text, "top", osu018, False, 20.0, 0.1) for text in (INVERTER, CHAIN))
    assert 0 < one.delay < base.delay, "a longer path takes longer"
    assert one.power < base.power
    faster, busier = analyse(CHAIN, "top", osu018, False, 10.0, 0.1), analyse(CHAIN, "top", osu018, False, 20.0, 0.2)
    assert base.delay == faster.delay == busier.delay
    assert 1.99 < faster.power / base.power < 2.0, "leakage aside, twice"
    assert faster.power == busier.power
    assert analyse(REGISTERED, "top", osu018, True, 20.0, 0.1).delay > 2 * one.delay, "clock to output, inverter, set-up"
    assert analyse(CONSTANT, "top", osu018, False, 20.0, 0.1, constants=["z"]).delay == one.delay, "a constant has no path"


@needs_sta
@needs_library
@pytest.mark.parametrize("constants", [[], ["y"], ["y", "z"]])
def test_output_without_a_path_that_is_not_known_as_constant_is_an_error(osu018: Library, constants: list[str]) -> None:
    message = r"^OpenSTA must have nothing to warn of, it says: Warning: There is 1 unconstrained endpoint\.$"
    with pytest.raises(TimingError, match=message):
        analyse(CONSTANT, "top", osu018, False, 20.0, 0.1, constants=constants)


def without(line: str) -> Callable[[str], str]:
    return lambda commands: re.sub(rf"^{line}.*$\n", "", commands, flags=re.MULTILINE)


WARNS = "OpenSTA must have nothing to warn of, it says: "

UNTRUSTED: dict[str, tuple[Callable[[str], str], str, str]] = {
    "no clock": (without("create_clock"), CHAIN, f"{WARNS}Warning: "),
    "registers without it": (lambda commands: commands.replace(" [get_ports clk]", ""), REGISTERED, f"{WARNS}Warning: "),
    "no output delay": (without("set_output_delay"), CHAIN, f"{WARNS}Warning: There is 1 output port"),
    "no input delay": (lambda commands: commands.replace("{set_input_delay", "{puts"), CHAIN, WARNS),
    "cut short": (without("puts .end of report"), CHAIN, "OpenSTA must come to the end of its report"),
    "black box": (str, CHAIN.replace("INVX1 v", "INVX99 v"), f"{WARNS}Warning: "),
    "no module": (str, "module other(); endmodule\n", f"{WARNS}Error: "),
    "syntax": (str, INVERTER.replace(";", "", 1), f"{WARNS}Error: "),
}
"""A change of the commands, a netlist, and how the message begins."""


@needs_sta
@needs_library
@pytest.mark.parametrize("case", UNTRUSTED)
def test_netlist_that_is_not_constrained_is_an_error(osu018: Library, case: str) -> None:
    change, text, message = UNTRUSTED[case]
    commands = script("top", osu018, text == REGISTERED, 20.0, 0.1)
    assert (change(commands) != commands) == (change is not str), "the change changes something"
    with pytest.raises(TimingError, match=f"^{re.escape(message)}"):
        read_report(run_script(text, osu018, change(commands)), 20.0)


def stand_in(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program `sta` of that text."""
    program = folder / "sta"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(timing, "which", lambda name: str(program))


SMALL = Library("small.lib", "", {}, 0.03)


@pytest.mark.parametrize(
    ("text", "message", "log"),
    [
        ("echo something; exit 3", r"exited with status 3", "something\n"),
        ("echo so far; exec sleep 100", r"did not end within 0\.5 s", "so far\n"),
    ],
)
def test_program_that_fails_or_hangs_is_an_error(
    text: str, message: str, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, text, monkeypatch)
    with pytest.raises(TimingError, match=f"^OpenSTA {message}$") as error:
        run_script(CHAIN, SMALL, "", limit=0.5)
    assert error.value.log == log


@pytest.mark.parametrize(
    ("text", "what"), [("exec sleep 100", "does not end within 0.1 s"), ("exit 3", "exits with status 3")]
)
def test_program_that_does_not_tell_its_version_counts_as_missing(
    text: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, text, monkeypatch)
    monkeypatch.setattr(timing, "ANSWER", 0.1)
    with pytest.raises(MissingTool, match=rf"^delay and power need OpenSTA, and \S+/sta -version {re.escape(what)}; "):
        timing.tool_version()


def test_missing_program_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "which", lambda name: None)
    message = "delay and power need OpenSTA's program sta, which is not there; install Debian's package opensta"
    with pytest.raises(MissingTool, match=f"^{re.escape(message)}$"):
        analyse(CHAIN, "top", SMALL, False, 20.0, 0.1)
