"""The operands of workloads, in rounds: each row an independent draw that follows from the seed alone."""

import zlib
from collections.abc import Iterator

import numpy as np

from golden.formats import IntegerFormat
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from mmau.explore.accuracy.exact_codes import Codes, Floats, quantised, rounded, value_of
from mmau.explore.accuracy.exact_sums import exact_results
from mmau.explore.accuracy.workload import DISTRIBUTIONS, OF_CLASSES, Workload

ROUND_ELEMENTS = 1 << 18
"""Elements of A that are drawn at once."""

ROUND_ROWS = 1 << 14
"""Rows that are drawn at once, at most."""

OUTLIER_SHARE, OUTLIER_DEVIATION = 0.001, 10.0
"""Of `outliers`: N(0, 100) has a deviation of 10."""

CORRECTING = 2
"""Number of last products of an ill-conditioned row that bring its sum nearer to the requested one, if it has that many."""


def rounds(workload: Workload, shape: OperandShape, rows: int, seed: int) -> Iterator[Operands]:
    """The rows of a workload, in order. The first rows of a longer run are those of a shorter one, but for its last round.

    Raises:
        ValueError: formats that the workload does not have.
    """
    size = round_rows(shape.K)
    for number, start in enumerate(range(0, rows, size)):
        label = zlib.crc32(workload.draws.encode())
        rng = np.random.default_rng(np.random.SeedSequence([seed, label, number]))
        yield _drawn(workload, shape, rng, min(size, rows - start))


def round_rows(K: int) -> int:
    """Rows of one round."""
    return min(ROUND_ROWS, max(1, ROUND_ELEMENTS // K))


def _drawn(workload: Workload, shape: OperandShape, rng: np.random.Generator, rows: int) -> Operands:
    if workload.kind in OF_CLASSES:
        return CLASSES[OF_CLASSES[workload.kind]](shape, GeneratorDraws(rng), rows, ())
    if workload.condition is not None:
        return _ill_conditioned(shape, rng, rows, workload.condition)
    distribution = workload.kind if workload.kind in DISTRIBUTIONS else "normal"
    a, b = (_numbers(distribution, rng, (rows, shape.K)) for _ in "ab")
    c = np.zeros(rows) if workload.kind == "chain" else _numbers(distribution, rng, (rows,))
    return _as_operands(shape, a, b, rounded(c, shape.c))


def _numbers(distribution: str, rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Real numbers as doubles."""
    if distribution == "uniform":
        return rng.uniform(-1, 1, size)
    numbers = rng.standard_normal(size)
    if distribution == "outliers":
        places = np.flatnonzero(rng.random(size) < OUTLIER_SHARE)
        numbers.reshape(-1)[places] += OUTLIER_DEVIATION * rng.standard_normal(len(places))
    return numbers


def _as_operands(shape: OperandShape, a: Floats, b: Floats, c: Codes) -> Operands:
    """Numbers rounded to the shape's formats, scaled by blocks where it has scales."""
    if shape.scale is None or shape.block_size is None:
        return Operands(rounded(a, shape.a), rounded(b, shape.b), c, None, None)
    (a_codes, scale_a), (b_codes, scale_b) = (
        quantised(x, operand, shape.scale, shape.block_size) for x, operand in ((a, shape.a), (b, shape.b))
    )
    return Operands(a_codes, b_codes, c, scale_a, scale_b)


def _ill_conditioned(shape: OperandShape, rng: np.random.Generator, rows: int, condition: float) -> Operands:
    """Rows whose sum is about their magnitude over the condition number, as near as the formats come.

    Products of normal numbers; c takes away their sum but for that much; the last products, which start as zeros, take away
    what the rounding of c left.
    """
    if isinstance(shape.a, IntegerFormat):
        raise ValueError("ill-conditioned sums are for floating-point operands; integers are added exactly")
    a, b = (_numbers("normal", rng, (rows, shape.K)) for _ in "ab")
    correcting = min(CORRECTING, shape.K - 1)
    late = slice(shape.K - correcting, shape.K)
    start = _as_operands(shape, a, b, rounded(np.zeros(rows), shape.c))
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
