"""Every vector that MMA-Sim computed (tests/data), by the catalogue's models: 326 instructions, 0 differences."""

from collections import Counter

import pytest

from tests.data.load import Case, vector_sets
from tests.golden.differences import differing_rows, first_difference

ROWS = 96


def test_index_holds_326_instructions_of_ten_architectures() -> None:
    found = Counter(entry.arch for entry in vector_sets())
    assert found == {
        "sm_70": 3, "sm_75": 5, "sm_80": 9, "sm_89": 25, "sm_90": 24, "sm_100": 92, "sm_120": 104,
        "gfx908": 15, "gfx90a": 22, "gfx942": 27,
    }  # fmt: skip
    assert found.total() == 326


@pytest.mark.slow
@pytest.mark.parametrize("vectors", vector_sets(), ids=str)
def test_model_equals_vectors(vectors: Case) -> None:
    instruction = vectors.instruction
    expected = vectors.expected()
    got = instruction.dot(*vectors.operands(), engine="reference")
    rows = differing_rows(got, expected, vectors.any_nan)
    assert len(expected) == ROWS
    assert rows.size == 0, first_difference(rows, got, expected, instruction.d.describe)


def test_any_nan_is_accepted_exactly_where_the_model_leaves_it_open() -> None:
    for vectors in vector_sets():
        operation = vectors.instruction.operation
        # the emulator writes one NaN where fp64 of an H100 keeps one of the operands' (test_h100.py)
        kept = getattr(operation, "nan", None) == "b-c-a"
        assert (operation.nan_is_fixed() and not kept) is not vectors.any_nan, str(vectors)
