"""The shared vectors and recordings, read in place; where they are absent, tests that need them are skipped and say so."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
VECTORS_FILE = SHARED / "vectors" / "mma_sim_2_1_1.npz"
SILICON_FILE = SHARED / "silicon" / "matlab_tensor_core.npz"

FLOAT_OF_BITS = {"uint16": "float16", "uint32": "float32", "uint64": "float64"}
"""Results come as fp16, fp32 or fp64; this is how NumPy reads their bits."""

Bits = npt.NDArray[np.unsignedinteger[Any]]


class VectorSet(NamedTuple):
    """The vectors of one instruction: its entry in the index, and its number there."""

    number: int
    arch: str
    name: str
    classes: tuple[str, ...]

    @property
    def any_nan(self) -> bool:
        """Whether any NaN equals any NaN (FP64 and AMD, by the README of the vectors)."""
        return self.arch.startswith("gfx") or ".f64." in self.name

    def operands(self) -> tuple[Bits, Bits, Bits, Bits | None, Bits | None]:
        """a, b [rows, K], c [rows], scale_a, scale_b [rows, K/K_block] or None."""
        a, b, c, scale_a, scale_b = (_array(VECTORS_FILE, f"{self.number}_{key}") for key in ("a", "b", "c", "sa", "sb"))
        assert a is not None
        assert b is not None
        assert c is not None
        return a, b, c, scale_a, scale_b

    def expected(self) -> Bits:
        """d [rows]."""
        d = _array(VECTORS_FILE, f"{self.number}_d")
        assert d is not None
        return d

    def __str__(self) -> str:
        return f"{self.arch}:{self.name}"


class Recording(NamedTuple):
    """One recording of a device: its entry in the index."""

    device: str
    arch: str
    a: str
    b: str
    c: str
    d: str
    k: int
    rows: int
    data: int

    def array(self, key: str) -> Bits:
        """a, b [rows, k]; c, d [rows]."""
        found = _array(SILICON_FILE, f"{self.data}_{key}")
        assert found is not None
        return found

    def __str__(self) -> str:
        return f"{self.device}:{self.d}.{self.a}.{self.b}.{self.c}"


def vector_sets() -> list[VectorSet]:
    """Every entry of the vectors' index, empty where they are absent."""
    entries = _index(VECTORS_FILE)
    return [VectorSet(i, e["arch"], e["name"], tuple(e["classes"])) for i, e in enumerate(entries)]


def recordings() -> list[Recording]:
    """Every entry of the recordings' index, empty where they are absent; identical files share their data."""
    keys = ("device", "arch", "a", "b", "c", "d", "k", "rows")
    entries = _index(SILICON_FILE)
    return [Recording(**{key: e[key] for key in keys}, data=e.get("same_data_as", i)) for i, e in enumerate(entries)]


def each(items: list[Any], file: Path) -> list[Any]:
    """The items as test parameters, or one skipped parameter where the file is absent."""
    if not file.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"no shared data: {file.name}"), id="absent")]
    return [pytest.param(item, id=str(item)) for item in items]


needs_vectors = pytest.mark.skipif(not VECTORS_FILE.exists(), reason=f"no shared data: {VECTORS_FILE.name}")
needs_silicon = pytest.mark.skipif(not SILICON_FILE.exists(), reason=f"no shared data: {SILICON_FILE.name}")


def differing_rows(got: Bits, expected: Bits, any_nan: bool) -> npt.NDArray[np.intp]:
    """Rows whose bits differ; with `any_nan`, two NaNs of any encoding are equal."""
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    differs = got != expected
    if any_nan:
        as_float = FLOAT_OF_BITS[expected.dtype.name]
        differs &= ~(np.isnan(got.view(as_float)) & np.isnan(expected.view(as_float)))
    return np.flatnonzero(differs)


def first_difference(rows: npt.NDArray[np.intp], got: Bits, expected: Bits, describe: Callable[[int], str]) -> str:
    """A sentence for an assertion: how many rows differ, and the first of them, readable."""
    if not rows.size:
        return "no difference"
    row = int(rows[0])
    pair = f"got {describe(int(got[row]))}, expected {describe(int(expected[row]))}"
    return f"{rows.size} of {len(expected)} rows differ; row {row}: {pair}"


@cache
def _file(path: Path) -> Any:
    return np.load(path, allow_pickle=False)


def _array(path: Path, key: str) -> Bits | None:
    archive = _file(path)
    return archive[key] if key in archive.files else None


def _index(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    entries: list[dict[str, Any]] = json.loads(bytes(_file(path)["index"]))
    return entries
