"""Designs that misbehave in the simulation, or write files: the report of each fails and states the cause."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.build.errors import place_in_log
from cosim.runner import in_volume, job
from cosim.runner.job import Simulated
from cosim.runner.simulate import FROM_THE_DESIGN
from cosim.volume.simulation_program import Broken, run_program
from golden import Implementation, Unit
from golden.arithmetic.formats import E4M3, E5M2, FP32
from golden.operations import TFDPA
from golden.processes import run_tool
from rtl import UnitDesign, as_design, to_verilog
from tests.cosim.runner.reports import passed
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong, clocked

FP8 = TFDPA(a=E4M3, b=E5M2, c=FP32, L=2, F=13, rho="RZ-FP32", e_zero=-133)
UNIT = Unit(name="combinational", operation=FP8)
CLOCKED = Unit(name="clocked", operation=FP8, implementation=Implementation(stages=1))

pytestmark = pytest.mark.simulator

ICARUS = pytest.param("icarus", marks=pytest.mark.needs("icarus"))
BOTH = [ICARUS, pytest.param("verilator", marks=pytest.mark.long)]
"""The simulators of short runs: Icarus builds in a second, Verilator in ten; the long run has both."""

EVERY_WAY = [*BOTH, pytest.param("volume", marks=pytest.mark.long)]
"""Both simulators, and native code."""

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


def run(unit: Unit, dut: cosim.Dut, how: str, vectors: int = 300, **options: Any) -> cosim.Report:
    """A run in one of the ways."""
    way: dict[str, Any] = {"mode": "volume"} if how == "volume" else {"simulator": how}
    return cosim.run(unit, vectors=vectors, dut=dut, **way, **options)


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


def native_outcomes(monkeypatch: pytest.MonkeyPatch, *more: str) -> list[dict[str, Any]]:
    """The outcomes of a run's native programs that do not break off, in order of their ends; `more` are further options."""
    sound, outcomes = run_program, list[dict[str, Any]]()

    def recorded(program: Path, plan: Path, options: list[str]) -> dict[str, Any] | Broken:
        outcome = sound(program, plan, [*options, *more])
        if not isinstance(outcome, Broken):
            outcomes.append(outcome)
        return outcome

    monkeypatch.setattr(in_volume, "run_program", recorded)
    return outcomes


@pytest.mark.long
@pytest.mark.parametrize("how", [ICARUS, "volume"])
def test_sound_stage_passes(how: str, described: Described) -> None:
    report = run(CLOCKED, described(stage("full"), CLOCKED), how, vectors=2000 if how == "volume" else 200, seed=1)
    assert (report.failures, report.received) == ((), report.vectors)
    assert report.dropped > 0


ENDS: dict[str, tuple[str, dict[str, str]]] = {
    "finish": (
        "always @(a) if (a[2:0] == 5) $finish;",
        {"icarus": "$", "verilator": r": \S*bad\.sv:5: Verilog \$finish$", "volume": r": - \S*bad\.sv:5: Verilog \$finish$"},
    ),
    "finish at the beginning": ("initial $finish;", {"icarus": "", "verilator": ""}),
    "fatal": (
        'always @(a) if (a[2:0] == 5) $fatal(1, "no fives");',
        {"icarus": r": .*bad\.sv:5: .*no fives", "verilator": r": .*bad\.sv:5: .*no fives",
         "volume": r": \[\d+\] %Fatal: \S*bad\.sv:5: .*: no fives$"},
    ),
    "error": (
        'always_comb if (a[2:0] == 5) $error("five \x1b[2J");',
        {"volume": r": \[\d+\] %Error: \S*bad\.sv:5: .*: five \\x1b\[2J$"},
    ),
    "assertion": (
        "always_comb assert (a[2:0] != 5);", {"volume": r": \[\d+\] %Error: \S*bad\.sv:5: .*'assert' failed\.$"}
    ),
    "does not settle": (
        "wire x; assign x = a[0] & ~x; wire y = x;",  # 0, and the sum right, where a is even
        {"verilator": ": %Error-DIDNOTCONVERGE: ", "volume": ".*DIDNOTCONVERGE: "},
    ),
}  # fmt: skip
"""What ends a simulation, and what is said of it in each way: Icarus says nothing of a $finish."""


@pytest.mark.parametrize(
    ("name", "how"),
    [
        pytest.param(
            name, how, marks=[*([pytest.mark.needs("icarus")] if how == "icarus" else []),
                              *([pytest.mark.long] if (name, how) != ("finish", "icarus") else [])]
        )
        for name, (_, said) in ENDS.items()
        for how in said
    ],
)  # fmt: skip
def test_design_that_ends_the_simulation(name: str, how: str, described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = native_outcomes(monkeypatch)
    body, said = ENDS[name]
    used = " ^ y" if "wire y" in body else ""
    report = run(UNIT, described(f"  assign d = sum{used};\n  {body}"), how)
    begins = r"(the design ended the simulation|the simulation broke off: vvp exited with status 1)"
    assert report.stopped == report.failures[0]
    assert re.search(f"^{begins}{said[how]}", report.stopped), report.stopped
    assert [outcome["stopped_by"] for outcome in outcomes if outcome["stopped"]] == ["design"] * (how == "volume")
    assert report.received < 3 if body.startswith("initial") else report.received < 300
    assert report.mismatches == 0


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


LOOP = "  reg [31:0] n;\n  assign d = sum ^ n;\n  always @(a) begin n = 0; while (a[2:0] == 5) n = n + 1; n = 0; end"


@pytest.mark.long
@pytest.mark.parametrize("how", EVERY_WAY)
def test_loop_without_delay_is_a_verdict(how: str, described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "STANDSTILL", 10.0)
    outcomes = native_outcomes(monkeypatch, "--standstill", "10")
    report = run(UNIT, described(LOOP), how)
    progress = "" if how == "volume" else r", after \d+ vectors had gone in and \d+ results had come out"
    standstill = r"the simulation stood still for 10 s, as in a loop without delay"
    assert re.fullmatch(standstill + progress, report.failures[0])
    assert [outcome["stopped_by"] for outcome in outcomes if outcome["stopped"]] == ["standstill"] * (how == "volume")
    assert report.sent == report.received + 1 > 1
    assert report.waiting == 1


@pytest.mark.needs("icarus")
@pytest.mark.long
def test_combinational_loop_stands_still_in_icarus(described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "STANDSTILL", 10.0)
    dut = described("  wire x;\n  assign x = ~(x & a[0]);\n  assign d = sum ^ x;")
    assert run(UNIT, dut, "icarus").failures[0].startswith("the simulation stood still for ")


@pytest.mark.long
def test_program_that_is_killed_is_a_verdict(described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    """A native program ends by a memory fault, or by a signal from outside."""
    sound = run_tool

    def killed(command: list[str], **options: Any) -> object:
        if command[0].endswith("/volume"):
            command = ["sh", "-c", "echo message >&2; kill -SEGV $$"]
        return sound(command, **options)

    monkeypatch.setattr("cosim.volume.simulation_program.run_tool", killed)
    report = run(UNIT, described("  assign d = sum;"), "volume")
    assert report.failures[0] == "the simulation broke off: the simulation was ended by SIGSEGV: message"
    assert not report.passed


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


HANDSHAKES = {
    "silent": (stage("1'b0"), "no result for 1000 cycles although vectors are inside: out_valid stayed low"),
    "never ready": (stage("full", ready="1'b0"), "in_ready stayed low for 1000 cycles"),
    "answers twice": (
        stage("full", full="if (rst) full <= 0; else if (full & out_ready & ~in_valid & ~a[0]) full <= 1;"),
        "results came out",
    ),
    "valid not reset": (stage("full", full=""), "out_valid was high during a reset"),
    "stale result": (
        stage("full").replace("in_ready) held", "in_ready & ~a[3]) held"), "results differ from the golden model"
    ),
    "moves on": (
        stage("full").replace("held <= sum", "held <= sum ^ {31'b0, ~in_valid}").replace("if (in_valid & in_ready)", ""),
        "a result changed, or was withdrawn",
    ),
    "withdraws": (stage("full & ~a[4]"), "a result changed, or was withdrawn"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("how", "name"),
    [
        *(("volume", name) for name in HANDSHAKES),
        *(pytest.param("icarus", name, marks=pytest.mark.needs("icarus")) for name in [*HANDSHAKES][:3]),
    ],
)
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_broken_handshake(how: str, name: str, described: Described) -> None:
    body, failure = HANDSHAKES[name]
    report = run(CLOCKED, described(body, CLOCKED), how, vectors=2000 if how == "volume" else 200, seed=1)
    assert any(failure in each for each in report.failures), report.failures


@pytest.mark.long
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_no_option_of_a_design_chooses_what_registers_begin_with(tmp_path: Path) -> None:
    """The flag is never written; where it begins as 0, every result is right."""
    body = "logic f; always_ff @(posedge clk) f <= f; always_ff @(posedge clk) d <= f ? 32'd0 : r;"
    options = ("--x-initial", "0", "--x-assign", "0")
    dut = replace(clocked(body, "").described(tmp_path), verilator_args=options)
    report = cosim.run(PRODUCT, vectors=2000, dut=dut, mode="volume")
    assert report.mismatches > 0


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


PASSED = Simulated(outcome=passed(), seconds=1.0).to_json()


def writing(when: str, file: str, text: str, then: str = "") -> Wrong:
    """A design that gives 0 for every operand, and writes a file of that name into the folder where it runs."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    written = f'fd = $fopen("{file}", "w"); $fwrite(fd, "{quoted}"); $fclose(fd); {then}'
    return clocked(f"always_ff @(posedge clk) d <= 32'd0; int fd; {when} begin {written} end", "")


@pytest.mark.long
@pytest.mark.attack("designs by hand, in cosim")
@pytest.mark.parametrize(
    "wrong",
    [
        writing("initial", "simulated.json", PASSED, "$finish;"),
        writing("final", "simulated.json", PASSED),
        writing("initial", "job.json", "{}"),
    ],
    ids=["a report at the beginning", "a report at the end", "a job"],
)
def test_a_file_of_the_design_decides_nothing(wrong: Wrong, tmp_path: Path) -> None:
    report = cosim.run(PRODUCT, vectors=60, dut=wrong.described(tmp_path))
    assert not report.passed
    assert report.mismatches or (report.stopped or "").startswith("the design ended the simulation")
    assert "it reads more than its ports: $fopen" in report.other_readings
