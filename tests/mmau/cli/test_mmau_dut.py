"""`mmau cosim` with designs of one's own: their files, their description, and a first one from their ports."""

import json
import os
from pathlib import Path

import pytest

import golden
from cosim import load_dut
from cosim.dut.description import Reset
from mmau.cli import main
from mmau.cli.parser import parser
from mmau.cli.user_design import chosen_dut
from rtl import UnitDesign

THIRD_PARTY = Path(__file__).parents[2] / "third_party"
LANES = THIRD_PARTY / "lanes"
CATALOGUED = UnitDesign(golden.catalogue_units()[0])


@pytest.mark.long
@pytest.mark.simulator
def test_description(capsys: pytest.CaptureFixture[str]) -> None:
    unit, dut = str(LANES / "unit.toml"), str(LANES / "dut.toml")
    assert main.main(["cosim", "--unit", unit, "--dut", dut, "--vectors", "300", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert (report["sent"], report["received"], report["mismatches"], report["waived"]) == (300, 300, 0, {})


def test_template_of_a_filelist_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The names of the lanes' ports and the edges of its registers give all that its description needs."""
    assert main.main(["cosim", "--dut-template", "-f", str(LANES / "dot4.f"), "--top", "dot4_lanes", "-G", "F=24"]) == 0
    path = tmp_path / "dut.toml"
    path.write_text(capsys.readouterr().out)
    found, written = load_dut(path), load_dut(LANES / "dut.toml")
    assert (found.ports, found.tie, found.protocol, found.clock) == (written.ports, written.tie, "valid", "clk_i")
    assert (found.parameters, found.include) == (written.parameters, written.include)
    assert found.reset == written.reset == Reset("rst_ni", "low", asynchronous=True)


def test_template_takes_the_operands_of_an_array(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(LANES / "rtl" / name) for name in ("fdpa_pkg.sv", "fdpa_core.sv")]
    simd = str(THIRD_PARTY / "simd" / "dot2_simd.sv")
    assert main.main(["cosim", "--dut-template", *files, simd, "--top", "dot2_simd", "-I", str(LANES / "include")]) == 0
    text = capsys.readouterr().out
    assert 'a = "operands_i[0]"\nb = "operands_i[1]"\nc = "addend_i"\nd = "result_o"' in text
    assert "#   input operands_i[0:1] of 64 bits" in text
    assert 'protocol = "combinational"  # guessed: there is no clock' in text


def described(ports: str, body: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The template of a design with these ports."""
    source = folder / "mine.sv"
    source.write_text(f"module mine({ports});\n{body}\nendmodule\n")
    assert main.main(["cosim", "--dut-template", str(source), "--top", "mine"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["in_a_i", "i_vec_a", "operand_a_i", "a_i", "op_a", "s_a", "src_a"])
def test_template_knows_common_names(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = f"input [7:0] {name}, {name[::-1].replace('a', 'b', 1)[::-1]}, input [31:0] acc_i, output [31:0] result_o"
    text = described(ports, "assign result_o = acc_i;", tmp_path, capsys)
    assert f'a = "{name}"' in text
    assert 'c = "acc_i"\nd = "result_o"' in text
    assert '"?"' not in text


def test_template_knows_names_behind_other_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where one port alone has such a name; two of them leave it open."""
    ports = "input clk, req_valid, rsp_ready, input [7:0] req_a0, req_a1, req_a2, x_b, y_b, req_c, "
    ports += "output req_ready, rsp_valid, output [7:0] rsp_d"
    text = described(ports, "assign req_ready = rsp_ready; assign rsp_valid = req_valid;", tmp_path, capsys)
    assert 'protocol = "valid-ready"  # guessed from the names of the ports' in text
    named = """a = ["req_a0", "req_a1", "req_a2"]
b = "?"
c = "req_c"
d = "rsp_d"
in_valid = "req_valid"
in_ready = "req_ready"
out_valid = "rsp_valid"
out_ready = "rsp_ready"
"""
    assert f"{named}\n[tie]  # inputs that are held at a value; remove those that [ports] names\nx_b = 0\ny_b = 0\n" in text


def test_template_takes_no_tag_for_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = "input clk, in_stb, out_ack, acc, input [15:0] a, b, input [15:0] tag_i, output in_ack, out_stb, output [15:0] z"
    text = described(ports, "assign in_ack = out_ack; assign out_stb = in_stb;", tmp_path, capsys)
    assert 'protocol = "valid-ready"' in text
    assert 'b = "b"\nd = "z"\nin_valid = "in_stb"\nin_ready = "in_ack"\nout_valid = "out_stb"\n' in text
    assert 'c = "none"' in text
    assert text.endswith("acc = 0\ntag_i = 0\n")


def test_template_knows_the_handshake_of_each_operand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = "input clk, input_a_stb, input_b_stb, input [31:0] input_a, input_b, output input_a_ack, output [31:0] output_z"
    text = described(ports, "assign input_a_ack = 1;", tmp_path, capsys)
    assert 'protocol = "operand-handshakes"  # guessed from the names of the ports' in text
    assert 'a = "input_a"\nb = "input_b"\nd = "output_z"\na_valid = "input_a_stb"\n' in text
    assert 'b_valid = "input_b_stb"\na_ready = "input_a_ack"\n' in text


def test_template_knows_what_marks_transfers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = "input clk, acc_load, in_last, go, input [7:0] a, b, c, output finished_done, output [31:0] q, d"
    text = described(ports, "assign d = q;", tmp_path, capsys)
    assert 'protocol = "start-done"' in text
    assert 'start = "go"\ndone = "finished_done"\n' in text
    assert "[beats]  # guessed: the design adds up over several transfers\ncount = {from = 1, to = 16}\n" in text
    assert text.endswith('last = "in_last"\nload = "acc_load"\n')


ASYNCHRONOUS = 'reset = {{name = "rst", active = "{}", asynchronous = true}}  # from its edge in the design\n'
REGISTER = "always @(posedge clk {}) if (rst) d <= 0; else d <= a;"
CLOCKED = "input clk, rst, input [7:0] a, output reg [7:0] d"


@pytest.mark.parametrize(
    ("ports", "body", "shown"),
    [
        ("input [7:0] left, right, output [31:0] d", "assign d = 32'd0;", 'a = "?"\nb = "?"\nc = "?"\nd = "d"'),
        ("input [7:0] a, b, output [31:0] d", "assign d = 32'd0;",
         'a = "a"\nb = "b"\nd = "d"\n\n[operands]\nc = "none"  # guessed: no input is left for c\n'),
        ("input clk, go, input [7:0] a, b, output [7:0] d", "assign d = a;",
         'protocol = "fixed-latency"  # guessed: no port has the name of a valid bit'),
        (CLOCKED, REGISTER.format("or negedge rst"), ASYNCHRONOUS.format("low")),
        (CLOCKED, REGISTER.format("or posedge rst"), ASYNCHRONOUS.format("high")),
        (CLOCKED, REGISTER.format(""), 'reset = {name = "rst", active = "high", asynchronous = false}  # check both\n'),
        ("input clk, rst, output [7:0] d",
         "stage s(.clk(clk), .rst_n(~rst), .d(d)); endmodule\nmodule stage(input clk, rst_n, output reg [7:0] d);\n"
         "always @(posedge clk or negedge rst_n) if (!rst_n) d <= 0; else d <= d + 1;",
         'reset = {name = "rst", active = "high", asynchronous = true}  # check both'),
    ],
    ids=["no name tells", "no c", "no valid bit", "negedge", "posedge", "synchronous", "a reset inside"],
)  # fmt: skip
def test_template_says_what_is_open_and_guessed(
    ports: str, body: str, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown in described(ports, body, tmp_path, capsys)


def test_options_beside_a_description_add_to_it(tmp_path: Path) -> None:
    """A macro or a parameter takes the place of the description's."""
    listed, extra = tmp_path / "more.f", tmp_path / "more.sv"
    extra.write_text("package more; endpackage\n")
    listed.write_text("more.sv\n-D FROM_THE_LIST=1\n")
    path = str(LANES / "dut.toml")
    argv = [
        "cosim", "--dut", path, "-D", "BUG_LANES_SWAPPED", "-D", "FROM_THE_LIST=2", "-G", "F=9", "-I", "more",
        "-f", str(listed), "--verilator-args=-Wno-LATCH -O0",
    ]  # fmt: skip
    described, found = load_dut(path), chosen_dut(CATALOGUED, parser().parse_args(argv))
    assert found is not None
    assert found.sources == (extra, *described.sources)
    assert found.include == (*described.include, Path("more"))
    assert found.defines == {**described.defines, "BUG_LANES_SWAPPED": "", "FROM_THE_LIST": "2"}
    assert (dict(described.parameters), dict(found.parameters)) == ({"F": "24"}, {"F": "9"})
    assert found.verilator_args == (*described.verilator_args, "-Wno-LATCH", "-O0")
    assert (found.ports, found.reset, found.top) == (described.ports, described.reset, described.top)


@pytest.mark.parametrize("text", ["input logic [31:0] c_wrong", "input logic [15:0] c_i"])
def test_design_that_does_not_fit_ends_with_status_2(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "mine.sv"
    source.write_text(f"module mine(input logic [63:0] a, b, {text}, output logic [31:0] d_o); endmodule\n")
    assert main.main(["cosim", "--unit", str(LANES / "unit.toml"), "--dut", str(source), "--top", "mine"]) == 2
    assert "mmau cosim: design mine does not fit its description:\n- c: mine has no port c" in capsys.readouterr().err


REPORTS = ["--html", "--junit", "--ucis", "--coverage-file", "--rtl-coverage"]


@pytest.mark.parametrize("option", REPORTS)
@pytest.mark.parametrize("name", ["dut.toml", "outer.f", "inner.f", "mine.sv", "added.sv", "added.f"])
def test_report_replaces_no_file_that_names_the_design(
    option: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        "dut.toml": 'top = "mine"\nfilelist = "outer.f"\n', "outer.f": "-f inner.f\n", "inner.f": "mine.sv\n",
        "mine.sv": "module mine; endmodule\n", "added.f": "added.sv\n", "added.sv": "module added; endmodule\n",
    }  # fmt: skip
    for file, text in texts.items():
        Path(file).write_text(text)
    Path("sub").mkdir()
    design = ["--unit", str(LANES / "unit.toml"), "--dut", "dut.toml", "-f", "added.f"]
    assert main.main(["cosim", *design, option, f"sub/../{name}"]) == 2
    assert f"output sub/../{name} must be another file than the input, which is " in capsys.readouterr().err
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == texts


@pytest.mark.parametrize("words", [["--waves"], ["--html", "r.html"]])
def test_read_only_folder_is_told_before_the_run(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    design = ["--unit", str(LANES / "unit.toml"), "--dut", str(LANES / "dut.toml")]
    assert main.main(["cosim", *design, *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mmau cosim: ")
    assert f"cannot be written: folder {tmp_path} is read-only" in said


@pytest.mark.slow
@pytest.mark.simulator
def test_report_replaces_no_file_that_the_design_includes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Included files are known once the design is read: the report is then printed, and not written."""
    monkeypatch.chdir(tmp_path)
    Path("mine.sv").write_text('module mine(input [7:0] a, b, output [31:0] d);\n`include "body.svh"\nendmodule\n')
    Path("body.svh").write_text("assign d = {16'd0, a * b};\n")
    Path("unit.toml").write_text('name = "u"\noperation = "IDPA"\nL = 1\na = "uint8"\nb = "uint8"\nc = "int32"\n')
    Path("dut.toml").write_text('top = "mine"\nsources = ["mine.sv"]\ninclude = ["."]\n[operands]\nc = "none"\n')
    assert main.main(["cosim", "--unit", "unit.toml", "--dut", "dut.toml", "--vectors", "50", "--html", "body.svh"]) == 2
    printed = capsys.readouterr()
    assert "50 sent, 50 received" in printed.out
    assert "output body.svh must be another file than the input, which is " in printed.err
    assert Path("body.svh").read_text() == "assign d = {16'd0, a * b};\n"
