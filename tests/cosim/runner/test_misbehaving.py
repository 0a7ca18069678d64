"""Designs that misbehave in the simulation: the report of each fails and states the cause."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import cosim
from cosim.build.errors import place_in_log
from cosim.runner import job
from cosim.runner.simulate import FROM_THE_DESIGN
from golden import Implementation, Unit
from golden.arithmetic.formats import E4M3, E5M2, FP32
from golden.operations import TFDPA
from rtl import UnitDesign, as_design, to_verilog

FP8 = TFDPA(a=E4M3, b=E5M2, c=FP32, L=2, F=13, rho="RZ-FP32", e_zero=-133)
UNIT = Unit(name="combinational", operation=FP8)
CLOCKED = Unit(name="clocked", operation=FP8, implementation=Implementation(stages=1))

pytestmark = pytest.mark.simulator

BOTH = [pytest.param("icarus", marks=pytest.mark.needs("icarus")), pytest.param("verilator", marks=pytest.mark.long)]
"""The simulators of short runs: Icarus builds in a second, Verilator in ten; the long run has both."""

OPERANDS = "input [15:0] a, input [15:0] b, input [31:0] c, output [31:0] d"
HANDSHAKE = "input clk, input rst, input in_valid, output in_ready, output out_valid, input out_ready"


@pytest.fixture
def described(tmp_path: Path) -> "Described":
    return Described(tmp_path)


class Described:
    """A test's Verilog as a design under test, with a sound combinational `core` beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, body: str, unit: Unit = UNIT) -> cosim.Dut:
        core, bad = self._folder / "core.v", self._folder / "bad.sv"
        core.write_text(to_verilog(as_design(UNIT), "core"))
        ports = OPERANDS if unit is UNIT else f"{HANDSHAKE}, {OPERANDS}"
        bad.write_text(
            f"module bad({ports});\n  wire [31:0] sum;\n  core core(.a(a), .b(b), .c(c), .d(sum));\n{body}\nendmodule\n"
        )
        return cosim.dut_like(UnitDesign(unit), (core, bad), "bad")


def stage(valid: str, ready: str = "~full | out_ready", full: str = "if (rst) full <= 0;") -> str:
    """A register that holds a result: what `out_valid` and `in_ready` show, and how `full` is reset."""
    return f"""
  reg full;
  reg [31:0] held;
  assign in_ready = {ready}, out_valid = {valid}, d = held;
  always @(posedge clk) begin
    if (in_valid & in_ready) held <= sum;
    if (in_ready) full <= in_valid;
    {full}
  end"""


@pytest.mark.long
@pytest.mark.needs("icarus")
def test_sound_stage_passes(described: Described) -> None:
    report = cosim.run(CLOCKED, vectors=200, dut=described(stage("full"), CLOCKED), simulator="icarus")
    assert (report.failures, report.received) == ((), 200)
    assert report.dropped > 0


@pytest.mark.parametrize("simulator", BOTH)
def test_finish_is_a_verdict_with_its_place(simulator: str, described: Described) -> None:
    dut = described("  assign d = sum;\n  always @(a) if (a[2:0] == 5) $finish;")
    report = cosim.run(UNIT, vectors=300, dut=dut, simulator=simulator)
    assert report.stopped is not None
    assert report.stopped.startswith("the design ended the simulation")
    if simulator == "verilator":  # Icarus says nothing of it
        assert re.search(r": \S*bad\.sv:5: Verilog \$finish$", report.stopped)
    assert report.failures[0] == report.stopped
    assert 0 < report.received < 300
    assert report.mismatches == 0


@pytest.mark.long
@pytest.mark.parametrize("simulator", BOTH)
def test_finish_at_the_beginning_is_a_verdict(simulator: str, described: Described) -> None:
    report = cosim.run(UNIT, vectors=300, dut=described("  assign d = sum;\n  initial $finish;"), simulator=simulator)
    assert report.failures[0].startswith("the design ended the simulation")
    assert report.received < 3


@pytest.mark.long
@pytest.mark.parametrize("simulator", BOTH)
def test_fatal_is_a_verdict_with_its_place(simulator: str, described: Described) -> None:
    dut = described('  assign d = sum;\n  always @(a) if (a[2:0] == 5) $fatal(1, "no fives");')
    report = cosim.run(UNIT, vectors=300, dut=dut, simulator=simulator)
    pattern = (
        r"(the design ended the simulation|the simulation broke off: \w+ exited with status 1): .*bad\.sv:5: .*no fives"
    )
    assert re.match(pattern, report.failures[0])
    assert 0 < report.received < 300


@pytest.mark.attack("designs by hand, in cosim")
@pytest.mark.needs("icarus")
@pytest.mark.parametrize(
    "check",
    [
        'initial $error("x");',
        "always @(a) if (a[2:0] == 5) $error;",
        "final assert (0);",
        'initial begin $write("no end of a line"); assert (0); end',
    ],
)
def test_failed_assertion_fails_the_run_in_icarus_too(check: str, described: Described) -> None:
    report = cosim.run(UNIT, vectors=300, dut=described(f"  assign d = sum;\n  {check}"), simulator="icarus")
    assert re.match(r"an assertion of the design failed: ERROR: \S*bad\.sv:5:", report.failures[0])
    assert (report.received, report.mismatches) == (300, 0)


@pytest.mark.attack("designs by hand, in cosim")
@pytest.mark.parametrize("mode", ["volume", pytest.param("cocotb", marks=pytest.mark.long)])
def test_check_after_the_last_vector_is_a_verdict(mode: str, described: Described) -> None:
    dut = described('  assign d = sum;\n  final assert (0) else $error("too late");')
    report = cosim.run(UNIT, vectors=300, dut=dut, mode=mode)
    assert re.search(r"bad\.sv:5: .*too late", report.failures[0])


@pytest.mark.long
@pytest.mark.parametrize(("options", "passes"), [((), False), (("--noassert",), True)], ids=["asserted", "switched off"])
def test_assertion_of_the_design_is_a_verdict(options: tuple[str, ...], passes: bool, described: Described) -> None:
    """A failed assertion is reported with its text and time; `unique` only warns, by the standard."""
    dut = described(
        '  assign d = sum;\n  always_comb assert (a[2:0] != 5) else $error("five in %h", a);\n'
        "  logic q;\n  always_comb unique case (a[2:0]) 0: q = 0; 1: q = 1; endcase"
    )
    report = cosim.run(UNIT, vectors=300, dut=replace(dut, verilator_args=options))
    assert report.passed == passes
    if not passes:
        place = r"the design ended the simulation: \[\d+\] %Error: bad\.sv:5: Assertion failed in mmau_dut\.dut"
        assert re.match(place + r": five in [0-9a-f]{3}[5d]$", report.failures[0]), report.failures


@pytest.mark.long
@pytest.mark.parametrize("simulator", BOTH)
def test_loop_without_delay_is_a_verdict(simulator: str, described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "STANDSTILL", 10.0)
    dut = described(
        "  reg [31:0] n;\n  assign d = sum ^ n;\n  always @(a) begin n = 0; while (a[2:0] == 5) n = n + 1; n = 0; end"
    )
    report = cosim.run(UNIT, vectors=300, dut=dut, simulator=simulator)
    assert re.fullmatch(
        r"the simulation stood still for 10 s, as in a loop without delay, after \d+ vectors had gone in and \d+ results "
        r"had come out",
        report.failures[0],
    )
    assert report.sent == report.received + 1 > 1
    assert report.waiting == 1


@pytest.mark.long
def test_combinational_loop_that_does_not_settle_is_a_verdict(described: Described) -> None:
    dut = described("  wire x;\n  assign x = ~(x & a[0]);\n  assign d = sum ^ x;")
    report = cosim.run(UNIT, vectors=300, dut=dut)
    assert re.search(r"^the design ended the simulation: %Error-DIDNOTCONVERGE: ", report.failures[0]), report.failures
    assert report.sent < 300


@pytest.mark.needs("icarus")
@pytest.mark.long
def test_combinational_loop_stands_still_in_icarus(described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "STANDSTILL", 10.0)
    dut = described("  wire x;\n  assign x = ~(x & a[0]);\n  assign d = sum ^ x;")
    report = cosim.run(UNIT, vectors=300, dut=dut, simulator="icarus")
    assert report.failures[0].startswith("the simulation stood still for ")


@pytest.mark.needs("icarus")
def test_valid_bit_without_reset_is_found(described: Described) -> None:
    """The register begins as X, and nothing clears it before it is read."""
    dut = described(stage("full", full=""), CLOCKED)
    report = cosim.run(CLOCKED, vectors=100, dut=dut, simulator="icarus")
    assert report.failures[0] == "out_valid is neither 0 nor 1"


@pytest.mark.needs("icarus")
def test_some_undefined_bits_are_a_separate_kind_of_mismatch(described: Described) -> None:
    report = cosim.run(UNIT, vectors=200, dut=described("  reg u;\n  assign d = {u, sum[30:0]};"), simulator="icarus")
    assert report.failures == ("200 of 200 results differ from the golden model",)
    assert {(group.got_class, group.distance) for group in report.groups} == {("undefined", "undefined bits")}
    first = report.groups[0].mismatches[0]
    assert first.got == f"X{first.expected & 0x7FFF_FFFF:031b}"
    assert f"got      fp32 {first.got}: bits that are neither 0 nor 1" in report.groups[0].first


@pytest.mark.long
@pytest.mark.needs("icarus")
@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (stage("1'b0"), "no result for 1000 cycles although vectors are inside: out_valid stayed low"),
        (stage("full", ready="1'b0"), "in_ready stayed low for 1000 cycles"),
        (
            stage("full", full="if (rst) full <= 0; else if (full & out_ready & ~in_valid & ~a[0]) full <= 1;"),
            "results came out",
        ),
    ],
    ids=["never answers", "never ready", "answers twice"],
)
def test_too_few_and_too_many_answers(body: str, failure: str, described: Described) -> None:
    report = cosim.run(CLOCKED, vectors=200, dut=described(body, CLOCKED), simulator="icarus")
    assert any(failure in each for each in report.failures), report.failures
    assert not report.passed


@pytest.mark.long
@pytest.mark.needs("icarus")
def test_mismatch_has_cycle_and_time(described: Described) -> None:
    dut = described(stage("full").replace("held <= sum", "held <= sum ^ (a[7:0] == 8'h38)"), CLOCKED)
    report = cosim.run(CLOCKED, vectors=3000, seed=2, dut=dut, simulator="icarus")
    recorded = sorted((each for group in report.groups for each in group.mismatches), key=lambda each: each.vector)
    assert len(recorded) > 3
    assert all(each.a[0] == 0x38 for each in recorded)
    times = [(each.cycle or 0, each.time) for each in recorded]
    assert times == sorted(times)
    assert all(cycle >= each.vector and time >= 2000 * cycle for (cycle, time), each in zip(times, recorded, strict=True))


@pytest.mark.parametrize("simulator", BOTH)
def test_error_of_the_testbench_is_no_verdict(
    simulator: str, described: Described, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder of its files is not there."""
    written = job.Job.write

    def elsewhere(of: job.Job) -> Path:
        path = written(of)
        path.write_text(path.read_text().replace(str(of.folder), str(tmp_path / "none")))
        return path

    monkeypatch.setattr(job.Job, "write", elsewhere)
    with pytest.raises(cosim.SimulationError) as error:
        cosim.run(UNIT, vectors=100, dut=described("  assign d = sum;"), simulator=simulator, work_dir=tmp_path / "work")
    first, log = str(error.value).splitlines()
    assert first.startswith("the testbench of mmau_dut failed: FileNotFoundError: [Errno 2] ")
    assert log == f"log: {tmp_path / 'work' / 'simulation.log'}"


@pytest.mark.needs("icarus")
def test_first_error_of_a_build_is_shown_and_its_log_saved(described: Described, tmp_path: Path) -> None:
    """Verilator reads the ports; a construct that Icarus does not support is an error of Icarus."""
    dut = described("  localparam int unsigned N = 0;\n  assign d = sum + N;")
    with pytest.raises(cosim.SimulationError) as error:
        cosim.run(UNIT, vectors=10, dut=dut, simulator="icarus", work_dir=tmp_path / "work")
    found = re.fullmatch(
        r"icarus cannot build mmau_dut: iverilog exited with status \d+: (\S*bad\.sv:4: .*)\nlog: (.*)", str(error.value)
    )
    assert found is not None, error.value
    log = Path(found[2])
    assert log == tmp_path / "work" / "build.log"
    assert found[1] in log.read_text()


@pytest.mark.parametrize(
    ("line", "blamed"),
    [
        ("- :0: Verilog $finish", False),
        ("- /a/bad.sv:5: Verilog $finish", True),
        ("/a/bad.sv:5: $finish called at 3 (1ns)", True),
        ("%Error: bad.sv:7: Verilog $stop", True),
    ],
)
def test_end_of_a_test_is_not_taken_for_the_designs_finish(line: str, blamed: bool) -> None:
    """When the testbench fails, cocotb ends the simulation, and Verilator reports it without a place."""
    assert (place_in_log(f"first\n{line}\n", FROM_THE_DESIGN) is not None) == blamed
