"""Units of a sparse b: what metadata select, beside the twin; masks; and what both refuse."""

import tomllib
from typing import Any

import numpy as np
import pytest

from golden import Unit
from golden.stimulus import Operands, OperandShape, generate
from golden.units.selection import PAIRS_OF_FOUR, pair
from golden.units.unit_file import unit_from_table, unit_to_toml
from tests.twin import twin

KINDS: dict[str, dict[str, Any]] = {
    "T": {"operation": "T-FDPA", "L": 4, "F": 13, "rho": "RZ-E8M13", "e_zero": -133, "a": "e4m3", "b": "e5m2", "c": "fp32"},
    "E": {"operation": "E-FDPA", "L": 2, "rho": "RNE-FP16", "a": "fp16", "b": "fp16", "c": "fp16"},
    "TR": {"operation": "TR-FDPA", "L": 8, "F": 24, "F2": 31, "a": "fp16", "b": "fp16", "c": "fp32"},
    "IDPA": {"operation": "IDPA", "L": 6, "a": "int8", "b": "uint8", "c": "int32", "overflow": "saturate"},
}
BOTH = {"meta_i": {"key": "metadata"}, "mask_i": {"key": "mask"}}


def unit(kind: str = "T", **changed: Any) -> Unit:
    return unit_from_table({"name": "u", **KINDS[kind], "controls": {"meta_i": {"key": "metadata"}}} | changed)


def rows_of(u: Unit, count: int, steps: int = 1) -> tuple[Operands, Any, Any]:
    """Rows of the stimulus, whose b is the selected elements; metadata; and a b of twice the elements, by a loop."""
    rng = np.random.default_rng(1)
    rows = generate(OperandShape.of_operation(u.operation, steps * u.operation.length), count, 3).operands
    codes = rng.choice(np.array(list(PAIRS_OF_FOUR), np.uint8), (count, rows.b.shape[1] // 2))
    longer = rng.choice(rows.b.reshape(-1), (count, 2 * rows.b.shape[1]))
    for row in range(count):
        for group, code in enumerate(codes[row].tolist()):
            for k, place in enumerate((code & 3, code >> 2)):
                longer[row, 4 * group + place] = rows.b[row, 2 * group + k]
    return rows, codes, longer


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_the_twins(kind: str, steps: int) -> None:
    """In both engines, of one step and of a chain; other metadata give other results."""
    u = unit(kind)
    rows, codes, longer = rows_of(u, 200, steps)
    of_rows = zip(rows.a.tolist(), rows.b.tolist(), rows.c.tolist(), strict=True)
    expected = [twin.dot(u.operation, a, b, c) for a, b, c in of_rows]
    for engine in ("native", "reference"):
        got = u.dot(rows.a, longer, rows.c, engine=engine, metadata=codes).tolist()
        assert all(map(twin.same, [u.operation] * len(got), got, expected))
        other = u.dot(rows.a, longer, rows.c, engine=engine, metadata=np.roll(codes, 1, 0)).tolist()
        assert not all(map(twin.same, [u.operation] * len(other), other, expected))


def test_masked_products_are_zeros() -> None:
    u = unit(controls=BOTH)
    rows, codes, longer = rows_of(u, 300)
    mask = np.random.default_rng(2).integers(0, 2, rows.a.shape)
    idle = (np.where(mask, each, 0).tolist() for each in (rows.a, rows.b))
    expected = [twin.dot(u.operation, a, b, c) for a, b, c in zip(*idle, rows.c.tolist(), strict=True)]
    got = u.dot(rows.a, longer, rows.c, metadata=codes, mask=mask).tolist()
    assert all(map(twin.same, [u.operation] * len(got), got, expected))
    assert got != u.dot(rows.a, longer, rows.c, metadata=codes, mask=mask ^ 1).tolist()


def test_pairs_are_the_selections_of_instructions() -> None:
    """Of the other codes each half stays within the places that it can have."""
    assert {code: pair(code) for code in PAIRS_OF_FOUR} == PAIRS_OF_FOUR
    assert all(first in (code & 3, 2) and second in (code >> 2, 1) for code in range(16) for first, second in [pair(code)])


def test_floats_give_floats_and_a_trace_has_the_selected_elements() -> None:
    u = unit("E")
    a, b = np.array([2, 3], np.float16), np.array([1, 10, 100, 1000], np.float16)
    assert u.dot(a, b, np.float16(0), metadata=np.array([0xD])) == 2 * 10 + 3 * 1000
    assert u.dot(a, b, metadata=np.array([0x8])).dtype == np.float16
    trace = u.explain(a, b, np.float16(0), metadata=np.array([0xD]))
    assert str(trace) == str(unit("E", controls={}).explain(a, b[1::2].copy(), np.float16(0)))
    both = unit("E", controls=BOTH)
    assert both.dot(a, b, metadata=np.array([0xD]), mask=np.array([0, 1])) == 3000
    assert unit_from_table(tomllib.loads(unit_to_toml(both))) == both


A, B, CODES = np.ones((5, 4), np.uint8), np.ones((5, 8), np.uint8), np.full((5, 2), 4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"metadata": None}, "metadata is missing: u takes metadata for each row"),
        ({"metadata": CODES + 1}, "metadata of u must be one of 4, 8, 9, 12, 13, 14, got 5"),
        ({"metadata": CODES[:, :1]}, "metadata must have shape (5, 2) (one for every 4 elements of b of u), got (5, 1)"),
        ({"b": A}, "b must have shape (5, 8) (twice the k of u), got (5, 4)"),
        ({"a": A[:, :3]}, "K of u must be even, as metadata select two of four elements, got 3"),
        ({"mask": A}, "mask must be left out: u has no mask in [controls]"),
        ({"random": A[:, 0]}, "random must be left out: u has no random bits in [controls]"),
        ({"metadata": CODES.astype(float)}, "metadata of u must be an array of integers, got float64"),
    ],
)
def test_what_is_no_selection_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as error:
        unit().dot(**{"a": A, "b": B, "metadata": CODES, **given})
    assert str(error.value) == message


def test_masks_of_other_numbers_are_refused() -> None:
    u = unit(controls={"mask_i": {"key": "mask"}})
    for mask, message in (
        (A + 1, "mask of u must hold 0 and 1, got 2"), (A * 0.5, "mask of u must be an array of integers, got float64"),
        (A[:, :2], "mask must have shape (5, 4) (one bit for each product), got (5, 2)"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError)) as error:
            u.dot(A, A, mask=mask)
        assert str(error.value) == message


@pytest.mark.parametrize(
    ("changed", "got"),
    [
        ({"L": 3}, "T-FDPA with L = 3, scale = None"),
        ({"operation": "MUL", **dict.fromkeys("ab", "fp16"), "remove": True}, "MUL with L = 1, scale = None"),
        ({"operation": "ST-FDPA", "K_block": 4, "scale": "ue8m0"}, "ST-FDPA with L = 4, scale = ue8m0"),
    ],
)
def test_units_that_select_nothing_are_refused(changed: dict[str, Any], got: str) -> None:
    table = {"name": "u", **KINDS["T"], "controls": {"meta_i": {"key": "metadata"}}, **changed}
    if table.pop("remove", False):
        table = {key: value for key, value in table.items() if key in ("name", "operation", "a", "b", "controls")}
    with pytest.raises(ValueError, match=r"^u: \[controls\] meta_i selects two of each four elements of b") as error:
        unit_from_table(table)
    assert str(error.value).endswith(f"got {got}")


def test_products_of_matrices_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^u has \[controls\] meta_i: dot and explain take metadata, products of matrices do"
    ):
        unit().chain_over(4)
