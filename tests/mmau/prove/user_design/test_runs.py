"""Designs that compute for as many cycles as their data ask for: right ones are proved, wrong ones are not."""

from pathlib import Path

import pytest

from cosim.dut.description import Dut, dut_from_table
from golden import Unit
from golden.operations import ADD
from mmau.prove.decision import OPEN, PROVED
from mmau.prove.user_design.proof import decided_by_solvers, prove_user_design

DESIGN = Path(__file__).parent / "designs" / "add_fp16" / "add_fp16.sv"

SUM = Unit(name="sum", operation=ADD(a="fp16", b="fp16", rho="RNE-FP16"))  # type: ignore[arg-type]

SECONDS = 300.0


def described(folder: Path, found: str = "", put: str = "") -> Dut:
    """The adder, or a copy with another text in the place of one in it."""
    text, source = DESIGN.read_text(encoding="utf-8"), folder / DESIGN.name
    assert not found or text.count(found) == 1
    source.write_text(text.replace(found, put) if found else text, encoding="utf-8")
    ports = {"a": "a", "b": "b", "d": "z", "out_valid": "z_valid", "out_ready": "z_ready"}
    ports |= {f"{name}_{end}": f"{name}_{end}" for name in "ab" for end in ("valid", "ready")}
    table = {
        "top": "add_fp16", "sources": [str(source)], "protocol": "operand-handshakes", "clock": "clk",
        "reset": {"name": "rst"}, "ports": ports,
    }  # fmt: skip
    return dut_from_table(table, folder)


@pytest.mark.costly
@pytest.mark.simulator
def test_an_adder_that_takes_a_cycle_for_each_place_is_proved(tmp_path: Path) -> None:
    found = prove_user_design(SUM, described(tmp_path), SECONDS)
    assert (found.verdict, found.reason) == (PROVED, "")
    run = "runs of at most 65 cycles whose control depends on data"
    assert found.decided[0] == f"handshake: all 7 states after reset, at most 1 operands under way, {run}"


OTHERS = "its handshake: a result depends on other operands than its own, or comes out of order"

DIFFERS = "operands were found for which d differs"

FAULTS = {
    "a bit that is lost of the sum before": ("          lost <= 1'b0;\n", "", OTHERS),
    "one place too few at the far end": (
        "if (x_exp < y_exp) begin", "if (x_exp < y_exp && !(x_exp == 6'd29 && y_exp == 6'd30)) begin", DIFFERS,
    ),
    "the smallest exponent passed": ("exp > 6'd1)", "exp > 6'd0)", DIFFERS),
    "a place too few before the smallest exponent": ("exp > 6'd1)", "exp > 6'd2)", DIFFERS),
    "a result that changes while it waits": (
        "GIVE: if (z_ready) step <= TAKE;", "GIVE: if (z_ready) step <= TAKE; else z[0] <= 1'b0;",
        "its handshake: d changes while out_valid is 1 and the result is not taken",
    ),
    "an operand that does not wait for the other": (
        "if (b_valid && b_ready) begin y <= b; has_b <= 1'b1; end",
        "y <= b; if (b_valid && b_ready) has_b <= 1'b1;",
        OTHERS,
    ),
    "a step that waits for the consumer": (
        "end else step <= SUM;", "end else if (z_ready) step <= SUM;", "it heeds its inputs in 2 states",
    ),
    "a sum of zero that never ends": (
        "else if (!sum[13] && exp > 6'd1) begin", "else if (!sum[13]) begin", "a loop may never end",
    ),
}  # fmt: skip
"""What is wrong: the text, the one in its place, and a part of the reason."""


@pytest.mark.costly
@pytest.mark.simulator
@pytest.mark.usefixtures("solvers_alone")
@pytest.mark.attack("dut")
@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_one_is_not_proved(name: str, tmp_path: Path) -> None:
    found, put, reason = FAULTS[name]
    decision = decided_by_solvers(SUM, described(tmp_path, found, put), SECONDS)
    assert decision.verdict == OPEN
    assert reason in decision.reason
