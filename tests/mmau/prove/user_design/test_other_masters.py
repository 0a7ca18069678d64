"""Designs that are right beside the wrapper's master alone: the verdict says what it takes for granted of a master."""

from pathlib import Path

import pytest

from cosim.dut.description import Dut, dut_from_table
from golden import Unit
from golden.operations import IDPA
from mmau.prove.decision import PROVED
from mmau.prove.user_design.proof import decided_by_solvers

DESIGNS = Path(__file__).parent / "designs" / "other_masters"

PRODUCT = Unit(name="product", operation=IDPA(a="int8", b="int8", c="int32", L=1))  # type: ignore[arg-type]

FIRST = "no operand is offered in the first cycle after a reset"

TOGETHER = "each operand is offered after all operands of the result before are taken"

START = "start comes two cycles after done at the earliest, and d is read in the first cycle in which done is 1"

WRONG = {"each": TOGETHER, "deaf": START, "level": START, "first": FIRST}
"""Each design, and what is taken for granted without which it is wrong."""


def described(top: str) -> Dut:
    """One of the designs."""
    ports = {"a": "a", "b": "b", "d": "d"}
    if "each" in top:
        ports |= {"out_valid": "d_valid", "out_ready": "d_ready"}
        ports |= {f"{name}_{end}": f"{name}_{end}" for name in "ab" for end in ("valid", "ready")}
    else:
        ports |= {"start": "start", "done": "done"}
    protocol = "operand-handshakes" if "each" in top else "start-done"
    table = {
        "top": top, "sources": [str(DESIGNS / f"{top}.sv")], "protocol": protocol, "clock": "clk",
        "reset": {"name": "rst"}, "ports": ports, "operands": {"c": "none"},
    }  # fmt: skip
    return dut_from_table(table, DESIGNS)


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
@pytest.mark.parametrize("top", WRONG)
def test_the_verdict_says_what_it_takes_for_granted(top: str) -> None:
    assert WRONG[top] in decided_by_solvers(PRODUCT, described(top), 100).assumed


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
@pytest.mark.attack("dut")
@pytest.mark.xfail(reason="the proof's master is the wrapper: what it does not do is not looked at", strict=True)
@pytest.mark.parametrize("top", WRONG)
def test_a_design_that_another_master_breaks_is_not_proved(top: str) -> None:
    assert decided_by_solvers(PRODUCT, described(top), 100).verdict != PROVED


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
@pytest.mark.attack("dut")
@pytest.mark.parametrize("top", ["bus", "each_bus"])
def test_a_design_that_needs_other_data_while_nothing_is_offered_is_not_proved(top: str) -> None:
    """Ports that offer nothing may hold anything, the last operand too."""
    assert "depends on other operands than its own" in decided_by_solvers(PRODUCT, described(top), 100).reason
