"""Pipelines with registers inside of steps: proved, and refuted where a value passes one by or the parts are others."""

from functools import cache
from typing import Any

import pytest

from golden import Implementation, Operation, Unit
from golden.operations import FMA, TFDPA
from golden.units.unit import ENCODINGS, MULTIPLIERS
from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.pipeline.pipeline_targets import parts_of
from mmau.prove.pipeline.questions import CUT, cut_questions, register_questions
from rtl.datapath.fused import FusedDatapath
from rtl.designs.unit_design import UnitDesign
from tests.mmau.prove.pipeline.designs import datapath_of, faulty, verilog_of
from tests.mmau.prove.pipeline.test_questions import refuted
from tests.mmau.prove.provable_units import OPERATIONS, SMALL
from tests.rtl.datapath.test_pipeline import points_of
from tests.volume import one_in, one_of_each

INSIDE = ("multiply_rows", "accumulate_rows", "normalise_count", "encode")


def cut(operation: Operation = SMALL, registers: tuple[str, ...] = INSIDE, **keys: Any) -> UnitDesign:
    """A unit with registers inside of its steps."""
    built = Implementation(stages=len(registers), registers=registers, **keys)
    return UnitDesign(Unit(name="unit", operation=operation, implementation=built))


@cache
def parts() -> str:
    text = parts_of(cut())
    assert text is not None
    return text


FIRST = TFDPA(a="fp16", b="fp16", c="fp32", L=4, F=24, rho="RZ-FP32", e_zero=-133)  # type: ignore[arg-type]
SINGLE = FMA(a="fp32", b="fp32", c="fp32", rho="RNE-FP32")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("multiplier", "encoding"), one_in(4, [(made, encoding) for made in MULTIPLIERS for encoding in ENCODINGS])
)
def test_registers_inside_of_steps_are_proved(multiplier: str, encoding: str) -> None:
    design = cut(multiplier=multiplier, encoding=encoding)
    assert not refuted(register_questions(design))


@pytest.mark.long
@pytest.mark.parametrize(
    ("operation", "keys"),
    [
        (FIRST, {}),
        (FIRST, {"multiplier": "booth", "adder": "kogge-stone", "encoding": "sign-magnitude"}),
        (SINGLE, {}),
        (SINGLE, {"multiplier": "carry-save", "encoding": "twos-complement"}),
    ],
)
def test_registers_inside_of_wide_steps_are_proved(operation: Operation, keys: dict[str, Any]) -> None:
    assert not refuted(register_questions(cut(operation, **keys)))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", one_in(3, ENCODINGS))
@pytest.mark.parametrize("operation", one_of_each(OPERATIONS, type))
@pytest.mark.attack("parts of a step that an operation has in a form of its own, in every operation")
def test_parts_of_every_operation_compute_what_its_steps_do(operation: Operation, encoding: str) -> None:
    inside = tuple(point for point in points_of(operation, encoding=encoding) if point in INSIDE[:-1])
    if not inside:
        return
    design = cut(operation, (*inside, "encode"), encoding=encoding)
    parts = parts_of(design)
    assert parts is not None
    assert not refuted(cut_questions(datapath_of(design), parts))


@pytest.mark.slow
@pytest.mark.attack("parts of a step that an operation has in a form of its own, in prove")
def test_parts_of_another_form_of_a_step_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """OC-FDPA accumulates in the sign frame of c; the parts of the common step do not."""
    monkeypatch.setattr(FusedDatapath, "_is_overridden", lambda self, step: False)
    design = cut(next(each for each in OPERATIONS if each.name == "OC-FDPA"), ("accumulate_rows", "encode"))
    parts = parts_of(design)
    assert parts is not None
    assert refuted(cut_questions(datapath_of(design), parts))


@pytest.mark.slow
def test_parts_are_compared_where_a_step_is_cut_and_only_there() -> None:
    names = {question.name for question in register_questions(cut())}
    assert {name for name in names if name.startswith(CUT)} == {f"{CUT} sum_align_0"}  # all other terms are the same
    whole = cut(registers=("multiply", "accumulate", "normalise", "encode"))
    assert parts_of(whole) is None
    assert not [each for each in register_questions(whole) if each.name.startswith(CUT)]


PASSED_BY = {
    "a row of a product": (".row_1(multiply_0_sum_row_1)", ".row_1(multiply_0_prod__carry)"),
    "the exponent beside the rows": (
        "in_ready ? multiply_0_prod__exp : multiply_rows_prod_0_exp",
        "1'h1 ? multiply_0_prod__exp : multiply_rows_prod_0_exp",
    ),
    "a row of the sum": (".row_0(accumulate_rows_sum_row_0)", ".row_0(sum_accumulate_rows_row_0)"),
    "the increment": (".increment(accumulate_rows_sum_increment)", ".increment(sum_accumulate_rows_increment)"),
    "the count": (".left(normalise_count_left)", ".left(sum_normalise_count_left)"),
    "the total beside the count": (".total(normalise_count_sum_total)", ".total(sum_accumulate_total)"),
}
"""Registers inside of steps that something does without."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(2, PASSED_BY))
@pytest.mark.attack("pipelines with a register missing inside of a step, for one of the values that cross it, in prove")
def test_a_value_that_passes_a_register_inside_by_is_refuted(fault: str) -> None:
    verilog = faulty(verilog_of(cut()), *PASSED_BY[fault])
    assert refuted(register_questions(cut(), verilog, datapath_of(cut())))


OTHER_PARTS = {
    "half of the factor twice": ("x__sig * { y__sig[2], 2'h0 }", "x__sig * { y__sig[1], 2'h0 }"),
    "one row twice": (".row_1(multiply_0_prod__carry)", ".row_1(multiply_0_prod__sig)"),
    "no increment": (".increment(sum_accumulate_increment)", ".increment(1'h0)"),
    "another sign": (".frame(sum_accumulate_frame)", ".frame(sum_accumulate_increment)"),
    "another count": (".left(sum_normalise_count_left)", ".left(sum_accumulate_total[3:0])"),
    "another e_max": (".e_max(sum_align_0_e_max),\n    .e_norm(", ".e_max(6'h00),\n    .e_norm("),
}
"""Datapaths in parts that do not compute what the whole steps do."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", OTHER_PARTS)
@pytest.mark.attack("datapaths whose parts of a step do not compute what the whole step does, in prove")
def test_parts_that_are_no_cut_of_the_step_are_refuted(fault: str) -> None:
    there, instead = OTHER_PARTS[fault]
    assert there in parts()
    questions = cut_questions(datapath_of(cut()), parts().replace(there, instead, 1))
    assert refuted(questions)


def test_sound_parts_are_proved() -> None:
    assert not refuted(cut_questions(datapath_of(cut()), parts()))


@pytest.mark.slow
def test_parts_without_the_ports_or_with_registers_are_not_proved() -> None:
    with pytest.raises(NotProvable, match=r"^the datapath in parts must have the ports of the whole one, and no registers$"):
        cut_questions(datapath_of(cut()), verilog_of(cut()))
    with pytest.raises(NotProvable, match=r"^d has other ports in the datapath in parts$"):
        cut_questions(datapath_of(cut()), datapath_of(cut(FIRST)))
