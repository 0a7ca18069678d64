"""The ratchet on cells: what passes, what fails, what is reported."""

import pytest

from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from studies.area.ratchet import Committed, check, committed_units
from studies.proofs.proved_designs import UNUSED


def verdict_of(before: int, now: int) -> tuple[int, str]:
    unit = committed_units()[0].unit
    return check([Committed(unit, before)], lambda measured: now if measured is unit else -1)


@pytest.mark.parametrize(
    ("now", "status", "word"), [(1000, 0, "ok"), (1030, 0, "ok"), (1031, 1, "GROWN"), (999, 0, "shrunk")]
)
def test_growth_beyond_three_percent_fails(now: int, status: int, word: str) -> None:
    got, text = verdict_of(1000, now)
    assert got == status
    assert text.splitlines()[1].split()[1:3] == ["1000", str(now)]
    assert text.splitlines()[1].endswith(word)


def test_one_grown_unit_among_others_fails_and_all_are_shown() -> None:
    committed = committed_units()
    grown = committed[-1].unit
    figures = {entry.unit.name: entry.cells for entry in committed}
    status, text = check(committed, lambda unit: figures[unit.name] * (2 if unit is grown else 1))
    assert (status, text.count("GROWN")) == (1, 1)
    assert all(entry.unit.name in text for entry in committed)
    assert "lower their figures in studies/area/ratchet.toml" in verdict_of(1000, 999)[1]


def test_every_value_of_every_key_is_that_of_a_unit_whose_operation_has_its_circuit() -> None:
    choices = {"encoding": ENCODINGS, **CIRCUIT_CHOICES, **LATER_KEYS}
    units = [entry.unit for entry in committed_units()]
    for key, values in choices.items():
        built = {getattr(unit.implementation, key) for unit in units if key not in UNUSED.get(type(unit.operation), ())}
        assert built == set(values), key
    inside = {point for unit in units for point in unit.implementation.registers}
    assert inside >= {"multiply_rows", "accumulate_rows", "normalise_count"}
