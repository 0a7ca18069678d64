"""dut.toml and the designs with the ports of a generated one: valid descriptions, and the messages for invalid ones."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cosim import dut_like, load_ports
from cosim.bench.comparison_rules import Compare
from cosim.dut.description import Dut, Reset, dut_from_table, load_dut
from cosim.dut.filelist import read_filelist
from cosim.dut.operand_formats import formats_from_table, load_formats
from golden import Implementation, Unit, instruction
from golden.arithmetic.formats import E2M1, E3M2, E4M3, FP16, FP32, UE4M3, UE8M0
from golden.operations import GSTFDPA, TFDPA
from golden.stimulus import OperandShape
from golden.units.unit import Array
from rtl import Design, TileDesign, UnitDesign
from rtl.designs.unit_design import as_design

THIRD_PARTY = Path(__file__).parents[2] / "third_party"


def table(**keys: Any) -> dict[str, Any]:
    """A small valid description with some keys replaced; a key set to None is removed."""
    found = {"top": "dot4", "sources": ["dot4.sv"]} | keys
    return {key: value for key, value in found.items() if value is not None}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dot4.sv").write_text("module dot4; endmodule\n")
    return tmp_path


def test_every_key_arrives(folder: Path) -> None:
    dut = dut_from_table(
        table(
            include=["include"], defines={"SYNTHESIS": 1}, parameters={"L": 4}, verilator_args=["-Wno-ENUMVALUE"],
            protocol="fixed-latency", latency=3, clock="clk_i", enable="en_i", order="descending", results=2,
            reset={"name": "rst_ni", "active": "low", "asynchronous": True},
            ports={"a": ["a0_i", "a1_i"], "b": "ops_i[1]", "d": "d_o[31:0]"},
            tie={"flush_i": 0, "mode_i": "0x1f", "op_i": "pkg::FMADD"},
            compare={"nan": "0x7fc00000", "zero_sign": "ignore"},
        ),
        folder,
    )  # fmt: skip
    assert dut == Dut(
        top="dot4", sources=(folder / "dot4.sv",), include=(folder / "include",), defines={"SYNTHESIS": "1"},
        parameters={"L": "4"}, verilator_args=("-Wno-ENUMVALUE",), protocol="fixed-latency", latency=3, clock="clk_i",
        enable="en_i", order="descending", results=2, reset=Reset("rst_ni", "low", True),
        ports={"a": ("a0_i", "a1_i"), "b": ("ops_i[1]",), "d": ("d_o[31:0]",)},
        tie={"flush_i": 0, "mode_i": 31, "op_i": "pkg::FMADD"}, compare=Compare("0x7fc00000", "ignore"),
    )  # fmt: skip
    assert dut.name_of("a") == ("a0_i", "a1_i")
    assert dut.name_of("c") == ("c",)


WITHOUT_WIDTH = "[parameters] F must say its width, like 4'hf, which not every tool takes from it; got {!r}"
"""For '1 Verilator keeps the default of a parameter of four bits that is 1; Yosys, and the standard, have all ones."""


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"top": None}, 'key top is missing: the name of the top module, like top = "dot4"'),
        ({"latncy": 3}, "key 'latncy' is not one of the 28 known (did you mean 'latency'?)"),
        ({"filelist": "x.f"}, 'give either sources = ["dot4.sv"] or filelist = "dot4.f", and not both'),
        ({"sources": ["none.sv"]}, "sources must be Verilog files that exist; not found: .*none.sv"),
        ({"sources": "dot4.sv"}, "sources must be a list of texts, got 'dot4.sv'"),
        ({"protocol": "axi"}, "protocol must be one of .*; got 'axi' (did you mean 'valid'?)"),
        ({"protocol": "valid"}, "protocol 'valid' needs a clock: clock = \"clk_i\""),
        ({"clock": "clk"}, "a combinational design has no clock; leave clock out, tie the port, or change protocol"),
        ({"enable": "en"}, "a combinational design has no enable; leave enable out, tie the port, or change protocol"),
        ({"latency": 2}, "latency goes with protocol 'fixed-latency', got 2 with 'combinational'"),
        ({"protocol": "fixed-latency", "clock": "c"}, "latency must be an integer from 1 to 1024, got 0"),
        ({"results": 0}, "results must be an integer from 1 to 64, got 0"),
        ({"results": True}, "results must be an integer from 1 to 64, got True"),
        ({"order": "up"}, "order must be one of ascending, descending; got 'up'"),
        ({"ports": {"e": "x"}}, "[ports] of a design with protocol 'combinational': port must be one of .*; got 'e'"),
        ({"ports": {"in_valid": "v"}}, "[ports] of a design with protocol 'combinational': port must be one of .*"),
        ({"ports": {"a": "a b"}}, '[ports] a must be a port like "a_i" or "ops_i[0]", or a list of lanes; got \'a b\''),
        ({"ports": {"a": []}}, '[ports] a must be a port like "a_i" or "ops_i[0]", or a list of lanes; got []'),
        ({"tie": {"x": 1.5}}, '[tie] x must be a number, "0x…", or a constant of a package like "pkg::NAME"; got 1.5'),
        ({"tie": {"x": "a+b"}}, '[tie] x must be a number, "0x…", or a constant of a package like "pkg::NAME"; got \'a+b\''),
        ({"compare": {"nan": "0xzz"}}, '[compare] nan must be a code like .*; got \'0xzz\''),
        ({"compare": {"tolerance": 1}}, "[compare] key must be one of nan, zero_sign; got 'tolerance'"),
        ({"reset": {"active": "low"}}, "[reset] is missing name; its keys are name, active, asynchronous"),
        ({"reset": {"name": "r", "active": "up"}}, "[reset] active must be one of high, low; got 'up'"),
        ({"reset": {"name": "r", "asynchronous": 1}}, "[reset] asynchronous must be true or false, got 1"),
        ({"defines": {"X": True}}, "[defines] X must be a number or a text, got True"),
        ({"matrix": {"rows": 0}}, "[matrix] rows must be an integer from 1 to 256, got 0"),
        ({"matrix": {"rows": 2, "order": "c"}}, "[matrix] key must be one of rows, columns, columns_first, d; got 'order'"),
        ({"matrix": {"rows": 2, "columns_first": "b"}}, '[matrix] columns_first must be a list like ["b"], got \'b\''),
        ({"matrix": {"rows": 2, "columns_first": ["e"]}}, "[matrix] columns_first must be one of a, b, c, d; got 'e'"),
        ({"matrix": {"rows": 2, "d": "rows"}}, '[matrix] d = "rows" and "elements" need out_valid, and one result.*'),
        ({"matrix": {"rows": 2}, "results": 2}, "results goes without products, [matrix] and [beats], got 2"),
        *(({"protocol": name, "clock": "clk", "results": 2},
           f"results must be 1 with protocol {name!r}, got 2")
          for name in ("start-done", "operand-handshakes")),
        ({"beats": {}}, "[beats] count must be a number or {from = 1, to = 16}, got None"),
        ({"beats": {"count": 65}}, "[beats] count must be an integer from 1 to 64, got 65"),
        ({"beats": {"count": {"from": 4, "to": 3}}}, "[beats] count to must be an integer from 4 to 64, got 3"),
        ({"beats": {"count": 2}}, "[beats] goes with protocols .*, got 'combinational'"),
        ({"beats": {"count": 2, "first": 1}}, '[beats] first must be an input like "first_i", got 1'),
        ({"beats": {"count": 2, "start": "zero"}}, "[beats] start must be c, because the design has c; got 'zero'"),
        ({"beats": {"count": 2, "clear": "x"}}, '[beats] clear begins at +0: set [operands] c = "none"; .* load'),
        ({"beats": {"count": 2, "load": "x"}, "operands": {"c": "none"}}, '[beats] load takes c, .* its name is clear'),
        ({"beats": {"count": 2}, "operands": {"c": "none"}, "protocol": "fixed-latency", "clock": "c", "latency": 1},
         "[beats] of a design without in_valid needs first, load or clear, which drop what came between"),
        ({"hold_operands": True}, "hold_operands goes with protocol 'start-done', got 'combinational'"),
        *(({"parameters": {"F": value}}, WITHOUT_WIDTH.format(value)) for value in ("'1", "'0", " 'x")),
    ],
)  # fmt: skip
def test_wrong_description_refused(folder: Path, keys: dict[str, Any], message: str) -> None:
    pattern = ".*".join(re.escape(part) for part in message.split(".*"))
    with pytest.raises((TypeError, ValueError), match=f"^{pattern}$"):
        dut_from_table(table(**keys), folder)


def test_reference_of_an_array_by_hand_is_that_of_the_unit_whatever_array_its_file_has(folder: Path) -> None:
    dut = dut_from_table(table(protocol="valid", clock="clk", matrix={"rows": 2, "columns": 3}), folder)
    operation = TFDPA(a=E4M3, b=E4M3, c=FP32, L=2, F=13, rho="RZ-FP32", e_zero=-133)
    unit = Unit(name="u", operation=operation, implementation=Implementation(stages=1))
    with_array = replace(unit, array=Array(rows=8, columns=8))
    of_unit, of_array = (dut.reference(as_design(each)) for each in (unit, with_array))
    assert (of_array.operation, of_array.ports) == (of_unit.operation, of_unit.ports)
    tile = TileDesign(instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"), Implementation(stages=1))
    with pytest.raises(ValueError, match=r"are for a unit, sm_70 .+ tile is a design of another kind$"):
        dut.reference(tile)


def test_message_names_the_file(folder: Path) -> None:
    path = folder / "dut.toml"
    path.write_text('top = "dot4"\nsources = ["dot4.sv"]\nlatency = 2\n')
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: latency goes with protocol"):
        load_dut(path)


@pytest.mark.attack("inputs without an end, or hostile text")
def test_filelist_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^/dev/zero: must be a filelist of at most 16,777,216 bytes, but is larger$"):
        read_filelist(Path("/dev/zero"))


def test_filelist(tmp_path: Path) -> None:
    (tmp_path / "rtl").mkdir()
    for name in ("rtl/a.sv", "rtl/b.sv", "c.sv"):
        (tmp_path / name).touch()
    (tmp_path / "rtl" / "inner.f").write_text("b.sv -DX=2 -GL=8\n")
    path = tmp_path / "outer.f"
    path.write_text(
        "// comment\n+incdir+rtl\n+define+SYNTHESIS+DEPTH=3 # more\nrtl/a.sv\n-f rtl/inner.f\n-I rtl c.sv // last\n"
    )
    found = read_filelist(path)
    assert found.sources == [tmp_path / "rtl/a.sv", tmp_path / "rtl/b.sv", tmp_path / "c.sv"]
    assert found.include == [tmp_path / "rtl", tmp_path / "rtl"]
    assert found.defines == {"SYNTHESIS": "", "DEPTH": "3", "X": "2"}
    assert found.parameters == {"L": "8"}
    assert found.lists == [path, tmp_path / "rtl/inner.f"]


def test_filelist_of_an_editor_that_writes_a_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    (tmp_path / "a.sv").touch()
    path = tmp_path / "list.f"
    path.write_bytes(b"\xef\xbb\xbfa.sv\r\n-D X\r\n")
    found = read_filelist(path)
    assert (found.sources, found.defines) == ([tmp_path / "a.sv"], {"X": ""})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-timescale=1ns", "'-timescale=1ns' is not understood; a filelist holds paths"),
        ("-I", "-I needs a value behind it, got the end of the file"),
        ("-f list.f", "filelists must not be nested deeper than 16; does one name itself?"),
    ],
)
def test_wrong_filelist_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "list.f"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {re.escape(message)}"):
        read_filelist(path)


@pytest.mark.parametrize("name", ["lanes", "arrays", "simd", "stream"])
def test_descriptions_of_the_third_party_designs_are_read(name: str) -> None:
    assert load_dut(THIRD_PARTY / name / "dut.toml").sources


@pytest.mark.parametrize("key", ["parameters", "defines"])
@pytest.mark.parametrize(("name", "value"), [("A b", "1"), ("A[0]", "1"), ("A", "1\n`define B 2")])
@pytest.mark.attack("inputs without an end, or hostile text")
def test_value_of_a_description_is_one_line_of_a_name(key: str, name: str, value: str, folder: Path) -> None:
    message = f"[{key}] {name} must be a name, and its value one line of text; got {value!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        dut_from_table(table(**{key: {name: value}}), folder)


@pytest.mark.parametrize(
    "value", ["24), .G(1", "1)) d(); endmodule module e; f #(.X((1", "1, 2", "1; wire w", "1 // no", "(1"]
)
@pytest.mark.attack("inputs without an end, or hostile text")
def test_parameter_stays_within_its_brackets(value: str, folder: Path) -> None:
    message = f"[parameters] F must be one value, without a comma, a semicolon or a comment; got {value!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        dut_from_table(table(parameters={"F": value}), folder)


def test_parameter_may_be_an_expression(folder: Path) -> None:
    values = {"F": "pkg::f(1, 2) + {1'b0, 1'b1}", "S": '"a, b); //"', "T": "'{a: 1, b: 2}"}
    assert dut_from_table(table(parameters=values), folder).parameters == values


PLAIN = {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32", "K": 4}
SCALED = PLAIN | {"a": "e4m3", "b": "e4m3", "K": 32, "scale": "ue8m0", "K_block": 16}


def test_every_key_of_formats_arrives() -> None:
    assert formats_from_table(PLAIN) == OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)
    assert formats_from_table(SCALED) == OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=32, scale=UE8M0, block_size=16)


def test_a_file_with_and_without_formats(tmp_path: Path) -> None:
    path = tmp_path / "dut.toml"
    path.write_text('top = "x"\n[formats]\na = "fp16"\nb = "fp16"\nc = "fp32"\nd = "fp32"\nK = 4\n')
    assert load_formats(path) == formats_from_table(PLAIN)
    path.write_text('top = "x"\n')
    assert load_formats(path) is None
    path.write_text("formats = 3\n")
    with pytest.raises(ValueError, match=r"dut.toml: formats must be a table, got 3"):
        load_formats(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"L": 4}, r"\[formats\] key must be one of a, b, c, d, K, scale, K_block; got 'L'"),
        ({"a": None}, r"\[formats\] is missing a; its keys are a, b, c, d, K, scale, K_block"),
        ({"a": "fp17"}, r"\[formats\] a 'fp17' is not one of the \d+ known \(did you mean 'fp16'"),
        ({"d": 32}, r"\[formats\] d 32 is not one of the \d+ known"),
        ({"K": 0}, r"\[formats\] K must be an integer from 1 to 1024, got 0"),
        ({"K": True}, r"\[formats\] K must be an integer from 1 to 1024, got True"),
        ({"scale": "ue8m0"}, r"\[formats\] scale and K_block go together"),
        ({"scale": "ue8m0", "K_block": 2000}, r"\[formats\] K_block must be an integer from 1 to 1024, got 2000"),
    ],
)
def test_invalid_formats_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        formats_from_table({key: value for key, value in (PLAIN | changes).items() if value is not None})


UNIT = Unit(name="u", operation=TFDPA(a=E3M2, b=E2M1, c=FP16, L=8, F=25, rho="RZ-FP32", e_zero=-133))
HANDSHAKE = {"clk", "rst", "in_valid", "in_ready", "out_valid", "out_ready"}


def widths(design: Design) -> dict[str, int]:
    return {port.name: port.width for port in design.ports}


def test_widths_are_lanes_times_code_width() -> None:
    assert widths(UnitDesign(UNIT)) == {"a": 48, "b": 32, "c": 16, "d": 32}


def test_stages_add_the_handshake() -> None:
    clocked = Unit(name="u", operation=UNIT.operation, implementation=Implementation(stages=1))
    assert set(widths(UnitDesign(clocked))) - set(widths(UnitDesign(UNIT))) == HANDSHAKE


def test_scales_are_ports() -> None:
    operation = GSTFDPA(a=E2M1, b=E2M1, c=FP32, L=64, G=16, K_block=16, scale=UE4M3, F=35, rho="RZ-FP32", e_zero=-139)
    found = widths(UnitDesign(Unit(name="u", operation=operation)))
    assert (found["scale_a"], found["scale_b"]) == (32, 32)


@pytest.mark.parametrize("ports", [{"aa": "x"}, {"in_valid": "x"}])
def test_bad_names_refused(ports: dict[str, str], tmp_path: Path) -> None:
    name = next(iter(ports))
    with pytest.raises(ValueError, match=rf"^\[ports\] of u: port must be one of a, b, c, d; got '{name}'"):
        dut_like(UnitDesign(UNIT), [tmp_path / "x.v"], "top", ports)


def test_clocked_unit_with_renamed_ports(tmp_path: Path) -> None:
    clocked = UnitDesign(Unit(name="u", operation=UNIT.operation, implementation=Implementation(stages=1)))
    (tmp_path / "x.v").touch()
    dut = dut_like(clocked, [tmp_path / "x.v"], "top", {"clk": "clock", "a": "vec_a", "in_valid": "v"})
    assert (dut.clock, dut.reset, dut.protocol) == ("clock", Reset("rst"), "valid-ready")
    assert [dut.name_of(port) for port in ("a", "b", "in_valid")] == [("vec_a",), ("b",), ("v",)]


def test_ports_file(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[ports]\na = "vec_a"\nd = "result"\n')
    assert load_ports(tmp_path / "p.toml") == {"a": "vec_a", "d": "result"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "not a TOML file: "),
        ("\udcff", "not a TOML file: "),
        ('a = "x"', "must hold one table [ports] and nothing else, got ['a']"),
        ("ports = 3", "must hold one table [ports] and nothing else, got ['ports']"),
        ("[ports]\na = 3", '[ports] a must be the name of a port, like "vec_a"; got 3'),
        ('[ports]\na = ""', "[ports] a must be the name of a port, like \"vec_a\"; got ''"),
    ],
)
def test_bad_ports_file_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}"):
        load_ports(path)


def test_sources_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^a design needs at least one Verilog file, got none$"):
        dut_like(UnitDesign(UNIT), (), "top")
    missing = tmp_path / "none.v"
    with pytest.raises(
        ValueError, match=f"^{re.escape(f'sources must be Verilog files that exist; not found: {missing}')}$"
    ):
        dut_like(UnitDesign(UNIT), [missing], "top")
