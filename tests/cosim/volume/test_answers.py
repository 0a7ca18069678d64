"""Results of a design for arbitrary operands: they are the design's, independent of any reference."""

from pathlib import Path

import numpy as np
import pytest

import cosim
import golden
import rtl
from cosim.build.errors import SimulationError
from cosim.volume import answers
from cosim.volume.answers import Answers, packed
from golden.arithmetic.formats import E2M1, E3M2, FP16
from golden.stimulus import OperandShape, generate
from golden.units.unit_file import operation_from_table
from rtl.designs.ports import Elements
from tests.cosim.dut.test_third_party import parts

SCALED = operation_from_table(
    {
        "operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 4, "F": 12, "rho": "RZ-FP32", "e_zero": -130,
        "G": 2, "K_block": 4, "scale": "ue4m3",
    }
)  # fmt: skip


def test_elements_are_packed_bit_by_bit() -> None:
    assert packed(np.array([[1, 2, 3]], np.uint8), Elements(E2M1, 3), 1).tolist() == [[0x21, 0x03]]
    assert packed(np.array([[1, 2], [3, 4]], np.uint8), Elements(E3M2, 2), 2).tolist() == [[0x81, 0x30, 0x10, 0x00]]
    assert packed(np.array([[0x1234, 0x5678]], np.uint16), Elements(FP16, 2), 1).tolist() == [[0x34, 0x12, 0x78, 0x56]]


@pytest.mark.simulator
@pytest.mark.long
def test_generated_verilog_answers_as_its_model(tmp_path: Path) -> None:
    unit = golden.Unit(name="scaled", operation=SCALED)
    asked = Answers(rtl.UnitDesign(unit), None, tmp_path, "scaled")
    rows = generate(OperandShape.of_operation(SCALED), 3001, 0).operands
    assert np.array_equal(asked.dot(rows), unit.dot(*rows))
    assert not (tmp_path / answers.ROWS).exists()


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.parametrize("name", ["simd", "stream", "lanes"])
def test_a_user_design_answers_with_any_protocol(tmp_path: Path, name: str) -> None:
    """Two results for each transfer, a handshake with backpressure, lanes with a valid bit; an odd number of rows."""
    unit, dut = parts(name)
    asked = Answers(rtl.UnitDesign(unit), dut, tmp_path, unit.name)
    rows = generate(OperandShape.of_operation(unit.operation), 2001, 0).operands
    assert np.array_equal(asked.dot(rows), unit.dot(rows.a, rows.b, rows.c))


SILENT = """module silent(input logic clk, input logic [31:0] a, b, input logic [31:0] c, output logic [31:0] d,
  input logic in_valid, output logic out_valid);
  assign d = c;
  assign out_valid = 1'b0;
endmodule
"""


@pytest.mark.simulator
@pytest.mark.long
def test_a_design_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "silent.sv").write_text(SILENT)
    dut = cosim.Dut(top="silent", sources=(tmp_path / "silent.sv",), protocol="valid", clock="clk")
    unit, _ = parts("simd")
    asked = Answers(rtl.UnitDesign(unit), dut, tmp_path, unit.name)
    rows = generate(OperandShape.of_operation(unit.operation), 10, 0).operands
    with pytest.raises(SimulationError, match="answered 0 of 10 transfers: "):
        asked.dot(rows)
