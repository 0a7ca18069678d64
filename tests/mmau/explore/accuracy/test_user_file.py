"""Operands that a user gives."""

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from golden.arithmetic.formats import E2M1, FP16, FP32, UE4M3
from golden.stimulus import OperandShape
from mmau.explore.accuracy import measure
from mmau.explore.accuracy.dataset import operands_of_file, products_of_file
from tests.mmau.explore.accuracy.measured_units import FP16 as UNIT

RNG = np.random.default_rng(3)

SHAPE = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=32)


def written(folder: Path, **arrays: Any) -> Path:
    """A file of 50 rows of 32 products, with some arrays others."""
    given: dict[str, Any] = {
        "a": RNG.standard_normal((50, 32)).astype(np.float16),
        "b": RNG.standard_normal((50, 32)).astype(np.float16),
        "c": np.zeros(50, np.float32),
    }
    path = folder / "v.npz"
    np.savez(path, **{name: array for name, array in (given | arrays).items() if array is not None})
    return path


def test_arrays_are_taken_by_their_bits(tmp_path: Path) -> None:
    path = written(tmp_path)
    with np.load(path) as stored:
        found = operands_of_file(path, SHAPE, 1000)
        assert np.array_equal(found.a, stored["a"].view(np.uint16))
        assert found.scale_a is None
    assert len(operands_of_file(path, SHAPE, 7).c) == 7
    assert products_of_file(path) == 32


def test_a_unit_is_measured_on_them(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = measure(UNIT, {"kind": "file", "path": str(path)}, 10**7, 0)
    assert found["rows"] == 50
    a, b = (np.load(path)[name].astype(np.float64) for name in "ab")
    assert found["arithmetic_snr_db"] is not None
    assert found["condition_median"] == pytest.approx(
        np.median(np.abs(a * b).sum(axis=1) / np.abs((a * b).sum(axis=1))), rel=0.2
    )


def test_another_file_of_the_same_name_is_another_workload(tmp_path: Path) -> None:
    table = {"kind": "file", "path": str(written(tmp_path))}
    first = measure(UNIT, table, 1000, 0)
    written(tmp_path)
    assert measure(UNIT, table, 1000, 0) != first


def test_scales_are_read_where_a_unit_has_them(tmp_path: Path) -> None:
    shape = OperandShape(a=E2M1, b=E2M1, c=FP32, d=FP32, K=32, scale=UE4M3, block_size=16)
    codes = RNG.integers(0, 16, (50, 32)).astype(np.uint8)
    scales = RNG.integers(0, 100, (50, 2)).astype(np.uint8)
    path = written(tmp_path, a=codes, b=codes, scale_a=scales, scale_b=scales)
    found = operands_of_file(path, shape, 50)
    assert found.scale_a is not None
    assert np.array_equal(found.scale_a, scales)
    with pytest.raises(ValueError, match="scale_a, scale_b not found"):
        operands_of_file(written(tmp_path, a=codes, b=codes), shape, 50)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"b": None}, "must hold the arrays a, b, c; b not found"),
        ({"c": np.zeros((50, 1), np.float32)}, "must have shape"),
        ({"c": np.zeros(0, np.float32)}, "must have shape"),
        ({"b": np.zeros((50, 31), np.float16)}, re.escape("b must have shape (50, 32), [rows, K]")),
        ({"a": np.zeros((50, 32))}, "a must have dtype uint16 or float16 for fp16, got float64"),
        ({"c": np.zeros(50, ml_dtypes.bfloat16).view(np.uint16)}, "c must have dtype uint32 or float32 for fp32"),
        ({"a": np.array([[None]])}, "holds Python objects, which are never loaded"),
    ],
)
def test_wrong_arrays_are_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    path = written(tmp_path, **arrays)
    with pytest.raises(ValueError, match=message):
        operands_of_file(path, SHAPE, 50)


def test_a_file_that_is_no_npz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"v\.npz is not a readable \.npz file"):
        measure(UNIT, {"kind": "file", "path": str(path)}, 10, 0)


def test_rows_that_a_unit_does_not_take_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, a=np.zeros((50, 24), np.float16), b=np.zeros((50, 24), np.float16))
    with pytest.raises(ValueError, match="workload file-v has rows of 24 products, which T-FDPA fp16 fp16 does not take"):
        measure(UNIT, {"kind": "file", "path": str(path)}, 10, 0)
    path = written(tmp_path, a=np.zeros(3, np.float16))
    with pytest.raises(ValueError, match=r"a must have shape \[rows, K\]"):
        measure(UNIT, {"kind": "file", "path": str(path)}, 10, 0)
