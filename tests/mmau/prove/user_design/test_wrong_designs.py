"""No wrong design is proved: each is refuted, or not decided with the reason."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cosim.dut.description import Dut
from cosim.dut.tool_log import ElaborationError
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.user_design.proof import prove_user_design
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong
from tests.mmau.prove.user_design.further_wrong_designs import FURTHER
from tests.mmau.prove.user_design.wrong_designs import ALL
from tests.mmau.prove.user_design.wrong_expressions import EXPRESSIONS, HELD

SECONDS = 300.0

QUICK = {
    "a loop that cancels", "an initial value that holds", "valid after ready", "an increment beside a read",
}  # fmt: skip
"""One of each kind; the others are `long`, and further ones are for `make attack` alone."""


@pytest.mark.simulator
@pytest.mark.usefixtures("solvers_alone")
@pytest.mark.parametrize(
    "wrong",
    [
        *(
            pytest.param(each, id=name, marks=() if name in QUICK else pytest.mark.long)
            for name, each in (ALL | EXPRESSIONS).items()
        ),
        *(pytest.param(each, id=name, marks=pytest.mark.campaign) for name, each in FURTHER.items()),
    ],
)
@pytest.mark.attack("designs by hand, in prove")
def test_a_wrong_design_is_not_proved(wrong: Wrong, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    verdict, reason = decided(wrong.described(tmp_path))
    record_property("caught", "refuted" if verdict == REFUTED else "not decided")
    assert verdict != PROVED
    if wrong.says:
        assert verdict == OPEN
        assert wrong.says in reason


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.usefixtures("solvers_alone")
@pytest.mark.parametrize("name", HELD)
@pytest.mark.attack("designs by hand, in prove")
def test_a_proof_names_the_initial_values_that_it_rests_on(name: str, tmp_path: Path) -> None:
    found = prove_user_design(PRODUCT, HELD[name].described(tmp_path), SECONDS)
    assert (found.verdict, found.assumed) == (PROVED, (HELD[name].says,))


def decided(dut: Dut) -> tuple[str, str]:
    """The verdict on a design, and the reason."""
    try:
        found = prove_user_design(PRODUCT, dut, SECONDS)
    except ElaborationError as error:
        return OPEN, str(error)
    return found.verdict, found.reason
