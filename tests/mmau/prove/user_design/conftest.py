"""Proofs without simulations: a fault that a proof misses is not made good by one."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cosim.dut.description import Dut
from golden import Unit
from mmau.prove.decision import UserDesignDecision
from mmau.prove.user_design import proof


@pytest.fixture
def unsampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sample vectors."""
    monkeypatch.setattr(proof, "sampled", lambda unit, dut, found: found)
    monkeypatch.setattr(proof, "first_wrong", lambda unit, dut, cycles: None)


@pytest.fixture
def solvers_alone(unsampled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sample vectors, and no replay of a counter-example, which leaves a design undecided."""

    def found(unit: Unit, dut: Dut, inputs: Mapping[str, int], undecided: UserDesignDecision) -> UserDesignDecision:
        return replace(undecided, reason="operands were found for which d differs")

    monkeypatch.setattr(proof, "_replayed", found)
