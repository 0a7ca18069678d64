"""Every fault put into a datapath or into its handshake makes the co-simulation fail."""

import re
from dataclasses import replace
from typing import Any

import pytest
from amaranth import Const, Module, Value

import cosim
from golden import Implementation, Unit
from golden.arithmetic.formats import BF16, E2M3, E3M2, FP16, FP32
from golden.operations import TFDPA
from rtl.arithmetic.shift import shift_right
from rtl.datapath.pipeline import Pipeline
from rtl.steps.round import Round
from tests.cosim.designs import Generated, Wrapped

pytestmark = pytest.mark.simulator

BFLOAT = TFDPA(a=BF16, b=BF16, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133)
FP16_OUT = TFDPA(a=FP16, b=FP16, c=FP16, L=2, F=25, rho="RNE-FP16", e_zero=-21)
FP6 = TFDPA(a=E3M2, b=E2M3, c=FP32, L=2, F=25, rho="RZ-FP32", e_zero=-133)
CLOCKED = Unit(name="clocked", operation=FP6, implementation=Implementation(stages=2))


def unit_of(operation: TFDPA) -> Unit:
    return Unit(name="sound", operation=operation)


def assert_differs(report: cosim.Report, change: str) -> None:
    """Check that all vectors were sent and answered, that results differ, and that the diagnosis finds the cause.

    Args:
        change: of the model, which explains all mismatches.
    """
    assert report.mismatches > 0
    assert report.failures == (f"{report.mismatches:,} of {report.received:,} results differ from the golden model",)
    assert report.sent == report.received == report.vectors
    assert report.first_mismatch is not None
    assert "\n  got      " in report.first_mismatch
    assert "\n  expected " in report.first_mismatch
    assert report.explanation is not None
    cause = report.explanation.diagnoses[""].cause
    assert cause is not None
    assert cause.change == change


def wrapping(m: Module, value: Value, amount: Value) -> Value:
    """Far shifts taken modulo the shifter's width: wrong only for terms far below e_max."""
    return value >> amount[: (len(value) - 1).bit_length()]


INCREMENT = Round._increment

PATCHED: dict[str, tuple[str, Any, TFDPA, int, str]] = {
    "dropped sticky bit": (
        "rtl.steps.round.Round._increment", lambda self, odd, guard, below: INCREMENT(self, odd, guard, Const(0, 1)),
        FP16_OUT, 3000, "rounding does not see what lies below its guard bit",
    ),
    "alignment off by one": (
        "rtl.steps.align.shift_right", lambda m, value, amount: shift_right(m, value, amount)[1:],
        FP6, 1000, "alignment shifts every term one place too far",
    ),
    "alignment that wraps around": (
        "rtl.steps.align.shift_right", wrapping, FP6, 1000, "alignment shifts by the distance modulo 32"
    ),
}  # fmt: skip
"""What is replaced in the generator, by what, and how the diagnosis of the datapath names it."""


@pytest.mark.parametrize(
    "fault",
    [pytest.param(name, marks=pytest.mark.core if name == "dropped sticky bit" else pytest.mark.long) for name in PATCHED],
)
def test_broken_step(fault: str, monkeypatch: pytest.MonkeyPatch, generated: Generated) -> None:
    target, broken, operation, vectors, change = PATCHED[fault]
    monkeypatch.setattr(target, broken)
    unit = unit_of(operation)
    assert_differs(cosim.run(unit, vectors=vectors, dut=generated(unit)), change)


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "vectors", "diagnosis"),
    [
        ({"F": 24}, 3000, "F is 24, not 25"),
        ({"e_zero": -132}, 20000, "e_zero is -132, not -133"),
        ({"truncation": "RD"}, 3000, 'truncation is "RD", not "RZ"'),
        ({"rho": "RNE-FP32"}, 3000, "rho is RNE-FP32, not RZ-FP32"),
    ],
)
def test_wrong_parameter(change: dict[str, Any], vectors: int, diagnosis: str, generated: Generated) -> None:
    """The datapath of a neighbouring unit."""
    neighbour = generated(unit_of(BFLOAT.changed(**change)))
    assert_differs(cosim.run(unit_of(BFLOAT), vectors=vectors, dut=neighbour), diagnosis)


@pytest.mark.long
def test_swapped_operands(generated: Generated) -> None:
    """a and b exchanged: both are 12 bits wide here, but of different formats."""
    swapped = replace(generated(unit_of(FP6)), ports={"a": ("b",), "b": ("a",)})
    assert_differs(cosim.run(unit_of(FP6), vectors=1000, dut=swapped), "a and b are exchanged")


@pytest.mark.long
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
@pytest.mark.attack("designs by hand, in cosim")
def test_other_operand_format(mode: str, generated: Generated) -> None:
    """The datapath for fp16 in the place of one for bf16."""
    other = generated(unit_of(BFLOAT.changed(a=FP16, b=FP16)))
    report = cosim.run(unit_of(BFLOAT), vectors=1000, mode=mode, dut=other)
    assert_differs(report, "a and b are read as fp16, not bf16")


CONNECTIONS = {
    "bytes": ({"c": "{c[7:0], c[15:8], c[23:16], c[31:24]}"}, "the bytes of each element of c are in reverse order"),
    "stuck": ({"a": "a | 12'h080"}, "bit 1 of a[1] is stuck at 1"),
    "elements": ({"a": "{a[5:0], a[11:6]}"}, "elements 0 and 1 of a, or of b, are swapped"),
}
"""What the datapath sees, and how the diagnosis names it."""


@pytest.mark.long
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
@pytest.mark.parametrize("fault", CONNECTIONS)
@pytest.mark.attack("designs by hand, in cosim")
def test_operand_that_is_connected_wrongly(fault: str, mode: str, wrapped: Wrapped) -> None:
    connection, change = CONNECTIONS[fault]
    assert_differs(cosim.run(unit_of(FP6), vectors=1000, mode=mode, dut=wrapped(unit_of(FP6), connection)), change)


@pytest.mark.long
@pytest.mark.parametrize(
    "value",
    [
        *("multiply_rows_prod_0_carry", "multiply_rows_c_sig", "accumulate_rows_sum_row_1", "accumulate_rows_sum_frame"),
        *("normalise_count_left", "normalise_count_sum_total"),
    ],
)
@pytest.mark.attack("pipelines with a register missing inside of a step, for one of the values that cross it, in cosim")
def test_value_that_passes_a_register_inside_of_a_step_by(
    value: str, monkeypatch: pytest.MonkeyPatch, generated: Generated
) -> None:
    """The other side of the step takes the value of the next vector."""
    crossed = Pipeline.crossed

    def without_one(self: Pipeline, point: str, record: Any) -> Any:
        before = dict(record.values())
        delayed = crossed(self, point, record)
        return delayed.mapped(lambda name, register: before[name] if f"{point}_{name}" == value else register)

    registers = ("multiply_rows", "accumulate_rows", "normalise_count", "encode")
    cut = replace(CLOCKED, name="cut", implementation=Implementation(stages=4, registers=registers))
    assert cosim.run(cut, vectors=500, dut=generated(cut)).passed
    monkeypatch.setattr(Pipeline, "crossed", without_one)
    report = cosim.run(cut, vectors=500, dut=generated(cut))
    assert report.mismatches > 0


@pytest.mark.core
def test_pipeline_that_never_answers(wrapped: Wrapped) -> None:
    """tests/cosim/runner/test_misbehaving.py has other broken handshakes."""
    report = cosim.run(CLOCKED, vectors=500, dut=wrapped(CLOCKED, {"out_valid": "1'b0"}))
    first, second = report.failures[:2]
    assert first.startswith("no result for 1000 cycles although vectors are inside: out_valid stayed low as long as ")
    assert second == "no result came out"


@pytest.mark.long
def test_results_without_a_vector(wrapped: Wrapped) -> None:
    report = cosim.run(CLOCKED, vectors=500, dut=wrapped(CLOCKED, {"out_valid": "~rst"}))
    assert report.surplus > 0
    surplus = f"{report.surplus:,} results came out that no vector asked for, the first in cycle {report.first_surplus:,}"
    assert surplus in report.failures


@pytest.mark.long
@pytest.mark.xfail(reason="half of the results that agree have an operand that waited at its port, and so was not late")
def test_operand_a_cycle_late(wrapped: Wrapped) -> None:
    late = "reg [31:0] c_late;\nalways @(posedge clk) c_late <= c;"
    report = cosim.run(CLOCKED, vectors=500, dut=wrapped(CLOCKED, {"c": "c_late"}, late))
    assert report.explanation is not None
    assert re.fullmatch(r"c is that of 1 vector before \(\d+ of \d+ mismatches\)", str(report.explanation.shift))
    assert report.explanation.shown.note.startswith("not minimised: ")


@pytest.mark.needs("icarus")  # Verilator has no X
@pytest.mark.parametrize(("unit", "level"), [(unit_of(FP6), "x"), (CLOCKED, "z")], ids=["combinational", "clocked"])
def test_undefined_result(unit: Unit, level: str, wrapped: Wrapped) -> None:
    design = wrapped(unit, {"d": f"{{32{{1'b{level}}}}}"})
    report = cosim.run(unit, vectors=100, dut=design, simulator="icarus")
    assert report.mismatches == report.received == 100
    assert report.first_mismatch is not None
    assert f"got      fp32 {level.upper() * 32}: bits that are neither 0 nor 1" in report.first_mismatch
