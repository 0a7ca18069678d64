"""Random units: of every operation, each with keys that golden takes, the same ones from the same seed."""

import random

import pytest

import golden
from tests.mmau.probe.known_units import random_operation


@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_random_operations(name: str) -> None:
    rng, again = random.Random(name), random.Random(name)
    drawn = [random_operation(rng, name) for _ in range(40)]
    assert {operation.name for operation in drawn} == {name}
    assert len(set(drawn)) >= 4
    assert drawn == [random_operation(again, name) for _ in range(40)]


def test_all_operations_are_drawn() -> None:
    rng = random.Random(0)
    assert {random_operation(rng).name for _ in range(300)} == set(golden.OPERATIONS)
