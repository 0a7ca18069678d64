"""User designs in VHDL: GHDL simulates them, what they are translated into is held to them, and what cannot be read is
refused."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.dut.description import Dut, Reset, dut_from_table
from cosim.dut.template import template
from cosim.dut.tool_log import ElaborationError
from cosim.dut.vhdl import entity_of, run_ghdl
from cosim.runner import vhdl_circuit
from cosim.runner.vhdl_circuit import circuit_of
from cosim.runner.waves import signals_of
from golden import Unit
from golden.operations import IDPA
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.user_design.proof import decided_by_solvers, prove_user_design
from rtl import UnitDesign
from rtl.tools import MissingTool

UNIT = Unit(name="product", operation=IDPA(a="int8", b="int8", c="int32", L=1))  # type: ignore[arg-type]
PAIR = Unit(name="pair", operation=IDPA(a="int8", b="int8", c="int32", L=2))  # type: ignore[arg-type]

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
RIGHT = TEXT.replace("SIGNED_OR_NOT", "signed")
WRONG = TEXT.replace("signed(a) * SIGNED_OR_NOT(b)", "signed(a) * signed('0' & b)")


def described(folder: Path, text: str = RIGHT, **changes: Any) -> Dut:
    source = folder / "product.vhd"
    source.write_text(text)
    clocked: dict[str, Any] = {
        "parameters": {"W": "8"},
        "protocol": "valid",
        "clock": "CLK",
        "reset": Reset("rst_n", "low", asynchronous=True),
        "ports": {"in_valid": ("valid_i",), "out_valid": ("valid_o",)},
    }
    return Dut(top="Product", sources=(source,), **(clocked | changes))


def combinational(folder: Path, body: str, uses: str = "numeric_std", **changes: Any) -> Dut:
    """d = c + a*b without a clock, its architecture given."""
    text = f"""library ieee; use ieee.std_logic_1164.all; use ieee.{uses}.all;
    entity product is port (a, b : in std_logic_vector(7 downto 0); c : in std_logic_vector(31 downto 0);
      d : out std_logic_vector(31 downto 0)); end entity;
    architecture rtl of product is {body} end architecture;"""
    nothing: dict[str, Any] = {"parameters": {}, "protocol": "combinational", "clock": None, "reset": None, "ports": {}}
    return described(folder, text, **(nothing | changes))


OTHERS = """signal e : signed(31 downto 0); begin
  with c(31 downto 30) select e <= x"00000000" when "00" | "01" | "10", x"0000000ADDED" when others;
  d <= std_logic_vector(signed(c) + resize(signed(a) * signed(b), 32) + e);"""
"""An arm `when others`, which GHDL 2.0.0 loses in the Verilog that it writes."""


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.parametrize("text", [RIGHT, pytest.param(WRONG, marks=pytest.mark.long)])
@pytest.mark.attack("designs by hand, in cosim")
def test_design_is_compared(text: str, tmp_path: Path) -> None:
    report = cosim.run(UnitDesign(UNIT), vectors=300, dut=described(tmp_path, text))
    assert report.passed == (text != WRONG)
    assert report.simulator == "ghdl"
    assert list(report.sources) == [str(tmp_path / "product.vhd")]
    assert [line.partition(" ")[0] for line in report.other_readings] == ["what", "registers"], "what was not looked for"


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in cosim")
def test_text_that_synthesis_does_not_read_is_named(tmp_path: Path) -> None:
    """It is right with the lines that synthesis leaves out, and wrong without."""
    hidden = "-- synthesis translate_off\n + resize(signed(b), 32)\n-- synthesis translate_on\n"
    body = f"begin d <= std_logic_vector(signed(c) + resize(signed(a) * signed(b), 32) - resize(signed(b), 32)\n{hidden});"
    dut = combinational(tmp_path, body)
    report = cosim.run(UnitDesign(UNIT), vectors=100, dut=dut)
    assert report.passed
    assert report.not_looked_at == ("its text differs without what translate_off hides; that text was not simulated",)
    with pytest.raises(ElaborationError, match=r"^the circuit that GHDL writes of Product, .* is not its source: vector "):
        circuit_of(UnitDesign(UNIT), dut, tmp_path)


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
def test_waveform_has_the_ports(tmp_path: Path) -> None:
    wave = tmp_path / "product.fst"
    assert cosim.run(UnitDesign(UNIT), vectors=20, dut=described(tmp_path), waves=wave).passed
    assert {"a[7:0]", "dut.valid_o"} <= {signal.path.removeprefix("mmau_dut.") for signal in signals_of(wave)}
    saved = wave.with_suffix(".gtkw").read_text()
    assert saved.index("ports of the design") < saved.index("dut.valid_o")


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.parametrize("added", ["0", "1"])
@pytest.mark.attack("designs by hand, in cosim")
def test_arm_of_others_is_simulated(added: str, tmp_path: Path) -> None:
    dut = combinational(tmp_path, OTHERS.replace("ADDED", added))
    assert cosim.run(UnitDesign(UNIT), vectors=300, dut=dut).passed == (added == "0")


TYPES = """library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
package kinds is
  subtype word_t is signed(7 downto 0);
  type lanes_t is array (natural range <>) of word_t;
  type request_t is record b : lanes_t(0 to 1); valid : std_logic; end record;
  type mode_t is (clear, multiply, '-');
end package;
library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all; use work.kinds.all;
entity pair is
  port (clk_i, rst_i : in std_logic; a_i : in lanes_t(1 downto 0); req_i : in request_t; c_i : in integer;
        mode_i : in mode_t; unused_i : in std_logic_vector(0 to 3); debug_o : out lanes_t(2 to 3);
        d_o : out signed(31 downto 0); valid_o : out bit);
end entity;
architecture rtl of pair is
begin
  debug_o <= a_i;
  process (clk_i) begin
    if rising_edge(clk_i) then
      d_o <= (others => '0');
      if mode_i = multiply and unused_i = "0001" then
        d_o <= to_signed(c_i, 32) + a_i(0) * req_i.b(0) + a_i(1) * req_i.b(LANE);
      end if;
      valid_o <= to_bit(req_i.valid and not rst_i);
    end if;
  end process;
end architecture;
"""
TYPED: dict[str, Any] = {
    "parameters": {},
    "clock": "clk_i",
    "reset": Reset("rst_i"),
    "ports": {
        "a": ("A_i",), "b": ("req_i.b",), "c": ("c_i",), "d": ("d_o",), "in_valid": ("req_i.valid",),
        "out_valid": ("valid_o",),
    },
    "tie": {"mode_i": 1, "unused_i[0:2]": 0, "unused_i[3]": 1},
}  # fmt: skip


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.parametrize("lane", ["1", "0"])
@pytest.mark.attack("designs by hand, in cosim")
def test_ports_of_every_type_are_driven(lane: str, tmp_path: Path) -> None:
    dut = replace(described(tmp_path, TYPES.replace("LANE", lane), **TYPED), top="PAIR")
    assert cosim.run(UnitDesign(PAIR), vectors=300, dut=dut).passed == (lane == "1")


@pytest.mark.needs("ghdl")
def test_ports_are_read_as_elaborated(tmp_path: Path) -> None:
    dut = Dut(top="Product", sources=described(tmp_path).sources, parameters={"W": "5"})
    ports = list(map(str, entity_of(dut).ports))
    assert ports[2:5] == ["input valid_i of 1 bits", "input a of 5 bits", "input b of 5 bits"]
    table = template(dut, entity_of(dut).ports, {})
    assert 'in_valid = "valid_i"' in table
    assert 'reset = {name = "rst_n", active = "low"' in table


INSIDE = """entity half is port (x : in bit; h : out bit); end entity;
architecture rtl of half is begin h <= x; end architecture;
entity whole is port (a : in bit; d : out bit); end entity;
architecture rtl of whole is
  component half is port (x : in bit; h : out bit); end component;
begin
  inside: half port map (x => a, h => d);
end architecture;
"""


@pytest.mark.needs("ghdl")
def test_ports_of_components_are_not_the_designs(tmp_path: Path) -> None:
    dut = replace(described(tmp_path, INSIDE), top="whole", parameters={})
    assert list(map(str, entity_of(dut).ports)) == ["input a of 1 bits", "output d of 1 bits"]


@pytest.mark.needs("ghdl")
@pytest.mark.parametrize(
    ("port", "message"),
    [
        ("x : in real", "port x must be made of bits: vectors, numbers, arrays or records of these; got real"),
        ("x : in time", "port x must be made of bits: vectors, numbers, arrays or records of these; got time"),
        ("x : in std_logic_vector(0 downto 1)", "port x must have at least one bit in each dimension, got the range (0 dow"),
    ],
)
def test_port_without_bits_is_refused(port: str, message: str, tmp_path: Path) -> None:
    text = RIGHT.replace("port (", f"port ({port}; ")
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        entity_of(described(tmp_path, text))


ENDS = {
    "assertion": ('assert a /= a report "never" severity error;', "(assertion error): never"),
    "finish": ("std.env.finish;", "simulation finished @"),
    "index": ("if a(to_integer(unsigned(c(31 downto 1)))) = '1' then null; end if;", "out of bounds"),
}


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[] if kind == "index" else [pytest.mark.long]) for kind in ENDS])
@pytest.mark.attack("designs by hand, in cosim")
def test_end_by_the_design_fails(kind: str, tmp_path: Path) -> None:
    statement, said = ENDS[kind]
    text = RIGHT.replace("valid_o <= valid_i;", f"valid_o <= valid_i; if valid_i = '1' then {statement} end if;")
    report = cosim.run(UnitDesign(UNIT), vectors=300, dut=described(tmp_path, text))
    assert report.stopped is not None
    assert report.stopped.startswith("the design ended the simulation: ")
    assert said in report.stopped


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in cosim")
def test_undefined_bits_fail(tmp_path: Path) -> None:
    valid = cosim.run(UnitDesign(UNIT), vectors=300, dut=described(tmp_path, RIGHT.replace("valid_o <= '0';", "null;")))
    assert valid.stopped == "out_valid is neither 0 nor 1"
    body = """signal u : std_logic_vector(31 downto 0); begin
      d <= std_logic_vector(signed(c) + signed(a) * signed(b)) when a /= x"01" else u;"""
    report = cosim.run(UnitDesign(UNIT), vectors=300, dut=combinational(tmp_path, body))
    assert report.mismatches
    assert {row.got for row in report.differing} == {"U" * 32}


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
def test_arguments_reach_ghdl(tmp_path: Path) -> None:
    body = "begin d <= signed(c) + signed(a) * signed(b);"
    dut = combinational(tmp_path, body, "std_logic_arith", ghdl_args=("-fsynopsys",))
    assert cosim.run(UnitDesign(UNIT), vectors=300, dut=dut).passed
    with pytest.raises(ElaborationError, match=r"^ghdl cannot read Product: .*std_logic_arith"):
        entity_of(combinational(tmp_path, body, "std_logic_arith"))
    table = {"top": "Product", "sources": ["product.vhd"], "ghdl_args": ["-fsynopsys"]}
    assert dut_from_table(table, tmp_path).ghdl_args == ("-fsynopsys",)


def wrongly(dut: Dut, command: str, folder: Path, *rest: Any, **further: Any) -> str:
    """GHDL's output, with a difference in place of each sum."""
    return run_ghdl(dut, command, folder, *rest, **further).replace(" + ", " - ")


@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in prove")
def test_circuit_that_is_not_the_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vhdl_circuit, "VECTORS", 40)
    assert circuit_of(UnitDesign(UNIT), described(tmp_path), tmp_path).top == vhdl_circuit.CIRCUIT
    monkeypatch.setattr("cosim.dut.vhdl.run_ghdl", wrongly)
    message = (
        r"^the circuit that GHDL writes of Product, on which volume mode and proofs rest, is not its source: "
        r"vector 0 \(a 0x\w+, b 0x\w+, c 0x\w+\) gives 0x\w+ in GHDL, and 0x\w+ in the circuit\. "
    )
    with pytest.raises(ElaborationError, match=message):
        circuit_of(UnitDesign(UNIT), described(tmp_path), tmp_path)


@pytest.mark.long
@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in prove")
def test_source_is_simulated_where_its_circuit_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vhdl_circuit, "VECTORS", 40)
    monkeypatch.setattr("cosim.dut.vhdl.run_ghdl", wrongly)
    found = prove_user_design(UNIT, described(tmp_path), 100.0)
    assert (found.verdict, found.no_circuit) == (OPEN, True)
    assert re.search("is not its source: .*; 400 sample vectors in simulation agree$", found.reason)
    assert prove_user_design(UNIT, described(tmp_path, WRONG), 100.0).verdict == REFUTED


@pytest.mark.long
@pytest.mark.needs("ghdl")
@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in prove")
def test_design_is_decided(tmp_path: Path) -> None:
    assert cosim.run(UnitDesign(UNIT), vectors=30_000, dut=described(tmp_path), mode="volume").passed
    assert decided_by_solvers(UNIT, described(tmp_path), 100.0).verdict == PROVED
    assert decided_by_solvers(UNIT, described(tmp_path, WRONG), 100.0).verdict == REFUTED


@pytest.mark.needs("ghdl")
def test_error_of_ghdl_is_the_message(tmp_path: Path) -> None:
    dut = described(tmp_path, TEXT.replace("SIGNED_OR_NOT", "nothing"))
    message = f"ghdl cannot read Product: {dut.sources[0]}:16:60:"
    with pytest.raises(ElaborationError, match=f'^{re.escape(message)}(error:)? no declaration for "nothing"$'):
        entity_of(dut)
    other = Dut(top="Produkt", sources=described(tmp_path).sources)
    message = f"none of the sources holds the entity Produkt; got {dut.sources[0]} (did you mean 'Product'?)"
    with pytest.raises(ElaborationError, match=f"^{re.escape(message)}$"):
        entity_of(other)


@pytest.mark.needs("ghdl")
def test_latch_has_no_circuit(tmp_path: Path) -> None:
    text = RIGHT.replace("elsif rising_edge(clk)", "elsif clk = '1'")
    with pytest.raises(ElaborationError, match=r"^ghdl cannot synthesise Product: .*latch"):
        circuit_of(UnitDesign(UNIT), described(tmp_path, text), tmp_path)


@pytest.mark.parametrize("comment", ["rtl_synthesis off", "synthesis read_comments_as_HDL on"])
@pytest.mark.attack("designs by hand, in cosim")
def test_comment_that_ghdl_alone_does_not_follow_is_refused(comment: str, tmp_path: Path) -> None:
    dut = described(tmp_path, RIGHT.replace("begin\n  process", f"begin\n  -- {comment}\n  process"))
    words = comment.removeprefix("synthesis ")
    message = f"{dut.sources[0]}: {words!r} changes what other synthesis tools read, and GHDL does not follow it: hide text "
    with pytest.raises(
        ValueError, match=f"^{re.escape(message)}by `synthesis translate_off`, show it without comment marks$"
    ):
        entity_of(dut)


def test_missing_ghdl_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    message = (
        "product.vhd is VHDL, which GHDL must read, and ghdl is not found on PATH: install it (Debian: apt install ghdl), "
        "or give the design in Verilog"
    )
    with pytest.raises(MissingTool, match=f"^{re.escape(message)}$"):
        entity_of(described(tmp_path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"other": ".sv"}, r"sources must be all VHDL or all Verilog, got VHDL and other\.sv"),
        ({"defines": {"X": "1"}}, "a design in VHDL has no include folders and no macros: leave include and defines out"),
    ],
)
def test_what_vhdl_does_not_have_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    sources = described(tmp_path).sources
    if "other" in changes:
        other = tmp_path / f"other{changes.pop('other')}"
        other.touch()
        sources = (*sources, other)
    with pytest.raises(ValueError, match=f"^{message}$"):
        Dut(top="Product", sources=sources, **changes)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"simulator": "icarus"}, "VHDL is simulated by GHDL, got simulator 'icarus': leave --sim out"),
        (
            {"rtl_coverage": True},
            "coverage of the RTL is counted by Verilator, and this design is VHDL: leave --rtl-coverage o",
        ),
    ],
)
def test_what_is_for_verilog_alone_is_refused(option: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        cosim.Request(dut=described(tmp_path), **option)
