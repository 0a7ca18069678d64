"""Designs of one's own: equal, different, or not decided, each told as what it is."""

from pathlib import Path

import pytest

from cosim.bench.comparison import Compare
from cosim.dut.description import Dut, load_dut
from formal.counterexample import golden_result
from formal.own_design import compare_own, differs_rule
from golden import load_unit
from golden.operations import TFDPA
from rtl.verilog.emit import to_verilog
from tests.formal.units import unit_of

SECONDS = 60.0

TINY = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=5, rho="RZ-FP16", e_zero=-20)  # type: ignore[arg-type]

PORTS = "{clock}input logic [3:0] a, b, input logic [15:0] c, output logic [15:0] d"

PIPELINE = """
  logic [3:0] x, y; logic [15:0] z, r;
  always_ff @(posedge clk) if (en) begin x <= a; y <= b; z <= c; d <= r; end
"""


def design(folder: Path, body: str, **keys: object) -> Dut:
    """A design around the sign-magnitude datapath, where the one it is compared with has ones' complement."""
    inner = to_verilog(unit_of(TINY, "sign-magnitude"), "inner")
    clock = "input logic clk, en, " if "clk" in body else ""
    source, ports = folder / "mine.sv", PORTS.format(clock=clock)
    source.write_text(f"{inner}\nmodule mine({ports});{body}endmodule\n", encoding="utf-8")
    described: dict[str, object] = {"top": "mine", "sources": (source,)}
    if clock:
        described |= {"protocol": "fixed-latency", "latency": 2, "clock": "clk", "enable": "en"}
    return Dut(**{**described, **keys})  # type: ignore[arg-type]


COMBINATIONAL = " inner core(.a(a), .b(b), .c(c), .d(d)); "
PIPELINED = f"{PIPELINE} inner core(.a(x), .b(y), .c(z), .d(r)); "


@pytest.mark.simulator
def test_a_combinational_design_is_equal(tmp_path: Path) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, COMBINATIONAL), SECONDS)
    assert (found.verdict, found.reason, found.assumed) == ("equal", "", ())


@pytest.mark.simulator
def test_a_pipelined_design_is_equal_and_what_is_assumed_is_said(tmp_path: Path) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, PIPELINED), SECONDS)
    assert (found.verdict, found.reason, found.assumed) == ("equal", "", ("en is 1",))


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
def test_what_is_wrong_in_a_stream_alone_is_not_called_equal(tmp_path: Path, body: str, keys: dict[str, object]) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, body, **keys), SECONDS)
    assert found.verdict == "not decided"
    assert found.reason.endswith(
        "is not wrong when it is sent alone after a reset: it rests on a state or on other operands"
    )


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("body", "keys", "reason"),
    [
        (PIPELINED, {"protocol": "valid", "latency": 0}, "designs with protocol 'valid' are not compared yet"),
        (PIPELINED.replace("posedge", "negedge"), {}, "at another moment than the rising edge of clk"),
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
    ],
    ids=["handshake", "falling edge", "registers", "latch"],
)
def test_what_is_not_compared_is_not_decided(tmp_path: Path, body: str, keys: dict[str, object], reason: str) -> None:
    found = compare_own(unit_of(TINY), design(tmp_path, body, **keys), SECONDS)
    assert found.verdict == "not decided"
    assert reason in found.reason


@pytest.mark.long
@pytest.mark.simulator
def test_what_is_undefined_is_not_chosen_so_that_it_agrees(tmp_path: Path) -> None:
    body = " logic [15:0] r; inner core(.a(a), .b(b), .c(c), .d(r)); always_comb if (a == 4'h3) d = 'x; else d = r; "
    assert compare_own(unit_of(TINY), design(tmp_path, body), SECONDS).verdict != "equal"


def test_what_may_differ() -> None:
    exact = differs_rule(TINY, Compare())
    assert exact == "!(got == expected)"
    assert "16'd32256" in differs_rule(TINY, Compare(nan="0x7e00"))
    assert "== 0" in differs_rule(TINY, Compare(zero_sign="ignore"))
    with pytest.raises(ValueError, match=r"^\[compare\] nan must be the code of a NaN"):
        differs_rule(TINY, Compare(nan="0x1"))


THIRD_PARTY = Path(__file__).parent.parent / "third_party"


@pytest.mark.long
@pytest.mark.simulator
def test_two_results_at_once_of_a_design_by_hand() -> None:
    unit = load_unit(THIRD_PARTY / "simd" / "unit.toml").step
    sound = load_dut(THIRD_PARTY / "simd" / "dut.toml")
    faulty = Dut(**{**vars(sound), "defines": {"BUG_RESULT_OF_THE_OTHER": ""}})
    found = compare_own(unit, faulty, SECONDS)
    assert found.verdict == "different"
