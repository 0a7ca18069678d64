"""The questions about pipelines, and the refutation of faults."""

from dataclasses import replace

import pytest

from golden import Implementation
from golden.units.unit import MAX_STAGES
from mmau.prove.datapath.unit_questions import NotProvable, Question
from mmau.prove.pipeline.questions import assumed, handshake_trace, pipeline_questions, register_questions
from mmau.prove.solvers.installed import solver
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign
from studies.proofs.proved_designs import pipeline_targets
from tests.mmau.prove.pipeline.designs import (
    PIPELINE_FAULTS,
    TILE_FAULTS,
    datapath_of,
    faulty,
    piped,
    small_tile,
    verilog_of,
    waiting_for_operands,
    waiting_for_the_consumer,
)
from tests.volume import one_in

CHEAP = (
    "sm_70 mma.m8n8k4.f32.f16.f16.f16, 2x3 tile",
    "gfx908 v_mfma_f32_32x32x8f16, 2x1 tile",
    "x86-avx512 vdpbf16ps, 1x1 tile",
)
"""Tiles of the campaign, of one step and of several; one with registers that hold constants."""


def asked(design: UnitDesign | TileDesign, *fault: str) -> list[Question]:
    """The questions about the registers of a design, perhaps with a fault in its Verilog."""
    verilog = verilog_of(design)
    return register_questions(design, faulty(verilog, *fault) if fault else verilog, datapath_of(design))


def refuted(questions: list[Question]) -> list[str]:
    """The questions that are not answered with never."""
    return [each.name for each in questions if solver("bitwuzla")(each.text, 10).verdict != "never"]


@pytest.mark.slow
@pytest.mark.parametrize("stages", [1, pytest.param(8, marks=pytest.mark.long)])
def test_a_pipeline_is_proved(stages: int) -> None:
    questions = asked(piped(stages))
    assert len(questions) > 14
    assert not refuted(questions)


@pytest.mark.slow
def test_a_pipeline_of_named_registers_is_proved() -> None:
    registers = ("operands", "max_exp", "encode")
    design = UnitDesign(replace(piped(3).unit, implementation=Implementation(stages=3, registers=registers)))
    assert verilog_of(design) != verilog_of(piped(3))
    assert datapath_of(design) == datapath_of(piped(3))
    assert not refuted(asked(design))


@pytest.mark.long
@pytest.mark.parametrize("stages", range(2, MAX_STAGES))
def test_pipelines_of_every_length_are_proved(stages: int) -> None:
    assert not refuted(asked(piped(stages)))


@pytest.mark.slow
def test_a_tile_is_proved() -> None:
    assert not refuted(asked(small_tile()))
    assert any("operands of the next step" in line for line in assumed(small_tile()))


@pytest.mark.long
def test_tiles_and_a_datapath_of_several_formats_are_proved() -> None:
    piped = [design for design in pipeline_targets() if design.implementation.stages]
    cheap = [design for design in piped if design.name in CHEAP or isinstance(design, MultiFormatDesign)]
    assert len(cheap) == len(CHEAP) + 2
    for design in cheap:
        assert not refuted(register_questions(design)), design.name


@pytest.mark.slow
def test_a_pipeline_rests_on_its_datapath() -> None:
    names = {question.name.split()[0] for question in pipeline_questions(piped(3))}
    assert {"handshake", "decode_x_0", "specials", "d"} <= names


@pytest.mark.slow
def test_stages_share_their_questions() -> None:
    one, other = piped(3), UnitDesign(replace(piped(3).unit, name="another"))
    texts = [{question.text for question in asked(design)} for design in (one, other)]
    assert texts[0] == texts[1]


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(2, PIPELINE_FAULTS))
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_faulty_pipeline_is_refuted_with_a_trace(fault: str) -> None:
    design = piped(3)
    assert refuted(asked(design, *PIPELINE_FAULTS[fault]))
    trace = handshake_trace(design, faulty(verilog_of(design), *PIPELINE_FAULTS[fault]), 10)
    assert trace is not None
    assert trace.cycles[0].rst == 1
    assert len(trace.cycles) <= 8


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(2, TILE_FAULTS))
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_faulty_tile_is_refuted(fault: str) -> None:
    assert refuted(asked(small_tile(), *TILE_FAULTS[fault]))


@pytest.mark.slow
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_result_that_is_taken_back_when_no_operands_are_there_is_refuted() -> None:
    verilog = waiting_for_operands(verilog_of(small_tile()))
    questions = register_questions(small_tile(), verilog, datapath_of(small_tile()))
    assert set(refuted(questions)) == {
        "handshake result stays valid while it waits",
        "handshake result is shown whether or not it is taken",
    }


@pytest.mark.slow
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_result_that_waits_for_the_consumer_is_refuted() -> None:
    verilog = waiting_for_the_consumer(verilog_of(piped(3)))
    assert refuted(register_questions(piped(3), verilog, datapath_of(piped(3)))) == [
        "handshake result is shown whether or not it is taken"
    ]


@pytest.mark.slow
def test_a_sound_pipeline_has_no_trace() -> None:
    assert handshake_trace(piped(3), verilog_of(piped(3)), 10) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "instead", "problem"),
    [
        ("in_ready ? in_valid : valid_max_exp", "in_ready ? 1'h1 : valid_max_exp", "0 registers in a row are valid bits"),
        (
            "in_ready = \\$1  | takes_accumulate",
            "in_ready = \\$1  | a[0]",
            "in_ready must depend on the handshake alone, and depends on other signals too",
        ),
        ("takes_accumulate ? max_exp_sum_exp", "takes_accumulate ? accumulate_sum_exp", "accumulate_sum_exp takes nothing"),
    ],
)
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_what_is_not_understood_is_not_proved(there: str, instead: str, problem: str) -> None:
    with pytest.raises(NotProvable, match=problem):
        asked(piped(3), there, instead)


def test_a_combinational_design_has_no_registers() -> None:
    with pytest.raises(NotProvable, match="unit has no registers"):
        register_questions(piped(0))
