"""The test data of this folder: dot products computed by MMA-Sim, recordings of GPUs, and recordings of an x86 processor.

README.md says who made each file, when and how, and what its arrays are; SHA256SUMS holds their digests.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FOLDER = Path(__file__).resolve().parent
VECTORS_FILE = FOLDER / "mma_sim_2_1_1.npz"
SILICON_FILE = FOLDER / "matlab_tensor_core.npz"
X86_FILES = (FOLDER / "x86_xeon.npz", FOLDER / "x86_epyc.npz")

Bits = npt.NDArray[np.unsignedinteger[Any]]


class VectorSet(NamedTuple):
    """The vectors of one instruction: its entry in the index, and its number there."""

    number: int
    arch: str
    name: str
    classes: tuple[str, ...]

    @property
    def any_nan(self) -> bool:
        """Whether any NaN equals any NaN (FP64 and AMD, by the README of the data)."""
        return self.arch.startswith("gfx") or ".f64." in self.name

    def operands(self) -> tuple[Bits, Bits, Bits, Bits | None, Bits | None]:
        """a, b [rows, K], c [rows], scale_a, scale_b [rows, K/K_block] or None."""
        a, b, c = (_array(VECTORS_FILE, f"{self.number}_{key}") for key in ("a", "b", "c"))
        scales = [f"{self.number}_{key}" for key in ("sa", "sb")]
        if scales[0] not in _arrays(VECTORS_FILE):
            return a, b, c, None, None
        return a, b, c, _array(VECTORS_FILE, scales[0]), _array(VECTORS_FILE, scales[1])

    def expected(self) -> Bits:
        """d [rows]."""
        return _array(VECTORS_FILE, f"{self.number}_d")

    def __str__(self) -> str:
        return f"{self.arch}:{self.name}"


class Recording(NamedTuple):
    """One recording of a GPU: its entry in the index."""

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
        return _array(SILICON_FILE, f"{self.data}_{key}")

    def __str__(self) -> str:
        return f"{self.device}:{self.d}.{self.a}.{self.b}.{self.c}"


class X86Recording(NamedTuple):
    """One recording of an x86 processor: its file, its entry in the index, and its number there."""

    file: Path
    number: int
    instruction: str
    K: int
    rows: int
    names: tuple[str, ...]

    def array(self, key: str) -> Bits:
        """a, b [rows, K]; c, d [rows]."""
        return _array(self.file, f"{self.number}_{key}")

    def labels(self) -> npt.NDArray[np.uint8] | None:
        """Which of `names` made each row; None where one class made all of them."""
        key = f"{self.number}_label"
        return _array(self.file, key).astype(np.uint8) if key in _arrays(self.file) else None

    def __str__(self) -> str:
        rows = "flush" if self.names == ("flush",) else "all"
        return f"{self.file.stem}-{self.instruction}-K{self.K}-{rows}"


def vector_sets() -> list[VectorSet]:
    """Every entry of the vectors' index."""
    entries = index(VECTORS_FILE)
    return [VectorSet(i, e["arch"], e["name"], tuple(e["classes"])) for i, e in enumerate(entries)]


def recordings() -> list[Recording]:
    """Every entry of the GPU recordings' index; identical files share their data."""
    keys = ("device", "arch", "a", "b", "c", "d", "k", "rows")
    entries = index(SILICON_FILE)
    return [Recording(**{key: e[key] for key in keys}, data=e.get("same_data_as", i)) for i, e in enumerate(entries)]


def x86_recordings() -> list[X86Recording]:
    """Every entry of the x86 recordings' indexes."""
    return [
        X86Recording(file, i, e["instruction"], e["K"], e["rows"], tuple(e["names"]))
        for file in X86_FILES
        for i, e in enumerate(index(file))
    ]


def index(path: Path) -> list[dict[str, Any]]:
    """The list that the array `index` holds as JSON."""
    entries: list[dict[str, Any]] = json.loads(bytes(_array(path, "index")))
    return entries


@cache
def _arrays(path: Path) -> Any:
    return np.load(path, allow_pickle=False)


@cache
def _array(path: Path, key: str) -> Bits:
    found: Bits = _arrays(path)[key]
    found.flags.writeable = False
    return found
