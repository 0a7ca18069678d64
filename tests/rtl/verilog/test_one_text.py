"""Forms of one circuit that versions of Yosys choose between."""

import pytest

from rtl.verilog.emit import in_order_of_names, with_signs_in_top_bits

PART = r"""module \part
  wire width 8 \x
  cell $not $1
    connect \A \a [3:0]
    connect \Y \x [5:2]
  end
  cell $not $2
    connect \A { \x [5] \x [5:4] \y [5] }
    connect \Y \z [5:0]
  end
  connect \x [7:6] { \x [5] \x [5] }
  connect \y [5] \a [3]
end
"""


def test_a_sign_is_driven_in_the_top_bit() -> None:
    assert (
        with_signs_in_top_bits(PART)
        == r"""module \part
  wire width 8 \x
  cell $not $1
    connect \A \a [3:0]
    connect \Y { \x [7] \x [4] \x [3] \x [2] }
  end
  cell $not $2
    connect \A { { \x [7] } { \x [7] \x [4] } \y [5] }
    connect \Y \z [5:0]
  end
  connect \x [6:5] { \x [7] \x [7] }
  connect \y [5] \a [3]
end
"""
    )


def test_signs_of_another_module_stay() -> None:
    other = PART.replace("part", "other").replace("\\x [7:6] { \\x [5] \\x [5] }", "\\x [7:6] { \\b [5] \\b [5] }")
    assert with_signs_in_top_bits(PART + other) == with_signs_in_top_bits(PART) + other
    assert with_signs_in_top_bits(other) == other


@pytest.mark.parametrize("copies", [r"\x [7:6] { \x [4] \x [4] }", r"\x [7:6] { \x [5] \x [4] }", r"\x [4] \x [5]"])
def test_other_copies_stay(copies: str) -> None:
    text = PART.replace(r"\x [7:6] { \x [5] \x [5] }", copies)
    assert with_signs_in_top_bits(text) == text


def test_declarations_come_by_name() -> None:
    b, a, others = "  input [3:0] b;\n  wire [3:0] b;\n", "  output a;\n  reg a;\n  wire \\a$1 ;\n", "  wire [1:0] \\$2 ;\n"
    begins, ends = "module part(b, a);\n", "  assign a = b[0];\nendmodule\n"
    assert in_order_of_names(f"{begins}{b}{a}{others}{ends}") == f"{begins}{others}{a}{b}{ends}"
