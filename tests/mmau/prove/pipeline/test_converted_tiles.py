"""Tiles that convert their operands: proved, and refuted with a fault in what converts, what adds or what waits."""

import re
from functools import cache
from random import Random

import pytest

from golden import Implementation, Unit
from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.pipeline.pipeline_replay import expected, flowing, stimulus
from mmau.prove.pipeline.pipeline_targets import converted_questions
from mmau.prove.pipeline.questions import register_questions
from mmau.prove.proof_identity import specification_digest
from rtl.designs.sample_units import tile_designs
from rtl.designs.tile import TileShape
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign
from tests.mmau.prove.pipeline.designs import datapath_of, faulty, verilog_of
from tests.mmau.prove.pipeline.test_questions import refuted
from tests.volume import one_in

KIND = "generated pipelines and tiles, in prove"


@cache
def converting() -> TileDesign:
    """One row, two columns, two steps, three stages."""
    return next(tile for tile in tile_designs() if tile.instruction.fp16_order is not None)


FAULTS = {
    "c that does not wait": ("\\$8  ? c[15:0]", "1'h1 ? c[15:0]"),
    "c of another element": ("\\$8  ? c[15:0]", "\\$8  ? c[31:16]"),
    "a sum that starts again": ("in_step ? add_0_0_decode_x_code : 16'h0000", "16'h0000"),
    "an operand of another column": (".code(b[31:24])", ".code(b[159:152])"),
}
"""Faults beside the modules: what is asked of the registers shows them."""

NOT_UNDERSTOOD = {
    "c of the first step": (
        "\\$8  = in_transfer & in_step", "\\$8  = in_transfer & \\$32 ", "add_0_0_decode_y_code takes nothing with step 2",
    ),
    "a sum that does not start from zero": (
        "in_step ? add_0_0_decode_x_code : 16'h0000", "add_0_0_decode_x_code", "datapath_0_0.d depends on itself",
    ),
}  # fmt: skip
"""Faults of which no intended value can be read."""

MODULE_FAULTS = {
    "another NaN": ("x__nan ? 16'h7e00 : { x__sign, \\$11  }", "x__nan ? 16'h7e01 : { x__sign, \\$11  }"),
    "a subnormal number that is lost": ("norm[2] ? \\$9  : 8'h00", "norm[2] ? \\$9  : 8'h01"),
}
"""Faults of a converter, whose own question shows them."""


def in_converter(verilog: str, there: str, instead: str) -> str:
    """The Verilog with a fault in the converter of b."""
    before, module = verilog.split("module unit_convert_e5m2(")
    end = module.index("endmodule")
    return f"{before}module unit_convert_e5m2({faulty(module[:end], there, instead)}{module[end:]}"


@pytest.mark.slow
def test_a_converting_tile_is_proved() -> None:
    questions = converted_questions(converting(), verilog_of(converting()))
    assert {"convert_a", "convert_b", "add_specials", "add_encode exact"} <= {each.name for each in questions}
    assert not refuted(questions)
    assert not refuted(register_questions(converting(), verilog_of(converting()), datapath_of(converting())))


@pytest.mark.slow
@pytest.mark.attack(KIND)
@pytest.mark.parametrize(("there", "instead", "problem"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_a_converting_tile_that_is_not_understood_is_not_proved(there: str, instead: str, problem: str) -> None:
    verilog = faulty(verilog_of(converting()), there, instead)
    with pytest.raises(NotProvable, match=f"^{re.escape(problem)}$"):
        register_questions(converting(), verilog, datapath_of(converting()))


@pytest.mark.slow
@pytest.mark.attack(KIND)
@pytest.mark.parametrize("fault", one_in(4, FAULTS))
def test_a_faulty_converting_tile_is_not_proved(fault: str) -> None:
    verilog = faulty(verilog_of(converting()), *FAULTS[fault])
    assert refuted(register_questions(converting(), verilog, datapath_of(converting())))


@pytest.mark.slow
@pytest.mark.attack(KIND)
@pytest.mark.parametrize("fault", one_in(2, MODULE_FAULTS))
def test_a_faulty_converter_is_refuted(fault: str) -> None:
    verilog = in_converter(verilog_of(converting()), *MODULE_FAULTS[fault])
    assert refuted(converted_questions(converting(), verilog)) == ["convert_b"]


@pytest.mark.slow
@pytest.mark.attack(KIND)
def test_another_adder_is_not_taken_for_the_proved_one() -> None:
    verilog = verilog_of(converting()).replace("unit_specials add_0_0_specials", "unit_specials_2 add_0_0_specials")
    with pytest.raises(NotProvable, match=r"^add_0_0_specials is another module in the pipeline$"):
        register_questions(converting(), verilog, datapath_of(converting()))


def test_results_of_a_converting_tile_are_goldens() -> None:
    design = converting()
    shape, i = TileShape(design.instruction), design.instruction
    for seed in range(3):
        steps = [each.operands for each in stimulus(design, flowing(design), Random(seed))[1:3]]
        found = expected(design, steps)
        for column in range(i.n):
            x, y = {}, {}
            for step, operands in enumerate(steps):
                for place, k in enumerate(shape.products(step)):
                    x[k] = operands["a"] >> (8 * place) & 0xFF
                    y[k] = operands["b"] >> (8 * (column * 16 + place)) & 0xFF
            c = steps[-1]["c"] >> (16 * column) & 0xFFFF
            d = i.chain([x[k] for k in range(i.k)], [y[k] for k in range(i.k)], c)
            assert found >> (16 * column) & 0xFFFF == d


def test_the_specification_of_a_converting_tile_is_not_that_of_its_step() -> None:
    step = UnitDesign(Unit(name="step", operation=converting().operation, implementation=Implementation()))
    assert specification_digest(converting()) != specification_digest(step)
