"""Results at the wrong places: the shift is named, and wrong results are no shift."""

from dataclasses import replace

import pytest

from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis.shifted import Shift, shift_of


def row(vector: int, got: int, expected: int) -> ComparedRow:
    codes = {"a": (0,), "b": (0,), "c": 0, "scale_a": None, "scale_b": None, "got": got, "expected": expected}
    about = {"vector": vector, "place": "", "products": "", "stimulus_class": "bits", "cycle": vector, "time": 0.0}
    return ComparedRow.from_dict({**about, **codes, "ports": {}})


@pytest.mark.parametrize(
    ("by", "text"),
    [
        (1, "each result equals the one expected a vector earlier (99 of 99 mismatches): the latency is 4, not 3"),
        (-2, "each result equals the one expected 2 vectors later (98 of 98 mismatches): the latency is 1, not 3"),
    ],
)
def test_shift_is_named(by: int, text: str) -> None:
    found = shift_of([row(n, 7 * (n - by), 7 * n) for n in range(100)], [])
    assert found is not None
    assert found.text(latency=3) == text
    assert found.text(latency=None) == text.partition(":")[0]


def test_few_other_results_do_not_hide_a_shift() -> None:
    rows = [row(n, 7 * n - 7, 7 * n) for n in range(100)]
    rows[50] = replace(rows[50], got=1)
    assert shift_of(rows, []) == Shift(1, 98, 99)


def test_wrong_results_and_constants_are_no_shift() -> None:
    assert shift_of([row(n, 7 * n + 1, 7 * n) for n in range(100)], []) is None
    assert shift_of([row(n, 0, n % 2) for n in range(1, 100, 2)], [row(n, 0, 0) for n in range(0, 100, 2)]) is None
