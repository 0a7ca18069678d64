"""Sample vectors beside a proof."""

from dataclasses import replace
from pathlib import Path

import pytest

from cosim.build.errors import SimulationError
from cosim.dut.description import Reset, load_dut
from golden import load_unit
from mmau.prove.counterexample import golden_result
from mmau.prove.decision import OPEN, PROVED, REFUTED, UserDesignDecision, WrongCycles, WrongResult
from mmau.prove.user_design import proof, samples
from mmau.prove.user_design.proof import prove_user_design
from mmau.prove.user_design.samples import VECTORS, first_wrong, sampled
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, SHIFT, VALID, Wrong, clocked
from tests.mmau.prove.user_design.wrong_designs import ALL

pytestmark = pytest.mark.simulator

SECONDS = 300.0

AGREE = f"{VECTORS} sample vectors in simulation agree"


@pytest.mark.long
def test_a_right_design_is_held_to_sample_vectors(tmp_path: Path) -> None:
    found = prove_user_design(PRODUCT, Wrong("assign d = r;", "").described(tmp_path), SECONDS)
    assert (found.verdict, found.reason, found.decided[-1]) == (PROVED, "", AGREE)


def test_a_design_that_is_not_read_is_refuted_by_a_simulation_with_the_complaint(tmp_path: Path) -> None:
    found = prove_user_design(PRODUCT, ALL["a bit of a wire twice"].described(tmp_path), SECONDS)
    assert (found.verdict, found.decided_by) == (REFUTED, "simulation")
    assert "MULTIDRIVEN" in found.reason
    assert isinstance(found.counterexample, WrongResult)
    assert found.counterexample.got != found.counterexample.expected


def test_warnings_about_widths_are_said_before_any_work(tmp_path: Path) -> None:
    dut = Wrong("wire [15:0] q = a; assign d = q == 16'(a) ? r : ~r;", "").described(tmp_path)
    found = prove_user_design(PRODUCT, dut, SECONDS)
    assert (found.verdict, found.waivable, found.decided) == (OPEN, ("WIDTHEXPAND",), ())
    assert found.reason.endswith("; if that is meant, add --waive WIDTHEXPAND")


@pytest.mark.long
def test_a_design_that_is_not_read_and_shows_no_fault_is_not_decided(tmp_path: Path) -> None:
    body = "wire [31:0] q; assign q = a == 8'd9 && a == 8'd10 ? q : r; assign d = q;"
    found = prove_user_design(PRODUCT, Wrong(body, "").described(tmp_path), SECONDS)
    assert found.verdict == OPEN
    assert "logic loop" in found.reason
    assert found.reason.endswith(f"; {AGREE}")


@pytest.mark.long
@pytest.mark.attack("designs by hand, in prove")
def test_what_two_tools_read_differently_is_not_proved(tmp_path: Path) -> None:
    proved = UserDesignDecision(verdict=PROVED, equal_to="the specification of the operation")
    found = sampled(PRODUCT, Wrong("assign d = ~r;", "").described(tmp_path), proved)
    assert found.verdict == REFUTED
    assert found.reason == (
        "the circuit that Yosys reads is proved, but a simulation of the text by Verilator shows a fault: "
        "the two read it differently, or the fault is in what the proof takes for granted"
    )


FMA_BY_HAND = Path(__file__).parent / "designs" / "fma_ieee"


@pytest.mark.parametrize(
    "bugs", [("BUG_SIGN_OF_A_ZERO_THAT_CANCELS",), pytest.param((), marks=pytest.mark.long)], ids=["wrong", "right"]
)
def test_many_vectors_are_tried_before_a_hard_question(bugs: tuple[str, ...]) -> None:
    unit, dut = load_unit(FMA_BY_HAND / "unit.toml").step, load_dut(FMA_BY_HAND / "dut.toml")
    found = first_wrong(unit, replace(dut, defines=dict.fromkeys(bugs, "")))
    assert (found is None) is (not bugs)
    if found is not None:
        assert golden_result(unit, found) == 0  # a zero of the other sign


@pytest.mark.long
def test_a_deadlock_is_seen(tmp_path: Path) -> None:
    found = prove_user_design(PRODUCT, ALL["ready after a cycle without valid"].described(tmp_path), SECONDS)
    assert found.verdict == REFUTED
    assert "operands are not taken any more" in found.reason
    assert isinstance(found.counterexample, WrongCycles)


def explained(wrong: Wrong, folder: Path) -> tuple[str, ...]:
    """What is said of a wrong design's counter-example."""
    found = prove_user_design(PRODUCT, wrong.described(folder), SECONDS)
    assert found.verdict == REFUTED
    assert isinstance(found.counterexample, WrongResult)
    return tuple(found.counterexample.explanation)


@pytest.mark.long
def test_a_result_of_the_next_operands_comes_with_them(tmp_path: Path) -> None:
    """The register takes the operands of the next transfer, if one comes at once."""
    body = "logic v; always_ff @(posedge clk) begin v <= in_valid && !rst; out_valid <= v && !rst; if (in_valid) d <= r; end"
    keys = {"protocol": "valid", "clock": "clk", "reset": Reset("rst")}
    lines = explained(Wrong(body, "", VALID, keys), tmp_path)
    assert any(line.startswith("the operands after them, whose result this is: a=") for line in lines)


@pytest.mark.long
def test_two_operands_that_show_the_difference_alone_come_together(tmp_path: Path) -> None:
    """What is on the wires after the operands may be a pause."""
    lines = explained(clocked(SHIFT, "", latency=2), tmp_path)
    assert any(line.startswith("the operands after them") for line in lines)
    depends = "a result depends on other operands than its own: these two alone, one after the other, give for the first "
    assert lines[-1].startswith(depends)
    assert "; then a=" in lines[-1]


@pytest.mark.long
def test_what_cannot_be_simulated_is_not_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise SimulationError("no compiler")

    monkeypatch.setattr(samples, "run", broken)
    found = proof.prove_user_design(PRODUCT, Wrong("assign d = r;", "").described(tmp_path), SECONDS)
    assert (found.verdict, found.reason) == (OPEN, "it cannot be simulated: no compiler")
