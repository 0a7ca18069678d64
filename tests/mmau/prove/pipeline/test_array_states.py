"""Arrays whose elements take operands at different times: proved, and wrong ones refuted and seen in a simulation."""

from typing import Any

import pytest
from amaranth import Const

from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.decision import REFUTED, WrongCycles
from mmau.prove.design_proof import prove
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.pipeline import register_groups
from mmau.prove.pipeline.array_states import IS_RESULT, RULES, ArrayStates
from mmau.prove.pipeline.pipeline_replay import broken
from mmau.prove.pipeline.questions import handshake_trace, register_questions
from mmau.prove.pipeline.symbols import ANY, Symbols
from rtl.designs.weight_array import WeightArray
from rtl.verilog.emit import to_verilog
from tests.mmau.prove.pipeline.designs import (
    ARRAY_FAULTS,
    NOT_PROVABLE,
    SYSTOLIC,
    SYSTOLIC_FAULTS,
    WAITS,
    datapath_of,
    faulty,
    hidden,
    small_array,
    small_tile,
    verilog_of,
    wrong_array,
)
from tests.mmau.prove.pipeline.test_questions import refuted
from tests.volume import one_in

OUTPUTS: dict[str, Any] = {"stationary": "outputs", "depth": 1}

FAULTS = {**ARRAY_FAULTS, **SYSTOLIC_FAULTS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"feed": "systolic", "decoders": "edge", "double_buffer": False, "rows": 1, "depth": 3},
        SYSTOLIC,
        pytest.param({**OUTPUTS, "feed": "systolic", "rows": 5, "columns": 5}, marks=pytest.mark.long),
        pytest.param({**OUTPUTS, "rows": 1}, marks=pytest.mark.long),
        pytest.param({"feed": "systolic", "decoders": "edge", "rows": 4, "columns": 4, "depth": 4}, marks=pytest.mark.long),
        pytest.param(
            {"feed": "systolic", "double_buffer": False, "rows": 3, "depth": 7, "steps": 3}, marks=pytest.mark.long
        ),
    ],
    ids=str,
)
def test_an_array_is_proved(keys: dict[str, Any]) -> None:
    design = small_array(**keys)
    questions = register_questions(design, verilog_of(design), datapath_of(design))
    assert [question.name for question in questions] == [f"handshake {rule}" for rule in RULES]
    assert not refuted(questions)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [{}, SYSTOLIC], ids=str)
def test_which_registers_go_together_changes_no_state(keys: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for group in (register_groups._by_distance, lambda _, after, __: [[k] for k in reversed(range(len(after)))]):
        monkeypatch.setattr(register_groups, "_by_distance", group)
        with deep_stack() as manager:
            design = small_array(**keys)
            states = ArrayStates(Terms(manager), design, verilog_of(design), datapath_of(design))
            assert states.broken() is None
        found.append(len(states.before))
    assert found[0] == found[1] > 40


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(7, FAULTS))
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_faulty_array_is_refuted_with_a_trace(fault: str) -> None:
    design, verilog, rule = wrong_array(fault)
    assert refuted(register_questions(design, verilog, datapath_of(design))) == [f"handshake {rule}"]
    trace = handshake_trace(design, verilog, 10)
    assert trace is not None
    assert (trace.rule, trace.cycles[0].rst) == (rule, 1)


@pytest.mark.slow
@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_result_that_is_not_shown_in_time_is_refuted(wait: str) -> None:
    statements, rule = WAITS[wait]
    design = small_array()
    verilog = hidden(verilog_of(design), statements)
    assert refuted(register_questions(design, verilog, datapath_of(design))) == [f"handshake {rule}"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", NOT_PROVABLE)
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_nothing_is_claimed_of_registers_without_reset_or_clock(fault: str) -> None:
    design = small_array()
    verilog = faulty(verilog_of(design), *NOT_PROVABLE[fault])
    with pytest.raises(NotProvable, match=r"must (be clk, got|depend on the handshake alone)"):
        register_questions(design, verilog, datapath_of(design))


@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_tile_with_an_element_at_another_clock_is_not_proved() -> None:
    design = small_tile()
    verilog = verilog_of(design)
    place = verilog.index(".clk(clk)", verilog.index(" datapath_1_1 ("))
    with pytest.raises(NotProvable, match="unit: clk of datapath_1_1 must be clk, got in_valid"):
        register_questions(design, f"{verilog[:place]}.clk(in_valid){verilog[place + 9 :]}", datapath_of(design))


WRONG_RESULTS = [fault for fault, (_, _, rule) in FAULTS.items() if rule == IS_RESULT]


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize("fault", WRONG_RESULTS)
@pytest.mark.attack("generated pipelines and tiles, in a simulation")
def test_wrong_results_of_a_faulty_array_are_seen_in_a_simulation(fault: str) -> None:
    design, verilog, _ = wrong_array(fault)
    found = broken(design, verilog, handshake_trace(design, verilog, 10))
    assert found is not None
    assert ", expected 0x" in found.fault


@pytest.mark.long
@pytest.mark.simulator
def test_a_sound_array_gives_the_results_of_golden_in_a_simulation() -> None:
    assert broken(small_array(), verilog_of(small_array()), None) is None


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_mmau_prove_shows_the_cycles_in_which_an_array_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    design, verilog, _ = wrong_array("a bank that keeps the last tile's sums")
    monkeypatch.setattr("mmau.prove.design_proof.to_verilog", lambda *_: verilog)
    found = prove(design, 300)
    assert found.verdict == REFUTED
    assert isinstance(found.counterexample, WrongCycles)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["_in_use", "_is_there"])
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_an_array_that_does_not_wait_is_refuted(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    free = {"_in_use": 0, "_is_there": 1}[fault]
    design = small_array(columns=1, depth=4 - 2 * free, double_buffer=bool(free))
    monkeypatch.setattr(WeightArray, fault, lambda *given: Const(free, 1))
    assert refuted(register_questions(design, to_verilog(design, "unit"), datapath_of(design)))


def test_parts_of_joined_values_are_the_values_again() -> None:
    symbols = Symbols()
    a, b = symbols.made("a"), symbols.made("b")
    both = symbols.joined([(a, 8), (b, 4)])
    assert [symbols.part(both, 12, *part) for part in ((11, 4), (3, 0))] == [a, b]
    halves = [(symbols.part(a, 8, 7, 3), 5), (symbols.part(a, 8, 2, 0), 3)]
    assert symbols.joined(halves) == a
    assert symbols.joined(halves[::-1]) != a
    assert symbols.part(both, 12, 5, 2) == symbols.joined([(symbols.part(a, 8, 1, 0), 2), (symbols.part(b, 4, 3, 2), 2)])
    assert symbols.joined([(5, 3), (1, 2)]) == 0b10101


def test_a_value_of_which_a_part_is_anything_is_not_equal_to_itself() -> None:
    symbols = Symbols()
    mixed = symbols.joined([(symbols.made("a"), 8), (ANY, 4)])
    assert symbols.may_be_any(mixed)
    assert symbols.output(0, "d", [mixed]) == ANY
    assert not symbols.may_be_any(symbols.part(mixed, 12, 11, 4))
