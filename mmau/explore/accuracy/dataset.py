"""Operands of a workload with their exact results: made once for formats, K, workload, rows and seed, and cached by content.

The points of a space share them. The most recent ones stay in memory; a folder has all of them for other processes and later
runs.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray
from golden.checks import check_int
from golden.files import write_atomically
from golden.npz import npz_bytes, read_npz
from golden.stimulus import Operands, OperandShape
from mmau.explore.accuracy.exact_sums import Exact, exact_results
from mmau.explore.accuracy.operands import round_rows, rounds
from mmau.explore.accuracy.user_file import operands_of_file
from mmau.explore.accuracy.workload import Workload
from mmau.jobs.provenance import digest_of_sources

MAX_ROWS = 10_000_000
"""Most rows of a workload."""

MAX_PRODUCTS = 1 << 28
"""Most products of all rows together: their operands take up to 8 bytes a product in memory."""

CHAIN_PRODUCTS = 16
"""A chain has as many rows as give the number of products of `rows` dot products of this length."""

LEAST_CHAINS = 1000
"""Fewest rows of a chain, unless fewer are requested."""

MEMORY = 1 << 29
"""Bytes of data sets that stay in memory."""

SOURCES = ("mmau/explore/accuracy/*.py", "golden/stimulus/**/*.py", "golden/format*.py", "golden/integer_format.py")
"""The sources that determine operands and exact results."""


@dataclass
class DataSet:
    """Rows of a workload, [rows, …] each.

    Attributes:
        shape: formats and number of products. exact: the exact results.
        results: of other units and instructions over these rows, by name.
    """

    shape: OperandShape
    operands: Operands
    exact: Exact
    results: dict[str, BitArray] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.operands.c)

    @property
    def size(self) -> int:
        """Size of all arrays (bytes)."""
        return sum(array.nbytes for array in _arrays(self).values())


def rows_of(workload: Workload, K: int, rows: int) -> int:
    """Number of rows of a workload if `rows` dot products are requested; chains have fewer, by their length.

    Raises:
        TypeError, ValueError: `rows` is no integer from 1 to `MAX_ROWS`, or gives more than `MAX_PRODUCTS` products.
    """
    check_int("rows", rows, 1, MAX_ROWS)
    if workload.path is not None:
        return rows
    if workload.kind == "chain":
        rows = min(rows, max(LEAST_CHAINS, rows * CHAIN_PRODUCTS // K))
    if rows * K > MAX_PRODUCTS:
        raise ValueError(f"rows of {K} products must be at most {MAX_PRODUCTS // K} of {workload.name}, got {rows}")
    return rows


def data_set(workload: Workload, shape: OperandShape, rows: int, seed: int, folder: Path | None = None) -> DataSet:
    """The rows of a workload, from memory, from the folder, or made now.

    Args:
        rows: number of rows; of a file, the largest number.
        folder: the cache of data sets shared by processes, None for no cache on disk.

    Raises:
        ValueError: formats that the workload does not have, or a file that does not fit them. OSError: a folder or a file
            that cannot be read or written.
    """
    if workload.path is not None:
        operands = operands_of_file(workload.path, shape, rows)
        key = _key(workload, shape, rows, seed, operands)
        return _remembered(key, lambda: _made(shape, len(operands.c), _rounds_of(operands, shape.K)))
    key = _key(workload, shape, rows, seed)
    if folder is None:
        return _remembered(key, lambda: _made(shape, rows, rounds(workload, shape, rows, seed)))
    return _remembered(key, lambda: _cached(folder / f"{key}.npz", workload, shape, rows, seed))


def _key(workload: Workload, shape: OperandShape, rows: int, seed: int, operands: Operands | None = None) -> str:
    """SHA-256 of everything that determines a data set."""
    content = {
        "workload": workload.draws,
        "shape": {f.name: str(getattr(shape, f.name)) for f in fields(shape)},
        "d_man_bits": shape.d.man_bits,
        "rows": rows,
        "seed": seed,
        "numpy": version("numpy"),
        "sources": digest_of_sources(SOURCES),
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for array in operands or ():
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


_memory: dict[str, DataSet] = {}


def _remembered(key: str, make: Any) -> DataSet:
    """A data set from memory, from which the least recently used ones are dropped first."""
    found = _memory.pop(key, None)
    made: DataSet = make() if found is None else found
    _memory[key] = made
    while len(_memory) > 1 and sum(one.size for one in _memory.values()) > MEMORY:
        del _memory[next(iter(_memory))]
    return made


def _made(shape: OperandShape, rows: int, parts: Iterable[Operands]) -> DataSet:
    """The data set of all parts, `rows` rows together; exact results are computed part by part."""
    columns: dict[str, npt.NDArray[Any]] = {}
    start = 0
    for part in parts:
        made = _arrays(DataSet(shape, part, exact_results(shape, part)))
        for name, array in made.items():
            column = columns.setdefault(name, np.empty((rows, *array.shape[1:]), array.dtype))
            column[start : start + len(array)] = array
        start += len(part.c)
    return _of_arrays(shape, columns)


def _rounds_of(operands: Operands, K: int) -> Iterator[Operands]:
    """Operands in parts of as many rows as are drawn at once."""
    size = round_rows(K)
    for start in range(0, len(operands.c), size):
        yield operands.rows(slice(start, start + size))


def _cached(path: Path, workload: Workload, shape: OperandShape, rows: int, seed: int) -> DataSet:
    """A data set from its file; made, and the file written, where there is none or it is damaged."""
    names = [*Operands._fields[:3], *(f.name for f in fields(Exact))]
    try:
        arrays = read_npz(path, names, Operands._fields[3:])
    except (FileNotFoundError, ValueError):
        made = _made(shape, rows, rounds(workload, shape, rows, seed))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, npz_bytes(_arrays(made)))
        return made
    return _of_arrays(shape, arrays)


def _of_arrays(shape: OperandShape, arrays: Mapping[str, Any]) -> DataSet:
    operands = Operands(*(arrays.get(name) for name in Operands._fields))  # type: ignore[arg-type]
    return DataSet(shape, operands, Exact(*(arrays[f.name] for f in fields(Exact))))


def _arrays(data: DataSet) -> dict[str, Any]:
    """The arrays of a data set, by name."""
    of_operands = {name: array for name, array in zip(Operands._fields, data.operands, strict=True) if array is not None}
    return of_operands | {f.name: getattr(data.exact, f.name) for f in fields(Exact)}
