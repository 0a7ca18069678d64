"""Roles of registers, and their next values."""

from collections.abc import Iterator

import pytest

from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.pipeline.handshake_rules import Rule, broken_by
from mmau.prove.pipeline.pipeline import Pipeline
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign
from tests.mmau.prove.pipeline.designs import piped, small_tile, verilog_of


@pytest.fixture(params=[piped(3), small_tile()], ids=["pipeline", "tile"])
def pipeline(request: pytest.FixtureRequest) -> Iterator[Pipeline]:
    design: UnitDesign | TileDesign = request.param
    with deep_stack() as manager:
        yield Pipeline(Terms(manager), design, verilog_of(design))


@pytest.mark.slow
def test_registers_are_distinguished(pipeline: Pipeline) -> None:
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


@pytest.mark.slow
def test_the_followed_result_does_leave(pipeline: Pipeline) -> None:
    """Otherwise the claims about it would be vacuous."""
    handshake = pipeline.handshake
    logic = handshake.logic
    never = Rule("never leaves", logic.no(logic.all([handshake.leaves, handshake.is_next])), is_observable=True)
    trace = broken_by(handshake, [never], 10)
    assert trace is not None
    assert len(trace.cycles) == 2 + handshake.stages * handshake.steps
