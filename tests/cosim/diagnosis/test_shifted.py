"""Results at the wrong places: the shift is named, and wrong results are no shift."""

from dataclasses import replace

import numpy as np
import pytest

from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis.mismatch_places import Shift, late_operand, moved, shift_of
from cosim.runner.job import read
from golden import Unit
from tests.cosim.diagnosis.designs import Codes, compared, golden_results
from tests.cosim.diagnosis.faulty_designs import ST, T


def row(vector: int, got: int, expected: int, place: str = "") -> ComparedRow:
    codes = {"a": (0,), "b": (0,), "c": 0, "scale_a": None, "scale_b": None, "got": got, "expected": expected}
    about = {"vector": vector, "place": place, "products": "", "stimulus_class": "bits", "cycle": vector, "time": 0.0}
    return read(ComparedRow, {**about, **codes, "ports": {}})


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


@pytest.mark.attack("diagnoses of wrong designs")
def test_shift_of_some_results_is_no_latency() -> None:
    rows = [row(n, 7 * (n - (n % 3 == 0)), 7 * n) for n in range(1, 100)]
    wrong, right = [each for each in rows if each.vector % 3 == 0], [each for each in rows if each.vector % 3]
    found = shift_of(wrong, right)
    assert found is not None
    assert found.text(latency=3) == (
        "each wrong result equals the one expected a vector earlier (33 of 33 mismatches); 65 others sampled are right"
    )


@pytest.mark.attack("diagnoses of wrong designs")
def test_shift_of_one_element_is_a_shift() -> None:
    late = [row(n, 7 * n - 7, 7 * n, "d[1]") for n in range(1, 100)]
    assert shift_of(late, [row(n, 5 * n, 5 * n, "d[0]") for n in range(1, 100)]) == Shift(1, 98, 98)


@pytest.mark.attack("diagnoses of wrong designs")
def test_no_latency_below_zero_is_named() -> None:
    found = shift_of([row(n, 7 * n + 14, 7 * n) for n in range(100)], [])
    assert found is not None
    assert "latency" not in found.text(latency=1)


ORDERS = {
    "the rows and columns of d are exchanged": lambda i, j: (j, i),
    "the elements of d are in reverse order": lambda i, j: (1 - i, 1 - j),
    "the elements of d are rotated by one": lambda i, j: divmod((2 * i + j + 1) % 4, 2),
    "the elements of d are rotated by one the other way": lambda i, j: divmod((2 * i + j + 3) % 4, 2),
    "neighbours of d are exchanged": lambda i, j: (i, 1 - j),
}


def elements(order: object) -> list[ComparedRow]:
    """Results of 2 by 2 elements in another order."""
    assert callable(order)
    value = {(n, i, j): 1000 * n + 10 * i + j for n in range(20) for i in range(2) for j in range(2)}
    return [row(n, value[n, *order(i, j)], value[n, i, j], f"d[{i}][{j}]") for n, i, j in value]


@pytest.mark.parametrize("words", ORDERS)
@pytest.mark.attack("diagnoses of wrong designs")
def test_order_of_elements_is_named(words: str) -> None:
    rows = elements(ORDERS[words])
    wrong = [each for each in rows if each.got != each.expected]
    known = f"it explains {len(wrong)} of {len(wrong)} mismatches whose other element is known"
    assert moved(wrong, [each for each in rows if each.got == each.expected]) == f"{words}: {known}"


def test_wrong_elements_are_no_order() -> None:
    rows = elements(lambda i, j: (j, i))
    assert moved([replace(each, got=each.expected + 1) for each in rows], []) is None
    wrong = [each for each in rows if each.got != each.expected]
    right = [replace(each, got=each.expected) for each in rows if each.vector > 10]
    assert moved([each for each in wrong if each.vector <= 10], right) is None


LATE = {
    "c is that of 1 vector before": (("c",), 1),
    "a is that of 1 vector after": (("a",), -1),
    "b is that of 2 vectors before": (("b",), 2),
    "scale_b is that of 1 vector before": (("scale_b",), 1),
    "a and b are those of 3 vectors before": (("a", "b"), 3),
}


@pytest.mark.parametrize("words", LATE)
@pytest.mark.attack("diagnoses of wrong designs")
def test_operand_of_another_vector_is_named(words: str) -> None:
    names, by = LATE[words]

    def design(operands: object, expected: Codes) -> Codes:
        late = {name: np.roll(getattr(operands, name), by, axis=0) for name in names}
        return golden_results(ST, operands._replace(**late))  # type: ignore[attr-defined]

    wrong, right = compared(ST, design, 400)
    found = late_operand(Unit(name="st", operation=ST), wrong, right)
    assert found is not None
    assert found.startswith(f"{words} (")
    assert shift_of(wrong, right) is None


@pytest.mark.attack("diagnoses of wrong designs")
def test_other_faults_are_no_operand_of_another_vector() -> None:
    for design in (
        lambda _, d: d ^ 1,
        lambda o, d: golden_results(T, o._replace(c=o.c * 0)),
        lambda _, d: np.roll(d, 1) ^ 1,
    ):
        assert late_operand(Unit(name="t", operation=T), *compared(T, design, 400)) is None
