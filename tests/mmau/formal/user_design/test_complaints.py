"""Complaints of Yosys that count, and how they are quoted."""

from cosim.compile.complaints import complaints_of_yosys
from mmau.formal.user_design.complaints import SHOWN, quoted

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
