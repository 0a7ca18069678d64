"""User designs: equal, different, or not decided."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cosim.bench.comparison_rules import Compare
from cosim.dut.description import Dut, Reset, load_dut
from golden import load_unit
from golden.operations import TFDPA
from mmau.prove.counterexample import golden_result
from mmau.prove.decision import DATAPATH, OPEN, PROVED, REFUTED, SPECIFICATION, UserDesignDecision, WrongResult
from mmau.prove.user_design import comparisons, proof
from mmau.prove.user_design.proof import prove_user_design
from rtl.verilog.emit import to_verilog
from tests.mmau.prove.provable_units import unit_of
from tests.volume import one_in

pytestmark = pytest.mark.usefixtures("unsampled")

SECONDS = 300.0

TINY = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=5, rho="RZ-FP16", e_zero=-20)  # type: ignore[arg-type]

PORTS = "{clock}input logic [3:0] a, b, input logic [15:0] c, output logic [15:0] d"

PIPELINE = """
  logic [3:0] x, y; logic [15:0] z, r;
  always_ff @(posedge clk) if (en) begin x <= a; y <= b; z <= c; d <= r; end
"""


def proved(folder: Path, body: str, *, further: str = "", **keys: Any) -> UserDesignDecision:
    """The decision on a design around the sign-magnitude datapath, compared with that of ones' complement."""
    inner = to_verilog(unit_of(TINY, "sign-magnitude"), "inner")
    clock = "input logic clk, en, " if "clk" in body else ""
    source, ports = folder / "mine.sv", PORTS.format(clock=clock + further)
    source.write_text(f"{inner}\nmodule mine({ports});{body} endmodule\n", encoding="utf-8")
    described: dict[str, Any] = {"top": "mine", "sources": (source,)}
    if clock:
        described |= {"protocol": "fixed-latency", "latency": 2, "clock": "clk", "enable": "en"}
    return prove_user_design(unit_of(TINY), Dut(**{**described, **keys}), SECONDS)


COMBINATIONAL = " inner core(.a(a), .b(b), .c(c), .d(d)); "
PIPELINED = f"{PIPELINE} inner core(.a(x), .b(y), .c(z), .d(r)); "


@pytest.mark.simulator
def test_a_combinational_design_is_equal(tmp_path: Path) -> None:
    found = proved(tmp_path, COMBINATIONAL)
    assert (found.verdict, found.reason, found.assumed, found.equal_to) == (PROVED, "", (), SPECIFICATION)
    assert [line.partition(":")[0] for line in found.decided] == [
        "special values",
        "a product of zero",
        "all other operands",
    ]


@pytest.mark.simulator
def test_a_pipelined_design_is_equal_and_its_assumptions_are_stated(tmp_path: Path) -> None:
    body = PIPELINED.replace("if (en)", "if (rst) x <= 0; else if (en)")
    found = proved(tmp_path, body, further="input logic rst, ", reset=Reset("rst"))
    assert (found.verdict, found.reason, found.assumed) == (PROVED, "", ("rst is not active",))
    assert found.decided[0] == "2 cycles unrolled"


@pytest.mark.long
@pytest.mark.simulator
def test_macros_that_nothing_defines_are_stated(tmp_path: Path) -> None:
    body = f"{COMBINATIONAL}\n`ifdef ASIC\n  wire [3:0] x = nothing;\n`endif\n"
    found = proved(tmp_path, body)
    assert (found.verdict, found.assumed) == (PROVED, ("macros for which its text asks are not defined: ASIC",))


INNER = " logic [15:0] r; inner core(.a(a), .b(b), .c(c), .d(r)); "

BY_MODE = f"{INNER}assign d = mode == TWO ? r : r ^ 16'h1; "


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("mode", "verdict"),
    [
        (1, PROVED),
        pytest.param(
            0, REFUTED, marks=[pytest.mark.attack("an enumeration that is read as another value"), pytest.mark.long]
        ),
    ],
)
def test_a_port_of_an_enumeration_has_the_value_of_its_tie(mode: int, verdict: str, tmp_path: Path) -> None:
    found = proved(tmp_path, BY_MODE, further="input enum logic [1:0] {ONE, TWO} mode, ", tie={"mode": mode})
    assert (found.verdict, found.reason) == (verdict, "")


ONE_INPUT = f"{INNER}assign d = r ^ 16'(c == 16'h1234 && a == 4'h7); "


@pytest.mark.simulator
def test_a_difference_is_found_and_shown(tmp_path: Path) -> None:
    found = proved(tmp_path, ONE_INPUT)
    assert found.verdict == REFUTED
    shown = found.counterexample
    assert isinstance(shown, WrongResult)
    assert (shown.inputs["c"], shown.inputs["a"]) == (0x1234, 7)
    assert shown.expected == golden_result(unit_of(TINY), shown.inputs) != shown.got
    assert any("expected" in line for line in shown.explanation)


@pytest.mark.long
@pytest.mark.simulator
def test_a_result_that_comes_after_its_stated_latency(tmp_path: Path) -> None:
    found = proved(tmp_path, PIPELINED, latency=1)
    assert found.verdict == REFUTED


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("body", "keys"),
    [(PIPELINED, {"latency": 3}), (f"{PIPELINE} inner core(.a(x), .b(y), .c(c), .d(r)); ", {})],
    ids=["the result of the next operands", "an operand of the next cycle"],
)
def test_what_is_wrong_in_a_stream_alone_is_not_called_equal(tmp_path: Path, body: str, keys: dict[str, Any]) -> None:
    found = proved(tmp_path, body, **keys)
    assert found.verdict == OPEN
    assert found.counterexample is None
    assert found.reason == (
        "operands were found for which d differs, but d is right in a simulation that sends them alone after a reset: the "
        "difference depends on the state before them, on other operands, or on an undefined value"
    )


UNTIMED = {"protocol": "combinational", "latency": 0, "clock": None, "enable": None, "tie": {"clk": 0, "en": 1}}


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("body", "keys", "reason"),
    [
        (PIPELINED.replace("posedge", "negedge"), {}, "at another moment than the rising edge of the clock"),
        (PIPELINED.replace("d <= r; end", "end always_ff @(posedge clk) d <= r;"), {}, "registers may change while en is 0"),
        pytest.param(PIPELINED, UNTIMED, "is a register, in a design that is called combinational", marks=pytest.mark.long),
        pytest.param(
            f"{INNER}always_latch if (a != 4'h3) d = r; ",
            {},
            "holds a value but is not a register of the one clock",
            marks=pytest.mark.long,
        ),
        pytest.param(f"{INNER}assign d = r / 16'd3; ", {}, "the operator / has no term", marks=pytest.mark.long),
    ],
    ids=["falling edge", "enable", "registers", "latch", "division"],
)
def test_what_is_not_compared_is_not_decided(tmp_path: Path, body: str, keys: dict[str, Any], reason: str) -> None:
    found = proved(tmp_path, body, **keys)
    assert found.verdict == OPEN
    assert reason in found.reason


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    "end", ["always_comb if (a == 4'h3) d = 'x; else d = r;", "wire u; assign d = a == 4'h3 ? {r[15:1], u} : r;"]
)
def test_what_is_undefined_is_not_chosen_so_that_it_agrees(tmp_path: Path, end: str) -> None:
    assert proved(tmp_path, INNER + end).verdict != PROVED


TABLE = (
    " logic [15:0] r, table_[0:WORDS]; inner core(.a(a), .b(b), .c(c), .d(r)); "
    "initial begin table_[0] = 0; table_[1] = 0; table_[2] = 0; end assign d = r ^ table_[a[1:0]]; "
)


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(("words", "body"), [(2, TABLE), (3, TABLE), (3, TABLE.replace("end", "table_[3] = 0; end"))])
def test_a_word_of_a_table_that_is_not_given_is_not_taken_for_zero(tmp_path: Path, words: int, body: str) -> None:
    found = proved(tmp_path, body.replace("WORDS", str(words)))
    assert (found.verdict == PROVED) is ("table_[3]" in body)


THIRD_PARTY = Path(__file__).parents[3] / "third_party"
BY_HAND = Path(__file__).parent / "designs"


def compared(folder: Path, *bugs: str, seconds: float = SECONDS) -> UserDesignDecision:
    """A design in a folder, with bugs that its macros make."""
    unit, dut = load_unit(folder / "unit.toml").step, load_dut(folder / "dut.toml")
    return prove_user_design(unit, replace(dut, defines=dict.fromkeys(bugs, "")), seconds)


@pytest.mark.simulator
def test_a_design_by_hand_is_equal() -> None:
    found = compared(BY_HAND / "dot2_e4m3")
    assert (found.verdict, found.reason) == (PROVED, "")
    assert "wires proved" in found.decided[-1]


@pytest.mark.long
@pytest.mark.simulator
def test_a_multiply_add_by_hand_is_equal() -> None:
    found = compared(BY_HAND / "fma_ieee")
    assert (found.verdict, found.reason) == (PROVED, "")
    assert found.decided[0] == "special values"
    assert found.decided[-1].endswith("one variable for the product on both sides")


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("folder", "how"),
    [
        (BY_HAND / "fma_fp16", "3 cycles unrolled"),
        (BY_HAND / "dot4_mx", "handshake: all 6 states after reset, at most 2 operands under way"),
        (THIRD_PARTY / "lanes", "handshake: all 4 states after reset, at most 2 operands under way"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_designs_with_registers_by_hand_are_equal(folder: Path, how: str) -> None:
    found = compared(folder)
    assert (found.verdict, found.reason) == (PROVED, "")
    assert found.decided[0] == how


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("folder", "bug"),
    [
        (BY_HAND / "dot2_e4m3", "BUG_SIGN_OF_A_SUBNORMAL"),
        (BY_HAND / "fma_fp16", "BUG_TIES_GO_UP"),
        (THIRD_PARTY / "simd", "BUG_RESULT_OF_THE_OTHER"),
        (BY_HAND / "fma_ieee", "BUG_SIGN_OF_A_ZERO_THAT_CANCELS"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
@pytest.mark.attack("designs by hand, in prove")
def test_a_bug_of_a_design_by_hand_is_shown(folder: Path, bug: str) -> None:
    found = compared(folder, bug)
    assert found.verdict == REFUTED
    assert isinstance(found.counterexample, WrongResult)
    assert found.counterexample.got != found.counterexample.expected
    assert found.counterexample.explanation


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("folder", "bug", "reason"),
    one_in(
        3,
        [
            (BY_HAND / "dot4_mx", "BUG_BUBBLE_LOSES_A_RESULT", "out_valid falls before the result is taken"),
            (BY_HAND / "dot4_mx", "BUG_RESULT_CHANGES_WHILE_IT_WAITS", "d changes while out_valid is 1"),
            (THIRD_PARTY / "stream", "BUG_READY_WHILE_FULL", "d changes while out_valid is 1"),
            (BY_HAND / "fma_fp16", "BUG_LAST_STAGE_IGNORES_ENABLE", "registers may change while en is 0"),
            (THIRD_PARTY / "stream", "BUG_VALID_NOT_RESET", "that reset does not set"),
            (THIRD_PARTY / "lanes", "BUG_VALID_NOT_RESET", "Warning: asynchronous load value"),
        ],
    ),
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
@pytest.mark.attack("designs by hand, in prove")
def test_a_broken_handshake_is_not_called_equal(folder: Path, bug: str, reason: str) -> None:
    found = compared(folder, bug)
    assert found.verdict == OPEN
    assert reason in found.reason


STREAM = """
  logic [15:0] r; logic full; wire waits = out_valid && !out_ready; wire is_nan = &d[14:10] && d[9:0] != 0;
  assign out_valid = full; assign in_ready = !full || out_ready; inner core(.a(a), .b(b), .c(c), .d(r));
  always_ff @(posedge clk) full <= !rst && (in_valid && in_ready || waits);
"""

STREAM_PORTS = "input logic rst, in_valid, out_ready, output logic in_ready, out_valid, "


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(("held", "verdict"), [("d", PROVED), ("d ^ 16'(is_nan)", OPEN)], ids=["sound", "toggles"])
def test_a_nan_that_changes_while_it_waits_is_not_called_equal(tmp_path: Path, held: str, verdict: str) -> None:
    body = f"{STREAM} always_ff @(posedge clk) if (in_valid && in_ready) d <= r; else if (waits) d <= {held}; "
    keys: dict[str, Any] = {"protocol": "valid-ready", "latency": 0, "reset": Reset("rst"), "tie": {"en": 1}}
    found = proved(tmp_path, body, further=STREAM_PORTS, enable=None, compare=Compare(nan="any"), **keys)
    assert (found.verdict, found.assumed[-1]) == (verdict, "en is 1")
    assert ("d changes while out_valid is 1" in found.reason) is (verdict == OPEN)


@pytest.mark.long
@pytest.mark.simulator
def test_an_operation_without_a_specification_is_compared_with_the_datapath(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (proof, comparisons):
        monkeypatch.setattr(module, "unspecified", lambda operation: "none")
    found = proved(tmp_path, COMBINATIONAL)
    assert (found.verdict, found.equal_to, len(found.decided)) == (PROVED, DATAPATH, 1)


@pytest.mark.simulator
def test_a_proof_with_too_little_time_states_what_is_decided() -> None:
    found = compared(BY_HAND / "dot2_e4m3", seconds=0.0)
    assert found.verdict == OPEN
    assert found.reason
