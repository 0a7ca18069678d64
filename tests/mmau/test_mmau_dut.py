"""`mmau cosim` with designs of one's own: their files, their description, and a first one from their ports."""

import json
from pathlib import Path

import pytest

import golden
from cosim import load_dut
from mmau import cli
from mmau.dut import chosen_dut
from mmau.parser import parser
from rtl import UnitDesign

THIRD_PARTY = Path(__file__).parents[1] / "third_party"
LANES = THIRD_PARTY / "lanes"
CATALOGUED = UnitDesign(golden.catalogue_units()[0])


@pytest.mark.simulator
def test_description(capsys: pytest.CaptureFixture[str]) -> None:
    unit, dut = str(LANES / "unit.toml"), str(LANES / "dut.toml")
    assert cli.main(["cosim", "--unit", unit, "--dut", dut, "--vectors", "300", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert (report["sent"], report["received"], report["mismatches"], report["waived"]) == (300, 300, 0, {})


def test_template_of_a_filelist_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the names of the lanes' ports tell is all that its description needs, but for the kind of reset."""
    assert cli.main(["cosim", "--dut-template", "-f", str(LANES / "dot4.f"), "--top", "dot4_lanes", "-G", "F=24"]) == 0
    path = tmp_path / "dut.toml"
    path.write_text(capsys.readouterr().out)
    found, written = load_dut(path), load_dut(LANES / "dut.toml")
    assert (found.ports, found.tie, found.protocol, found.clock) == (written.ports, written.tie, "valid", "clk_i")
    assert (found.parameters, found.include) == (written.parameters, written.include)
    assert found.reset is not None
    assert (found.reset.name, found.reset.active) == ("rst_ni", "low")


def test_template_leaves_open_what_no_name_tells(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(LANES / "rtl" / name) for name in ("fdpa_pkg.sv", "fdpa_core.sv")]
    simd = str(THIRD_PARTY / "simd" / "dot2_simd.sv")
    assert cli.main(["cosim", "--dut-template", *files, simd, "--top", "dot2_simd", "-I", str(LANES / "include")]) == 0
    text = capsys.readouterr().out
    assert 'a = "?"' in text
    assert "#   input operands_i[0:1] of 64 bits" in text
    assert 'protocol = "combinational"  # guessed: there is no clock' in text


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


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--dut-template", "x.v"], "--dut-template FILE.v needs --top NAME, the name of its top module"),
        (
            ["--unit", "UNIT", "--dut", "DUT", "--top", "x"],
            "--dut DUT.toml says itself what the top module and its ports are: leave other files, --top and --ports out",
        ),
        (["--unit", "UNIT", "-I", "x"], "--top, --ports, -I, -D, -G and --verilator-args go with --dut FILE.v or -f LIST"),
        (["--unit", "UNIT", "--dut", "none.toml"], "none.toml: No such file or directory"),
    ],
)
def test_wrong_request_ends_with_status_2(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = {"UNIT": str(LANES / "unit.toml"), "DUT": str(LANES / "dut.toml")}
    assert cli.main(["cosim", *(known.get(word, word) for word in argv)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"mmau cosim: {message}")


@pytest.mark.parametrize("text", ["input logic [31:0] c_wrong", "input logic [15:0] c_i"])
def test_design_that_does_not_fit_ends_with_status_2(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "mine.sv"
    source.write_text(f"module mine(input logic [63:0] a, b, {text}, output logic [31:0] d_o); endmodule\n")
    assert cli.main(["cosim", "--unit", str(LANES / "unit.toml"), "--dut", str(source), "--top", "mine"]) == 2
    assert "mmau cosim: design mine does not fit its description:\n- c: mine has no port c" in capsys.readouterr().err
