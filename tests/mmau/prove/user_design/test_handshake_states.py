"""States of a handshake that are explored as one: right designs are proved, and wrong ones are not."""

from pathlib import Path

import pytest

from cosim.dut.description import Reset
from mmau.prove.decision import OPEN, PROVED
from mmau.prove.user_design.proof import prove_user_design
from tests.mmau.prove.user_design.design_by_hand import HANDSHAKE, PRODUCT, Wrong

SECONDS = 300.0

STAGES = """
logic [31:0] q1, q2; logic v1, v2; wire r2 = !out_valid || out_ready, r1 = !v2 || r2; assign in_ready = !v1 || r1;
always_ff @(posedge clk) if (rst) {v1, v2, out_valid} <= 3'd0; else begin
  if (in_ready) v1 <= in_valid; if (r1) v2 <= v1; if (r2) out_valid <= v2;
end
always_ff @(posedge clk) begin
  if (in_ready && in_valid) q1 <= r; if (r1 && v1) q2 <= q1; if (r2 && v2) d <= q2;
end
"""
"""Three stages whose registers keep what they held when their operands move on."""

TURNS = """
logic [31:0] m0, m1; logic [1:0] n; logic to, from; wire taken = in_valid && in_ready, leaves = out_valid && out_ready;
assign in_ready = n != 2'd2; assign out_valid = n != 2'd0; assign d = from ? m1 : m0;
always_ff @(posedge clk) if (rst) {n, to, from} <= 4'd0; else begin
  n <= n + 2'(taken) - 2'(leaves); to <= to ^ taken; from <= from ^ leaves;
end
always_ff @(posedge clk) if (taken) if (to) m1 <= r; else m0 <= r;
"""
"""Two places that take operands in turn: valid and ready depend on their number alone, the result on whose turn it is."""


def decided(body: str, folder: Path) -> tuple[str, str]:
    """The verdict on a design, and the reason or how its handshake was followed."""
    keys = {"protocol": "valid-ready", "clock": "clk", "reset": Reset("rst")}
    found = prove_user_design(PRODUCT, Wrong(body, "", HANDSHAKE, keys).described(folder), SECONDS)
    return found.verdict, found.reason or found.decided[0]


@pytest.mark.simulator
@pytest.mark.usefixtures("solvers_alone")
@pytest.mark.parametrize(
    ("body", "how"),
    [
        (STAGES, "handshake: all 12 states after reset, at most 3 operands under way"),
        (TURNS, "handshake: all 8 states after reset, at most 2 operands under way"),
    ],
    ids=["stages", "turns"],
)
def test_registers_that_no_result_shows_make_no_states(body: str, how: str, tmp_path: Path) -> None:
    assert decided(body, tmp_path) == (PROVED, how)


STALE = "its handshake: a result depends on other operands than its own, or comes out of order"

CHANGES = "its handshake: d changes while out_valid is 1 and the result is not taken"


@pytest.mark.simulator
@pytest.mark.usefixtures("solvers_alone")
@pytest.mark.parametrize(
    ("right", "wrong", "body", "reason"),
    [
        ("(r2 && v2)", "(r2 && v2 && !(v1 && in_valid))", STAGES, STALE),
        ("(r1 && v1)", "(r1 && v1 && !out_valid)", STAGES, STALE),
        ("from ^ leaves", "from ^ (leaves && !(in_valid && n == 2'd2))", TURNS, STALE),
        ("to ^ taken", "to ^ (taken && !leaves)", TURNS, CHANGES),
    ],
    ids=["the last stage", "the middle stage", "the turn to leave", "the turn to come"],
)
@pytest.mark.attack("designs by hand, in prove")
def test_what_a_register_held_before_is_not_called_a_result(
    right: str, wrong: str, body: str, reason: str, tmp_path: Path
) -> None:
    assert body.count(right) == 1
    assert decided(body.replace(right, wrong), tmp_path) == (OPEN, reason)
