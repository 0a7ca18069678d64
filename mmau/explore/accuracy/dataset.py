"""Operands of a workload with their exact results: made once for formats, K, workload, rows and seed, and cached by content.

The points of a space share them. The most recent ones stay in memory; a folder has all of them for other processes and later
runs.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import FP64, Format, IntegerFormat
from golden.arrays import BitArray, to_bits
from golden.checks import check_int
from golden.files import write_atomically
from golden.recordings.npz import npz_bytes, read_npz
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from golden.stimulus.shape import fitted
from golden.units.own_formats import table_of
from mmau.explore.accuracy.exact_sums import Codes, Exact, Floats, exact_results, value_of
from mmau.explore.accuracy.quantise import PLAIN, Quantiser, before_rounding, blocked, factors, rounded
from mmau.explore.accuracy.tensor_files import Tensor
from mmau.explore.accuracy.workload import DISTRIBUTIONS, MADE_LONG, OF_CLASSES, Workload
from mmau.jobs.provenance import digest_of_sources

MAX_ROWS = 10_000_000
"""Most rows of a workload."""

MAX_PRODUCTS = 1 << 28
"""Most products of all rows together: their operands take up to 8 bytes a product in memory."""

CHAIN_PRODUCTS = 16
"""A chain gets fewer rows: as many as give the number of products that `rows` dot products of this length have."""

LEAST_CHAINS = 1000
"""Fewest rows of a chain, unless fewer are requested."""

MEMORY = 1 << 29
"""Bytes of data sets that stay in memory."""

SOURCES = ("mmau/explore/accuracy/*.py", "golden/stimulus/**/*.py", "golden/arithmetic/format*.py")
"""The sources that determine operands and exact results."""


@dataclass
class DataSet:
    """Rows of a workload, [rows, …] each.

    Attributes:
        shape: formats and number of products. exact: the exact results of the operands.
        ideal: the exact results of the real numbers that were quantised, divided by their factors; None where operands
            were not made of real numbers.
        gain: the product of a row's factors, by which its results count; None where there are none.
        results: results of other units and instructions for these rows, by name.
    """

    shape: OperandShape
    operands: Operands
    exact: Exact
    ideal: Exact | None = None
    gain: Floats | None = None
    results: dict[str, BitArray] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows of the data set."""
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
    if workload.kind in MADE_LONG:
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


def _said(value: object) -> object:
    """A part of a shape for JSON; of a format its fields, as units may have others of its name."""
    return [value.name, table_of(value)] if isinstance(value, Format) else str(value)


def _key(workload: Workload, shape: OperandShape, rows: int, seed: int, operands: Operands | None = None) -> str:
    """SHA-256 of everything that determines a data set."""
    content = {
        "workload": workload.draws,
        "share": workload.share,
        "quantise": str(workload.quantise),
        "tensors": [workload.sha256 or _sizes(workload), *(each.name for each in workload.tensors or ())],
        "shape": {f.name: _said(getattr(shape, f.name)) for f in fields(shape)},
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


def _sizes(workload: Workload) -> list[str]:
    """What tells the files of tensors from others, where their digests are not known."""
    return [f"{each.path} {each.path.stat().st_mtime_ns} {each.path.stat().st_size}" for each in workload.tensors or ()]


_memory: dict[str, DataSet] = {}


def _remembered(key: str, make: Any) -> DataSet:
    """A data set from memory, from which the least recently used ones are dropped first."""
    found = _memory.pop(key, None)
    made: DataSet = make() if found is None else found
    _memory[key] = made
    while len(_memory) > 1 and sum(one.size for one in _memory.values()) > MEMORY:
        del _memory[next(iter(_memory))]
    return made


class Drawn(NamedTuple):
    """Rows of a workload as they are drawn.

    Attributes:
        reals: the numbers that a, b and c were rounded from, as fp64; None where codes were drawn.
        gain: the product of the factors by which each row's numbers were divided; None where they were not.
    """

    operands: Operands
    reals: Operands | None = None
    gain: Floats | None = None


def _made(shape: OperandShape, rows: int, parts: Iterable[Drawn]) -> DataSet:
    """The data set of all parts, `rows` rows together; exact results are computed part by part."""
    columns: dict[str, npt.NDArray[Any]] = {}
    start = 0
    for part in parts:
        ideal = None if part.reals is None else exact_results(_of_reals(shape), part.reals)
        made = _arrays(DataSet(shape, part.operands, exact_results(shape, part.operands), ideal, part.gain))
        for name, array in made.items():
            column = columns.setdefault(name, np.empty((rows, *array.shape[1:]), array.dtype))
            column[start : start + len(array)] = array
        start += len(part.operands.c)
    return _of_arrays(shape, columns)


def _of_reals(shape: OperandShape) -> OperandShape:
    """The shape of the same sum of real numbers."""
    return replace(shape, a=FP64, b=FP64, c=FP64, scale=None, block_size=None)


def _rounds_of(operands: Operands, K: int) -> Iterator[Drawn]:
    """Operands in parts of as many rows as are drawn at once."""
    size = round_rows(K)
    for start in range(0, len(operands.c), size):
        yield Drawn(operands.rows(slice(start, start + size)))


def _cached(path: Path, workload: Workload, shape: OperandShape, rows: int, seed: int) -> DataSet:
    """A data set from its file; made, and the file written, where there is none or it is damaged."""
    names = [*Operands._fields[:3], *(f.name for f in fields(Exact))]
    try:
        arrays = read_npz(path, names, (*Operands._fields[3:], *_IDEAL, "gain"))
    except (FileNotFoundError, ValueError):
        made = _made(shape, rows, rounds(workload, shape, rows, seed))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, npz_bytes(_arrays(made)))
        return made
    return _of_arrays(shape, arrays)


def _of_arrays(shape: OperandShape, arrays: Mapping[str, Any]) -> DataSet:
    operands = Operands(*(arrays.get(name) for name in Operands._fields))  # type: ignore[arg-type]
    ideal = Exact(*(arrays[name] for name in _IDEAL)) if _IDEAL[0] in arrays else None
    return DataSet(shape, operands, Exact(*(arrays[f.name] for f in fields(Exact))), ideal, arrays.get("gain"))


def _arrays(data: DataSet) -> dict[str, Any]:
    """The arrays of a data set, by name."""
    of_operands = {name: array for name, array in zip(Operands._fields, data.operands, strict=True) if array is not None}
    found = of_operands | {f.name: getattr(data.exact, f.name) for f in fields(Exact)}
    if data.ideal is not None:
        found |= {name: getattr(data.ideal, f.name) for name, f in zip(_IDEAL, fields(Exact), strict=True)}
    return found if data.gain is None else found | {"gain": data.gain}


_IDEAL = [f"ideal_{f.name}" for f in fields(Exact)]
"""Names of the arrays of `DataSet.ideal`."""


ROUND_ELEMENTS = 1 << 18
"""Elements of A that are drawn at once."""

ROUND_ROWS = 1 << 14
"""Rows that are drawn at once, at most."""

OUTLIER_DEVIATION = 10.0
"""The standard deviation of N(0, 100), which the distribution `outliers` adds to a share of its numbers."""

CORRECTING = 2
"""Number of last products of an ill-conditioned row that bring its sum nearer to the requested one, if it has that many."""


def rounds(workload: Workload, shape: OperandShape, rows: int, seed: int) -> Iterator[Drawn]:
    """The rows of a workload, in order. The first rows of a longer run are those of a shorter one, but for its last round.

    Raises:
        ValueError: formats that the workload does not have.
    """
    size, pairs = round_rows(shape.K), _Pairs(workload.tensors, shape, workload.quantise) if workload.tensors else None
    for number, start in enumerate(range(0, rows, size)):
        label = zlib.crc32(workload.draws.encode())
        rng = np.random.default_rng(np.random.SeedSequence([seed, label, number]))
        count = min(size, rows - start)
        yield _drawn(workload, shape, rng, count) if pairs is None else pairs.drawn(rng, count)


def round_rows(K: int) -> int:
    """Rows of one round."""
    return min(ROUND_ROWS, max(1, ROUND_ELEMENTS // K))


def _drawn(workload: Workload, shape: OperandShape, rng: np.random.Generator, rows: int) -> Drawn:
    if workload.kind in OF_CLASSES:
        name = OF_CLASSES[workload.kind]
        return Drawn(fitted(shape, CLASSES[name](shape, GeneratorDraws(rng), rows, ()), as_products=name != "bits"))
    if workload.condition is not None:
        return Drawn(_ill_conditioned(shape, rng, rows, workload.condition))
    distribution = workload.kind if workload.kind in DISTRIBUTIONS else "normal"
    a, b = (_numbers(distribution, rng, (rows, shape.K), workload.share) for _ in "ab")
    c = np.zeros(rows) if workload.kind == "chain" else _numbers(distribution, rng, (rows,), workload.share)
    return _quantised(shape, a, b, c, workload.quantise, rng)


def _quantised(
    shape: OperandShape, a: Floats, b: Floats, c: Floats, how: Quantiser, rng: np.random.Generator | None = None
) -> Drawn:
    """Real numbers as operands of a shape: a, b [rows, K] and c [rows]."""
    a, b, c = before_rounding(a, shape.a), before_rounding(b, shape.b), before_rounding(c, shape.c)
    of_a, of_b = (factors(x, f, shape.scale, shape.block_size, how) for x, f in ((a, shape.a), (b, shape.b)))
    return _divided(shape, (a, b, c), (of_a, of_b), how, rng)


class _Pairs:
    """Rows of two tensors A [M, K] and B [N, K], one of each drawn for every dot product; c is +0."""

    def __init__(self, tensors: tuple[Tensor, Tensor], shape: OperandShape, how: Quantiser) -> None:
        self._shape, self._how = shape, how
        self._a, self._b = (before_rounding(each.rows(), f) for each, f in zip(tensors, (shape.a, shape.b), strict=True))
        self._of_a, self._of_b = (
            factors(x, f, shape.scale, shape.block_size, how) for x, f in ((self._a, shape.a), (self._b, shape.b))
        )

    def drawn(self, rng: np.random.Generator, rows: int) -> Drawn:
        m, n = (rng.integers(0, len(each), rows) for each in (self._a, self._b))
        numbers = self._a[m], self._b[n], np.zeros(rows)
        return _divided(self._shape, numbers, (self._of_a[m], self._of_b[n]), self._how, rng)


def _divided(
    shape: OperandShape,
    numbers: tuple[Floats, Floats, Floats],
    by: tuple[Floats, Floats],
    how: Quantiser,
    rng: np.random.Generator | None,
) -> Drawn:
    """Numbers a, b [rows, K] and c [rows] divided by the factors of a and b, [rows, 1], and rounded."""
    (a, b, c), (of_a, of_b) = numbers, by
    if shape.adds:  # both terms have the same unit
        of_a = of_b = np.maximum(of_a, of_b)
    gain = (of_a if shape.adds else of_a * of_b)[:, 0]
    a, b, c = a / of_a, b / of_b, c / gain
    operands = fitted(shape, _as_operands(shape, a, b, rounded(c, shape.c), how, rng), as_products=False)
    read = (a, b if shape.has_b else np.zeros_like(b), c if shape.has_c else np.zeros_like(c))
    reals = Operands(*(np.ascontiguousarray(x).view(np.uint64) for x in read))
    return Drawn(operands, reals, None if how.scale_per is None else gain)


def _numbers(distribution: str, rng: np.random.Generator, size: tuple[int, ...], share: float = 0.0) -> Floats:
    """Real numbers as doubles; `share` of those of `outliers` are enlarged."""
    if distribution == "uniform":
        return rng.uniform(-1, 1, size)
    numbers = rng.standard_normal(size)
    if distribution == "outliers":
        places = np.flatnonzero(rng.random(size) < share)
        numbers.reshape(-1)[places] += OUTLIER_DEVIATION * rng.standard_normal(len(places))
    return numbers


def _as_operands(
    shape: OperandShape, a: Floats, b: Floats, c: Codes, how: Quantiser, rng: np.random.Generator | None = None
) -> Operands:
    """Numbers rounded to the shape's formats, scaled by blocks where it has scales."""
    if shape.scale is None or shape.block_size is None:
        x, y = (rounded(values, f, how.rounding, rng) for values, f in ((a, shape.a), (b, shape.b)))
        return Operands(x, y, c, None, None)
    (a_codes, scale_a), (b_codes, scale_b) = (
        blocked(x, operand, shape.scale, shape.block_size, how, rng) for x, operand in ((a, shape.a), (b, shape.b))
    )
    return Operands(a_codes, b_codes, c, scale_a, scale_b)


def check_conditioned(shape: OperandShape) -> None:
    """Raise ValueError where no sum of a shape is ill-conditioned."""
    if isinstance(shape.a, IntegerFormat):
        raise ValueError("ill-conditioned sums are for floating-point operands; integers are added exactly")
    if not shape.has_c and not (shape.adds and shape.has_b):
        one = "product without c" if shape.has_b else "conversion"
        raise ValueError(f"ill-conditioned sums take two terms; a {one} is one")


def _ill_conditioned(
    shape: OperandShape, rng: np.random.Generator, rows: int, condition: float, of_ones: bool = False
) -> Operands:
    """Rows whose sum is about their magnitude over the condition number, as near as the formats come.

    Products of normal numbers; c takes away their sum but for that much; the last products, which start as zeros, take away
    what the rounding of c left. Where elements are added, b takes away a but for that much.
    """
    check_conditioned(shape)
    if shape.adds:
        of_products = _ill_conditioned(replace(shape, has_c=True, adds=False), rng, rows, condition, of_ones=True)
        return fitted(shape, of_products, as_products=True)
    a, b = (_numbers("normal", rng, (rows, shape.K)) for _ in "ab")
    if of_ones:
        b = np.ones_like(b)
    correcting = min(CORRECTING, shape.K - 1)
    late = slice(shape.K - correcting, shape.K)
    start = _as_operands(shape, a, b, rounded(np.zeros(rows), shape.c), PLAIN)
    b_codes = start.b.copy()
    b_codes[:, late] = 0
    products = exact_results(shape, start._replace(b=b_codes))
    total, magnitude = np.ldexp(products.hi, products.lead), np.ldexp(products.magnitude, products.magnitude_lead)
    # c doubles the magnitude of what it takes away.
    wanted = np.where(rng.random(rows) < 0.5, 1, -1) * (magnitude + np.abs(total)) / condition
    c = rounded(wanted - total, shape.c)
    rest = (total + value_of(shape.c, c)) + np.ldexp(products.lo, products.lead) - wanted
    for k in range(shape.K - correcting, shape.K):
        factor = value_of(shape.a, start.a[:, k]) * _scale_at(shape, start, k)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(factor == 0, 0.0, -rest / factor)
        b_codes[:, k] = rounded(best, shape.b)
        rest = rest + factor * value_of(shape.b, b_codes[:, k])
    return start._replace(b=b_codes, c=c)


def _scale_at(shape: OperandShape, operands: Operands, k: int) -> Floats | float:
    """α·β of product k."""
    if shape.scale is None or shape.block_size is None or operands.scale_a is None or operands.scale_b is None:
        return 1.0
    block = k // shape.block_size
    return value_of(shape.scale, operands.scale_a[:, block]) * value_of(shape.scale, operands.scale_b[:, block])


def products_of_tensors(tensors: tuple[Tensor, Tensor]) -> int:
    """K of the rows of two tensors: the last axis of both.

    Raises:
        ValueError, OSError: as `Tensor.rows`, and where K differs.
    """
    a, b = (each.rows().shape[1] for each in tensors)
    if a != b:
        raise ValueError(f"tensors must have the same last axis, K; {tensors[0].name} has {a}, {tensors[1].name} has {b}")
    return int(a)


def products_of_file(path: Path) -> int:
    """K of the rows in a file: the last axis of `a`.

    Raises:
        ValueError, OSError: as `operands_of_file`.
    """
    a = read_npz(path, ("a", "b", "c"))["a"]
    if a.ndim != 2 or not a.size:
        raise ValueError(f"{path}: a must have shape [rows, K] with at least one row and product, got {a.shape}")
    return int(a.shape[1])


def operands_of_file(path: Path, shape: OperandShape, rows: int) -> Operands:
    """The first rows of a file, as bit patterns; nothing is unpickled.

    Args:
        shape: formats and K that they must have. rows: how many at most.

    Raises:
        ValueError: no readable .npz file, an array that is missing, of a wrong shape or dtype, or with codes that the
            format lacks. OSError: the file cannot be read.
    """
    scaled = ("scale_a", "scale_b") if shape.scale is not None else ()
    arrays = read_npz(path, ("a", "b", "c", *scaled))
    formats = {"a": shape.a, "b": shape.b, "c": shape.c, "scale_a": shape.scale, "scale_b": shape.scale}
    count = len(arrays["c"]) if arrays["c"].ndim == 1 else 0
    wanted = {"a": (count, shape.K), "b": (count, shape.K), "c": (count,)}
    wanted |= dict.fromkeys(scaled, (count, shape.blocks))
    found = {}
    for name, array in arrays.items():
        if array.shape != wanted[name] or not count:
            raise ValueError(
                f"{path}: {name} must have shape {wanted[name]}, [rows, K], [rows] and [rows, blocks] for a and b, c, and "
                f"scales; got {array.shape}"
            )
        operand = formats[name]
        assert operand is not None
        try:
            found[name] = to_bits(name, array[:rows], operand)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
    return Operands(found["a"], found["b"], found["c"], found.get("scale_a"), found.get("scale_b"))
