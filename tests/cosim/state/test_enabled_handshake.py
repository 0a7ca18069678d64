"""A design with valid, ready and an enable that loses its result where out_ready stays high while it is disabled."""

from pathlib import Path

import pytest

import cosim
from cosim.dut.description import Reset
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong

pytestmark = [pytest.mark.simulator, pytest.mark.slow]

BODY = """logic [31:0] d_q; logic full, given;
assign d = d_q, out_valid = full, in_ready = !full || out_ready;
always_ff @(posedge clk) begin
  given <= !en && full && out_ready;
  if (en && in_valid && in_ready) d_q <= r;
  if (rst) full <= 1'b0; else if (en) full <= (in_valid && in_ready) || (full && !out_ready); {}
end"""

LOSES = "else if (given && out_ready) full <= 1'b0;"


def passed(further: str, folder: Path, mode: str) -> bool:
    ports = "input logic clk, rst, en, in_valid, out_ready, output logic in_ready, out_valid, "
    keys = {"protocol": "valid-ready", "clock": "clk", "reset": Reset("rst"), "enable": "en"}
    dut = Wrong(BODY.format(further), "", ports, keys).described(folder)
    return cosim.run(PRODUCT, vectors=1000, dut=dut, mode=mode).passed


@pytest.mark.parametrize("mode", ["volume", pytest.param("cocotb", marks=pytest.mark.long)])
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_result_that_is_lost_without_enable_is_missed(mode: str, tmp_path: Path) -> None:
    assert not passed(LOSES, tmp_path, mode)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["volume", "cocotb"])
def test_design_that_keeps_it_passes(mode: str, tmp_path: Path) -> None:
    assert passed("", tmp_path, mode)
