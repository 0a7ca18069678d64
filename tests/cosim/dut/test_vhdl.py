"""User designs in VHDL: GHDL's circuit is compared, and what cannot be read is refused."""

import re
from pathlib import Path

import pytest

import cosim
from cosim.dut.description import Dut, Reset
from cosim.dut.tool_log import ElaborationError
from cosim.dut.vhdl import in_verilog
from golden import Unit
from golden.operations import IDPA
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.user_design.proof import decided_by_solvers
from rtl import UnitDesign
from rtl.tools import MissingTool

UNIT = Unit(name="product", operation=IDPA(a="int8", b="int8", c="int32", L=1))  # type: ignore[arg-type]

TEXT = """library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity Product is
  generic (W : integer := 4);
  port (clk, rst_n, valid_i : in std_logic; a, b : in std_logic_vector(W-1 downto 0);
        c : in std_logic_vector(31 downto 0); valid_o : out std_logic; d : out std_logic_vector(31 downto 0));
end entity;
architecture rtl of Product is
begin
  process (clk, rst_n) begin
    if rst_n = '0' then
      valid_o <= '0';
    elsif rising_edge(clk) then
      valid_o <= valid_i;
      d <= std_logic_vector(signed(c) + resize(signed(a) * SIGNED_OR_NOT(b), 32));
    end if;
  end process;
end architecture;
"""


def described(folder: Path, text: str = TEXT.replace("SIGNED_OR_NOT", "signed")) -> Dut:
    source = folder / "product.vhd"
    source.write_text(text)
    return Dut(
        top="Product",
        sources=(source,),
        parameters={"W": "8"},
        protocol="valid",
        clock="clk",
        reset=Reset("rst_n", "low", asynchronous=True),
        ports={"in_valid": ("valid_i",), "out_valid": ("valid_o",)},
    )


WRONG = TEXT.replace("signed(a) * SIGNED_OR_NOT(b)", "signed(a) * signed('0' & b)")


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.parametrize("text", [TEXT.replace("SIGNED_OR_NOT", "signed"), pytest.param(WRONG, marks=pytest.mark.long)])
@pytest.mark.attack("designs by hand, in cosim")
def test_design_is_compared(text: str, tmp_path: Path) -> None:
    assert cosim.run(UnitDesign(UNIT), vectors=300, dut=described(tmp_path, text)).passed == (text != WRONG)


@pytest.mark.long
@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in prove")
def test_design_is_decided(tmp_path: Path) -> None:
    assert decided_by_solvers(UNIT, described(tmp_path), 100.0).verdict == PROVED
    assert decided_by_solvers(UNIT, described(tmp_path, WRONG), 100.0).verdict == REFUTED


@pytest.mark.needs("ghdl")
def test_error_of_ghdl_is_the_message(tmp_path: Path) -> None:
    dut = described(tmp_path, TEXT.replace("SIGNED_OR_NOT", "nothing"))
    message = f'ghdl cannot synthesise Product: {dut.sources[0]}:16:60: no declaration for "nothing"'
    with pytest.raises(ElaborationError, match=f"^{re.escape(message)}$"):
        in_verilog(dut, tmp_path)


@pytest.mark.needs("ghdl")
def test_latch_is_refused(tmp_path: Path) -> None:
    text = TEXT.replace("SIGNED_OR_NOT", "signed").replace("elsif rising_edge(clk)", "elsif clk = '1'")
    with pytest.raises(ElaborationError, match="latch"):
        in_verilog(described(tmp_path, text), tmp_path)


@pytest.mark.parametrize("comment", ["rtl_synthesis off", "synthesis read_comments_as_HDL on"])
@pytest.mark.attack("designs by hand, in cosim")
def test_comment_that_ghdl_alone_does_not_follow_is_refused(comment: str, tmp_path: Path) -> None:
    text = TEXT.replace("SIGNED_OR_NOT", "signed").replace("begin\n  process", f"begin\n  -- {comment}\n  process")
    dut = described(tmp_path, text)
    words = comment.removeprefix("synthesis ")
    message = f"{dut.sources[0]}: {words!r} changes what other synthesis tools read, and GHDL does not follow it: hide text "
    with pytest.raises(
        ValueError, match=f"^{re.escape(message)}by `synthesis translate_off`, show it without comment marks$"
    ):
        in_verilog(dut, tmp_path)


def test_missing_ghdl_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    message = (
        "product.vhd is VHDL, which GHDL must read, and ghdl is not found on PATH: install it (Debian: apt install ghdl), "
        "or give the design in Verilog"
    )
    with pytest.raises(MissingTool, match=f"^{re.escape(message)}$"):
        in_verilog(described(tmp_path), tmp_path)


def test_vhdl_beside_verilog_is_refused(tmp_path: Path) -> None:
    dut, other = described(tmp_path), tmp_path / "other.sv"
    other.touch()
    mixed = Dut(top="Product", sources=(*dut.sources, other))
    with pytest.raises(ValueError, match=r"^sources must be all VHDL or all Verilog, got VHDL and other\.sv$"):
        in_verilog(mixed, tmp_path)


def test_macros_of_vhdl_are_refused(tmp_path: Path) -> None:
    dut = Dut(top="Product", sources=described(tmp_path).sources, defines={"X": "1"})
    message = "^a design in VHDL has no include folders and no macros: leave include and defines out$"
    with pytest.raises(ValueError, match=message):
        in_verilog(dut, tmp_path)
