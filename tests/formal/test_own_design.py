"""Designs of one's own: equal, different, or not decided, each told as what it is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cosim.dut.description import Dut, Reset, load_dut
from formal import own_design
from formal.counterexample import golden_result
from formal.own_design import DATAPATH, SPECIFICATION, OwnDesign, compare_own
from golden import load_unit
from golden.operations import TFDPA
from rtl.verilog.emit import to_verilog
from tests.formal.units import unit_of

SECONDS = 300.0

TINY = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=5, rho="RZ-FP16", e_zero=-20)  # type: ignore[arg-type]

PORTS = "{clock}input logic [3:0] a, b, input logic [15:0] c, output logic [15:0] d"

PIPELINE = """
  logic [3:0] x, y; logic [15:0] z, r;
  always_ff @(posedge clk) if (en) begin x <= a; y <= b; z <= c; d <= r; end
"""


def design(folder: Path, body: str, *, further: str = "", **keys: Any) -> Dut:
    """A design around the sign-magnitude datapath, where the one it is compared with has ones' complement."""
    inner = to_verilog(unit_of(TINY, "sign-magnitude"), "inner")
    clock = "input logic clk, en, " if "clk" in body else ""
    source, ports = folder / "mine.sv", PORTS.format(clock=clock + further)
    source.write_text(f"{inner}\nmodule mine({ports});{body}endmodule\n", encoding="utf-8")
    described: dict[str, Any] = {"top": "mine", "sources": (source,)}
    if clock:
        described |= {"protocol": "fixed-latency", "latency": 2, "clock": "clk", "enable": "en"}
    return Dut(**{**described, **keys})


COMBINATIONAL = " inner core(.a(a), .b(b), .c(c), .d(d)); "
PIPELINED = f"{PIPELINE} inner core(.a(x), .b(y), .c(z), .d(r)); "


@pytest.mark.simulator
def test_a_combinational_design_is_equal(tmp_path: Path) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, COMBINATIONAL), SECONDS)
    assert (found.verdict, found.reason, found.assumed, found.equal_to) == ("equal", "", (), SPECIFICATION)
    assert [line.partition(":")[0] for line in found.decided] == ["special values", "zeros alone", "all other operands"]


@pytest.mark.simulator
def test_a_pipelined_design_is_equal_and_what_is_assumed_is_said(tmp_path: Path) -> None:
    body = PIPELINED.replace("if (en)", "if (rst) x <= 0; else if (en)")
    mine = design(tmp_path, body, further="input logic rst, ", reset=Reset("rst"))
    found = compare_own(unit_of(TINY), mine, SECONDS)
    assert (found.verdict, found.reason, found.assumed) == ("equal", "", ("rst is not active",))
    assert found.decided[0] == "2 cycles unrolled"


ONE_INPUT = " logic [15:0] r; inner core(.a(a), .b(b), .c(c), .d(r)); assign d = r ^ 16'(c == 16'h1234 && a == 4'h7); "


@pytest.mark.simulator
def test_a_difference_is_found_and_shown(tmp_path: Path) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, ONE_INPUT), SECONDS)
    assert found.verdict == "different"
    assert (found.inputs["c"], found.inputs["a"]) == (0x1234, 7)
    assert found.expected == golden_result(unit_of(TINY), found.inputs) != found.got
    assert any("expected" in line for line in found.explanation)


@pytest.mark.long
@pytest.mark.simulator
def test_a_result_that_comes_later_than_it_is_said_to(tmp_path: Path) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, PIPELINED, latency=1), SECONDS)
    assert found.verdict == "different"


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("body", "keys"),
    [(PIPELINED, {"latency": 3}), (f"{PIPELINE} inner core(.a(x), .b(y), .c(c), .d(r)); ", {})],
    ids=["the result of the next operands", "an operand of the next cycle"],
)
def test_what_is_wrong_in_a_stream_alone_is_not_called_equal(tmp_path: Path, body: str, keys: dict[str, Any]) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, body, **keys), SECONDS)
    assert found.verdict == "not decided"
    assert found.reason.endswith(
        "is not wrong when it is sent alone after a reset: it rests on a state or on other operands"
    )


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("body", "keys", "reason"),
    [
        (PIPELINED.replace("posedge", "negedge"), {}, "at another moment than the rising edge of clk"),
        (PIPELINED.replace("d <= r; end", "end always_ff @(posedge clk) d <= r;"), {}, "registers may change while en is 0"),
        pytest.param(
            PIPELINED,
            {"protocol": "combinational", "latency": 0, "clock": None, "enable": None, "tie": {"clk": 0, "en": 1}},
            "is a register, in a design that is called combinational",
            marks=pytest.mark.long,
        ),
        pytest.param(
            " logic [15:0] r; inner core(.a(a), .b(b), .c(c), .d(r)); always_latch if (a != 4'h3) d = r; ",
            {},
            "keeps a value and is no register of one clock",
            marks=pytest.mark.long,
        ),
        pytest.param(
            " logic [15:0] r; inner core(.a(a), .b(b), .c(c), .d(r)); assign d = r / 16'd3; ",
            {},
            "a cell $div has no term",
            marks=pytest.mark.long,
        ),
    ],
    ids=["falling edge", "enable", "registers", "latch", "division"],
)
def test_what_is_not_compared_is_not_decided(tmp_path: Path, body: str, keys: dict[str, Any], reason: str) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, body, **keys), SECONDS)
    assert found.verdict == "not decided"
    assert reason in found.reason


@pytest.mark.long
@pytest.mark.simulator
def test_what_is_undefined_is_not_chosen_so_that_it_agrees(tmp_path: Path) -> None:
    body = " logic [15:0] r; inner core(.a(a), .b(b), .c(c), .d(r)); always_comb if (a == 4'h3) d = 'x; else d = r; "
    assert compare_own(unit_of(TINY), design(tmp_path, body), SECONDS).verdict != "equal"


@pytest.mark.long
@pytest.mark.simulator
def test_a_wire_that_nothing_drives_is_not_chosen_so_that_it_agrees(tmp_path: Path) -> None:
    body = " logic [15:0] r; wire u; inner core(.a(a), .b(b), .c(c), .d(r)); assign d = a == 4'h3 ? {r[15:1], u} : r; "
    assert compare_own(unit_of(TINY), design(tmp_path, body), SECONDS).verdict != "equal"


TABLE = (
    " logic [15:0] r, table_[0:WORDS]; inner core(.a(a), .b(b), .c(c), .d(r)); "
    "initial begin table_[0] = 0; table_[1] = 0; table_[2] = 0; end assign d = r ^ table_[a[1:0]]; "
)


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("words", "body"),
    [
        pytest.param(2, TABLE, marks=pytest.mark.long),
        (3, TABLE),
        (3, TABLE.replace("end", "table_[3] = 0; end")),
    ],
)
def test_a_word_of_a_table_that_is_not_given_is_not_taken_for_zero(tmp_path: Path, words: int, body: str) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, body.replace("WORDS", str(words))), SECONDS)
    assert (found.verdict == "equal") is ("table_[3]" in body)


THIRD_PARTY = Path(__file__).parent.parent / "third_party"


OWN = Path(__file__).parent / "own" / "designs"


def compared(folder: Path, *bugs: str, seconds: float = SECONDS) -> OwnDesign:
    """A design in a folder, with bugs that its macros make."""
    unit, dut = load_unit(folder / "unit.toml").step, load_dut(folder / "dut.toml")
    return compare_own(unit, replace(dut, defines=dict.fromkeys(bugs, "")), seconds)


@pytest.mark.simulator
def test_a_design_by_hand_is_equal() -> None:
    found = compared(OWN / "dot2_e4m3")
    assert (found.verdict, found.reason) == ("equal", "")
    assert "wires proved" in found.decided[-1]


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("folder", "how"),
    [
        (OWN / "fma_fp16", "3 cycles unrolled"),
        (OWN / "dot4_mx", "handshake: all 7 states after reset, at most 2 operands under way"),
        (THIRD_PARTY / "lanes", "handshake: all 4 states after reset, at most 2 operands under way"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_designs_with_registers_by_hand_are_equal(folder: Path, how: str) -> None:
    found = compared(folder)
    assert (found.verdict, found.reason) == ("equal", "")
    assert found.decided[0] == how


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("folder", "bug"),
    [
        (OWN / "dot2_e4m3", "BUG_SIGN_OF_A_SUBNORMAL"),
        (OWN / "fma_fp16", "BUG_TIES_GO_UP"),
        (THIRD_PARTY / "simd", "BUG_RESULT_OF_THE_OTHER"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
def test_a_bug_of_a_design_by_hand_is_shown(folder: Path, bug: str) -> None:
    found = compared(folder, bug)
    assert found.verdict == "different"
    assert found.got != found.expected
    assert found.explanation


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("folder", "bug", "reason"),
    [
        (OWN / "dot4_mx", "BUG_BUBBLE_LOSES_A_RESULT", "out_valid falls before the result is taken"),
        (OWN / "dot4_mx", "BUG_RESULT_CHANGES_WHILE_IT_WAITS", "a result depends on other operands than its own"),
        (OWN / "fma_fp16", "BUG_LAST_STAGE_IGNORES_ENABLE", "registers may change while en is 0"),
        (THIRD_PARTY / "stream", "BUG_READY_WHILE_FULL", "out_valid falls before the result is taken"),
        (THIRD_PARTY / "stream", "BUG_VALID_NOT_RESET", "or on registers that reset does not set"),
        (THIRD_PARTY / "lanes", "BUG_VALID_NOT_RESET", "or on registers that reset does not set"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_a_broken_handshake_is_not_called_equal(folder: Path, bug: str, reason: str) -> None:
    found = compared(folder, bug)
    assert found.verdict == "not decided"
    assert reason in found.reason


@pytest.mark.long
@pytest.mark.simulator
def test_an_operation_without_a_specification_is_compared_with_the_datapath(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_design, "unspecified", lambda operation: "none")
    found = compare_own(unit_of(TINY), design(tmp_path, COMBINATIONAL), SECONDS)
    assert (found.verdict, found.equal_to, len(found.decided)) == ("equal", DATAPATH, 1)


@pytest.mark.simulator
def test_what_is_decided_in_too_short_a_time_is_said() -> None:
    found = compared(OWN / "dot2_e4m3", seconds=0.0)
    assert found.verdict == "not decided"
    assert found.reason
