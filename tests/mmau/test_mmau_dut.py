"""`mmau cosim` with designs of one's own: their files, their description, and a first one from their ports."""

import json
from pathlib import Path

import pytest

from cosim import load_dut
from mmau import cli

THIRD_PARTY = Path(__file__).parents[1] / "third_party"
LANES = THIRD_PARTY / "lanes"


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


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--dut-template", "x.v"], "--dut-template FILE.v needs --top NAME, the name of its top module"),
        (
            ["--unit", "UNIT", "--dut", "DUT", "--top", "x"],
            "--dut DUT.toml says everything itself: leave other files, --top, ",
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
