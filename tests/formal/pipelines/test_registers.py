"""Registers told apart, and what becomes of them."""

from collections.abc import Iterator

import pytest

from formal.obligations.units import deep_stack
from formal.pipelines.handshake import Rule
from formal.pipelines.pipeline import Pipeline
from formal.pipelines.trace import broken_by
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.terms import Terms
from tests.formal.pipelines.designs import piped, small_tile, verilog_of


@pytest.fixture(params=[piped(3), small_tile()], ids=["pipeline", "tile"])
def pipeline(request: pytest.FixtureRequest) -> Iterator[Pipeline]:
    design: UnitDesign | TileDesign = request.param
    with deep_stack() as manager:
        yield Pipeline(Terms(manager), design, verilog_of(design))


def test_registers_are_told_apart(pipeline: Pipeline) -> None:
    registers = pipeline.handshake.registers
    if registers.shape.steps == 1:
        assert registers.valid == [["valid_max_exp"], ["valid_accumulate"], ["out_valid"]]
        assert set(registers.control) == {"valid_max_exp", "valid_accumulate", "out_valid"}
    else:
        assert [len(stage) for stage in registers.valid] == [4]
        assert {"in_step", "out_step"} < set(registers.control)
    assert not set(registers.control) & registers.data


def test_registers_of_a_stage_share_a_bit(pipeline: Pipeline) -> None:
    tokens = pipeline.handshake.tokens
    lives = [(live.start, live.stop) for group in tokens.groups for live in group.live.values()]
    if tokens.shape.steps == 1:
        assert lives == [(1, 2), (2, 3), (3, 4)]
        assert tokens.output_registers == ["d"]
    else:
        assert set(lives) == {(1, 2)}
        assert [len(group.names) for group in tokens.groups] == [1, 1, 1, 1]  # each holds the sum of its own element


def test_the_followed_result_does_leave(pipeline: Pipeline) -> None:
    """So that what is claimed of it is claimed of something."""
    handshake = pipeline.handshake
    logic = handshake.logic
    never = Rule("never leaves", logic.no(logic.all([handshake.leaves, handshake.is_next])), is_told=True)
    trace = broken_by(handshake, [never], 10)
    assert trace is not None
    assert len(trace.cycles) == 2 + handshake.stages * handshake.steps
