"""Operands and exact results, kept by content."""

from pathlib import Path

import numpy as np
import pytest

from golden.arithmetic.formats import BF16, FP16, FP32, format_from_fields
from golden.stimulus import OperandShape
from mmau.explore.accuracy import dataset
from mmau.explore.accuracy.dataset import LEAST_CHAINS, MAX_ROWS, DataSet, data_set, round_rows, rows_of
from mmau.explore.accuracy.exact_sums import exact_results
from mmau.explore.accuracy.workload import check_workload

SHAPE = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)

NORMAL = check_workload("normal")


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is in memory at the start."""
    monkeypatch.setattr(dataset, "_memory", {})


def forget() -> None:
    dataset._memory.clear()


def same(x: DataSet, y: DataSet) -> bool:
    a, b = dataset._arrays(x), dataset._arrays(y)
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)


def test_rounds_are_joined_with_their_exact_results() -> None:
    rows = round_rows(SHAPE.K) + 10
    data = data_set(NORMAL, SHAPE, rows, 0)
    assert data.rows == rows
    last = slice(rows - 10, None)
    assert np.array_equal(data.exact.hi[last], exact_results(SHAPE, data.operands.rows(last)).hi)


def test_a_folder_keeps_sets_for_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = data_set(NORMAL, SHAPE, 500, 0, tmp_path)
    forget()
    monkeypatch.setattr(dataset, "_made", None)
    assert same(data_set(NORMAL, SHAPE, 500, 0, tmp_path), made)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: str) -> None:
    made = data_set(NORMAL, SHAPE, 500, 0, tmp_path)
    (path,) = tmp_path.iterdir()
    content = bytearray(path.read_bytes())
    if damage == "changed":
        content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content[: {"cut": -30, "changed": None, "empty": 0}[damage]]))
    forget()
    assert same(data_set(NORMAL, SHAPE, 500, 0, tmp_path), made)
    assert path.stat().st_size == len(content)


def test_what_differs_is_another_set(tmp_path: Path) -> None:
    other = OperandShape(a=BF16, b=BF16, c=FP32, d=FP32, K=4)
    for shape, name, rows, seed in (
        (SHAPE, "normal", 50, 0),
        (other, "normal", 50, 0),
        (SHAPE, "uniform", 50, 0),
        (SHAPE, "normal", 51, 0),
        (SHAPE, "normal", 50, 1),
    ):
        data_set(check_workload(name), shape, rows, seed, tmp_path)
    assert len(list(tmp_path.iterdir())) == 5


def test_chains_have_rows_by_their_length() -> None:
    assert rows_of(NORMAL, 16, 10**6) == 10**6
    assert rows_of(check_workload("chain-4096"), 4096, 10**6) == 3906
    assert rows_of(check_workload("chain-16384"), 16384, 10**6) == LEAST_CHAINS
    assert rows_of(check_workload("chain-16384"), 16384, 10) == 10
    assert rows_of(check_workload("chain-4"), 4, 10**4) == 10**4
    for rows in (0, MAX_ROWS + 1):
        with pytest.raises(ValueError, match="rows must be an integer from 1 to"):
            rows_of(NORMAL, 16, rows)
    with pytest.raises(ValueError, match="rows of 64 products must be at most 4194304 of normal, got 5000000"):
        rows_of(NORMAL, 64, 5_000_000)


@pytest.mark.parametrize("on_disk", [False, True])
def test_own_formats_of_one_name_have_operands_of_their_own(tmp_path: Path, on_disk: bool) -> None:
    """As units have them whose fields are swept."""
    folder = tmp_path if on_disk else None
    shapes = []
    for man_bits in (2, 3):
        fields = {"exp_bits": 4, "man_bits": man_bits, "bias": 7, "specials": "fn"}
        x = format_from_fields("x", fields)
        shapes.append(OperandShape(a=x, b=x, c=FP32, d=FP32, K=4))
    narrow, wide = (data_set(NORMAL, shape, 100, 0, folder).operands.a for shape in shapes)
    assert narrow.max() < 1 << 7 <= wide.max()
