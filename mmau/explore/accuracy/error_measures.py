"""Measures one unit over one workload: its errors, and how often it agrees with instructions of named GPUs."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import BitArray, bits_dtype
from golden.chains.chain import ChainTable
from golden.checks import check_least
from golden.comparison import is_nan
from golden.engines.engine import Batch
from golden.operations import Operation
from golden.products.gemm_order import GemmOrder
from golden.products.tiled import check_products, dots_in_order
from golden.stimulus import Operands, OperandShape, Row
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from mmau.analysis.adverse_rows import Arithmetic, gapped_rows, stimulus_rows
from mmau.analysis.error_bound import Bounded, searched, shares
from mmau.analysis.monotonicity import asymmetry, fall, pairs, random_cases, staircases
from mmau.explore.accuracy.dataset import (
    DataSet,
    check_conditioned,
    data_set,
    products_of_file,
    products_of_tensors,
    rows_of,
)
from mmau.explore.accuracy.exact_sums import (
    FINITE,
    INFINITE,
    MINUS_INFINITY,
    NAN,
    NOT_A_NUMBER,
    PLUS_INFINITY,
    Codes,
    Exact,
    Floats,
    Ints,
    exact_results,
    parts,
)
from mmau.explore.accuracy.modes import in_modes, modes_of
from mmau.explore.accuracy.workload import PROPERTIES, Workload, check_workload
from mmau.explore.network import workload as network
from mmau.explore.network.product_arithmetic import Product

BLOCK = 1 << 16
"""Rows whose errors are computed at once."""

CONFIDENCE = 0.95

LEAST_ROWS = 1000
"""Fewest rows for which an interval is reported."""

_LINEAR = [n / 8 for n in range(-16, 17)]
_OCTAVES = [2.0**n for n in range(2, 17)]

EDGES: tuple[float, ...] = (*(-edge for edge in reversed(_OCTAVES)), *_LINEAR, *_OCTAVES)
"""Lower edges of the bins of errors (ulps): eighths from −2 to 2, then octaves. The first bin holds all below, too, and the
last one all above."""


class Errors:
    """Errors of many rows, gathered in blocks, against what is to be reached: the exact results, or those of real numbers.

    Attributes:
        ulps: value − exact of the finite rows, in ulps of the exact result.
        scaled: value − exact in ulps of the row's magnitude, |c| + Σ |a_k·b_k|, where no cancellation makes them large.
        outward: `scaled` times the sign of the exact result: below zero where |value| is too small.
        relative: |value − exact| / |exact|; unbounded where the exact result is zero and the value is not.
        condition: the row's magnitude over |exact|.
    """

    def __init__(self, result: Format, rows: int) -> None:
        self.result = result
        self.rows = rows
        self.mismatches = 0
        self._exact_rows = 0
        self._ulps: list[Floats] = []
        self._scaled: list[Floats] = []
        self._outward: list[Floats] = []
        self._relative: list[Floats] = []
        self._condition: list[Floats] = []
        self._signal: list[tuple[Floats, int]] = []
        self._noise: list[tuple[Floats, int]] = []

    def add(self, d: Codes, exact: Exact, gain: Floats | None = None) -> None:
        """The errors of some rows' codes; `gain`: the factor by which each row's result counts."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # fp64: errors beyond what doubles hold
            got = parts(self.result, d)
            finite = (exact.special == 0) & (got.kind == FINITE)
            self.mismatches += int(np.count_nonzero(~finite & ~self._agrees(got.kind, got.negative, exact)))
            wanted = exact.rows(finite)
            value = np.ldexp(got.sig[finite].astype(np.float64), got.exp[finite] - wanted.lead)
            self._add((value - wanted.hi) - wanted.lo, wanted, gain if gain is None else gain[finite])

    def add_exact(self, reached: Exact, wanted: Exact, gain: Floats | None = None) -> None:
        """The errors of exact results against those of other numbers."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            finite = (wanted.special == 0) & (reached.special == 0)
            reached, wanted = reached.rows(finite), wanted.rows(finite)
            shift = reached.lead - wanted.lead
            error = (np.ldexp(reached.hi, shift) - wanted.hi) + (np.ldexp(reached.lo, shift) - wanted.lo)
            self._add(error, wanted, gain if gain is None else gain[finite])

    def _add(self, error: Floats, wanted: Exact, gain: Floats | None) -> None:
        hi, lo, lead = wanted.hi, wanted.lo, wanted.lead
        lowest = self.result.e_min
        self._exact_rows += int(np.count_nonzero(error == 0))
        self._ulps.append(np.ldexp(error, lead - self._ulp(np.where(hi == 0, lowest, lead))))
        of_magnitude = np.where(wanted.magnitude == 0, lowest, wanted.magnitude_lead)
        scaled = np.ldexp(error, lead - self._ulp(of_magnitude))
        self._scaled.append(scaled)
        self._outward.append(scaled * np.sign(hi))
        self._relative.append(np.where(error == 0, 0.0, np.abs(error) / np.abs(hi + lo)))
        magnitude = np.ldexp(wanted.magnitude, wanted.magnitude_lead - lead)
        self._condition.append(np.where(magnitude == 0, 1.0, magnitude / np.abs(hi)))
        signal, noise = (hi, error) if gain is None else (hi * gain, error * gain)
        self._signal.append(_squares(signal, lead))
        self._noise.append(_squares(noise, lead))

    def _ulp(self, lead: Ints | npt.NDArray[np.int32]) -> Ints:
        """Exponent of the last place of numbers with that leading bit."""
        if isinstance(self.result, IntegerFormat):
            return np.zeros(lead.shape, np.int64)
        return np.clip(lead.astype(np.int64), self.result.e_min, self.result.e_max) - self.result.man_bits

    def _agrees(self, kind: npt.NDArray[np.uint8], negative: npt.NDArray[np.bool_], exact: Exact) -> npt.NDArray[np.bool_]:
        """Whether a special result is the one that the operands demand, or the infinity of a sum beyond the range."""
        nan = (exact.special == NOT_A_NUMBER) & (kind == NAN)
        infinite = np.where(negative, MINUS_INFINITY, PLUS_INFINITY) == exact.special
        beyond = (exact.special == 0) & self._is_beyond(exact) & ((exact.hi < 0) == negative)
        return np.asarray(nan | ((kind == INFINITE) & (infinite | beyond)))

    def _is_beyond(self, exact: Exact) -> npt.NDArray[np.bool_]:
        """Whether exact results are larger than the largest finite number."""
        if isinstance(self.result, IntegerFormat):
            return np.zeros(exact.hi.shape, bool)
        _, exp, sig, _ = self.result.decode(self.result.max_finite)
        largest = math.ldexp(sig, -self.result.man_bits)
        hi, lo = np.abs(exact.hi), np.abs(exact.lo)
        return np.asarray((exact.lead > exp) | ((exact.lead == exp) & ((hi > largest) | ((hi == largest) & (lo > 0)))))

    def measures(self) -> dict[str, Any]:
        """Plain JSON: numbers, and null for measures without a row."""
        ulps, relative = _joined(self._ulps), _joined(self._relative)
        bounded = relative[np.isfinite(relative)]
        return {
            "rows": self.rows,
            "finite_rows": len(ulps),
            "special_mismatch": self.mismatches,
            "exact_rows": self._exact_rows,
            "relative_error": {**_summary(bounded), "unbounded": len(relative) - len(bounded)},
            "ulp": {**_summary(np.abs(ulps)), "histogram": histogram(ulps)},
            "bias": bias(_joined(self._scaled)),
            "magnitude_bias": bias(_joined(self._outward)),
            "condition_median": _summary(_joined(self._condition))["median"],
        }

    def snr(self) -> float | None:
        """10·log10 of the sum of exact² over that of (value − exact)²; None without an error."""
        (signal, top), (noise, low) = _squared(self._signal), _squared(self._noise)
        if not signal.any() or not noise.any():
            return None
        return _json(10 * (math.log10(math.fsum(signal) / math.fsum(noise)) + 2 * (top - low) * math.log10(2)))

    def snr_standard_error(self) -> float | None:
        """The standard error of `snr` (dB); None without an error.

        Rows are independent draws. The logarithm of a ratio of two sums varies as the sum of what each row adds to it: its
        share of one sum less that of the other.
        """
        signal, noise = (_squared(sums)[0] for sums in (self._signal, self._noise))
        if not signal.any() or not noise.any():
            return None
        shares = noise / math.fsum(noise) - signal / math.fsum(signal)
        return _json(10 / math.log(10) * math.sqrt(math.fsum(shares**2)))


def _squares(values: Floats, lead: npt.NDArray[np.int32]) -> tuple[Floats, int]:
    """The squares of values · 2**lead, each from 0 to 1, and the exponent of their unit's root."""
    top = int((np.frexp(values)[1] + lead)[values != 0].max(initial=-(1 << 20)))
    return np.ldexp(values, lead - top) ** 2, top


def _squared(blocks: list[tuple[Floats, int]]) -> tuple[Floats, int]:
    """All squares, in one unit, and the exponent of its root."""
    top = max((top for _, top in blocks), default=0)
    return _joined([np.ldexp(each, 2 * (of_each - top)) for each, of_each in blocks]), top


def _joined(blocks: list[Floats]) -> Floats:
    return np.concatenate(blocks) if blocks else np.empty(0)


def _summary(values: Floats) -> dict[str, float | None]:
    """Mean, median, 99th percentile and largest of numbers; both quantiles are numbers of the sample."""
    if not len(values):
        return dict.fromkeys(("mean", "median", "p99", "max"))
    places = [_rank(share, len(values)) for share in (0.5, 0.99)]
    ordered = np.partition(values, places)
    numbers = (float(values.mean()), *(float(ordered[place]) for place in places), float(values.max()))
    return dict(zip(("mean", "median", "p99", "max"), map(_json, numbers), strict=True))


def _rank(share: float, count: int) -> int:
    """Index of the smallest number that at least that share of the sample does not exceed."""
    return max(0, math.ceil(share * count) - 1)


def histogram(ulps: Floats) -> list[list[float | int]]:
    """[lower edge, count] of each bin of `EDGES`."""
    bins = np.clip(np.searchsorted(EDGES, ulps, side="right") - 1, 0, None)
    counts = np.bincount(bins, minlength=len(EDGES))
    return [[edge, int(count)] for edge, count in zip(EDGES, counts, strict=True)]


def bias(scaled: Floats) -> dict[str, float | None]:
    """The mean error and its confidence interval, in ulps of the rows' magnitudes.

    Rows are independent draws, and errors in these units are bounded by a few units for each term, so that the mean of many
    is normally distributed: mean ± z·s/√n, z the normal quantile. No interval from fewer than `LEAST_ROWS` rows.
    """
    if not len(scaled):
        return dict.fromkeys(("mean_ulp", "low95", "high95"))
    mean = float(scaled.mean())
    if len(scaled) < LEAST_ROWS:
        return {"mean_ulp": _json(mean), "low95": None, "high95": None}
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * float(scaled.std(ddof=1)) / math.sqrt(len(scaled))
    return {"mean_ulp": _json(mean), "low95": _json(mean - half), "high95": _json(mean + half)}


def _json(value: float) -> float | None:
    """A number that JSON has; fp64's results can err by more than doubles hold."""
    return value if math.isfinite(value) else None


ROWS = 100
"""Rows of the stimulus for each search."""

STEPS = 200
"""Rows that the search for the worst error tries beyond those it starts from."""

GAPS = range(40)
"""Exponents by which products lie below c in the rows that are built to lose much."""


def properties(unit: Unit, seed: int) -> dict[str, Any]:
    """`worst`, `monotonicity` and `symmetry`, as plain JSON; null for integers, which are added exactly.

    Of a unit whose chain adds outside of its steps, they are those of its step.
    """
    arithmetic = arithmetic_of(unit)
    if unit.operation.structure.is_integer:
        return dict.fromkeys(("worst", "monotonicity", "symmetry"))
    return {
        "worst": worst(arithmetic, seed),
        "monotonicity": monotonicity(arithmetic, seed),
        "symmetry": symmetry(arithmetic, seed),
    }


def arithmetic_of(unit: Unit) -> Arithmetic:
    """The arithmetic to search: the unit over its usual K."""
    chain = unit.chain_over(unit.usual_K)
    if unit.chain != ChainTable() and chain.fp16_order is None:
        return arithmetic_of(unit.step)
    return Arithmetic(name=unit.name, chain=chain, a=unit.a, b=unit.b, K=unit.usual_K)


def worst(arithmetic: Arithmetic, seed: int) -> dict[str, Any]:
    """The row whose error is closest to its bound: error and bound in ulps of d's format at the row's magnitude."""
    bounded = Bounded(arithmetic)
    start = shares(bounded, [*stimulus_rows(arithmetic, ROWS, seed), *gapped_rows(arithmetic, GAPS)])
    share, row = searched(bounded, start, STEPS, seed)
    errors = bounded.error(row)
    assert errors is not None
    ulp = ulp_of(arithmetic.d, magnitude_lead(arithmetic, row))
    error, bound = (float(value / ulp) for value in errors)
    codes = {"a": list(row.a), "b": list(row.b), "c": row.c, "scale_a": list(row.scale_a), "scale_b": list(row.scale_b)}
    return {"ulp": error, "bound_ulp": bound, "share": float(share), "rows": len(start) + STEPS, "row": codes}


def magnitude_lead(arithmetic: Arithmetic, row: Row) -> int:
    """Exponent of the leading bit of |c| + Σ |α·β·a_k·b_k|."""
    shape = arithmetic.shape
    columns = ((row.a, shape.a), (row.b, shape.b), (row.c, shape.c), (row.scale_a, shape.scale), (row.scale_b, shape.scale))
    operands = Operands(*(None if f is None else np.array([codes], bits_dtype(f)) for codes, f in columns))  # type: ignore[arg-type]
    exact = exact_results(shape, operands)
    return int(exact.magnitude_lead[0]) if exact.magnitude[0] else arithmetic.d.e_min


def ulp_of(result: Format, lead: int) -> Fraction:
    """The unit in the last place of numbers with that leading bit."""
    return power_of_two(min(max(lead, result.e_min), result.e_max) - result.man_bits)


def monotonicity(arithmetic: Arithmetic, seed: int) -> dict[str, int]:
    """Number of cases in which the result decreases although one operand increases."""
    cases = [*staircases(arithmetic), *random_cases(arithmetic, ROWS, seed)]
    return {"violations": sum(fall(arithmetic, row, place) is not None for row, place in cases), "of": len(cases)}


def symmetry(arithmetic: Arithmetic, seed: int) -> dict[str, int]:
    """The number of rows tried, and the number of those in which −A and −C do not give −D."""
    rows = [*pairs(arithmetic), *gapped_rows(arithmetic, GAPS), *stimulus_rows(arithmetic, ROWS, seed)]
    return {"violations": sum(asymmetry(arithmetic, row) is not None for row in rows), "of": len(rows)}


def measure(
    unit: Unit,
    workload: str | Mapping[str, Any],
    rows: int,
    seed: int,
    references: Sequence[str] = (),
    folder: Path | None = None,
    instruction: str | None = None,
) -> dict[str, Any]:
    """Errors of a unit's results, as plain JSON (docs/guides/explore-accuracy.md defines each measure). Of a unit whose
    `[controls]` choose among modes, the worst of each measure over all modes, and under `modes` those of each.

    Args:
        workload: a name or a table, as `check_workload` takes it.
        rows: dot products; chains have fewer, depending on their length; from a file at most this number is read.
        seed: from 0 on; the same seed gives the same operands to every unit of the same formats and K.
        references: instructions ARCH:NAME, with which the results are compared bit by bit.
        instruction: the instruction ARCH:NAME to compute with instead of the unit that represents it: it takes k products
            at a time, by which orders count, too, where a unit takes those of a step.
        folder: the cache of operands and exact results for other points and processes; None for this process alone.

    Raises:
        ValueError, TypeError: a wrong workload, rows, seed or reference, or a K that the unit does not take.
        OSError: a file that cannot be read or written.
    """
    checked = check_workload(workload)
    check_least("seed", seed, 0)
    for name in references:
        reference(name)
    named = None if instruction is None else reference(instruction)
    if unit.controls:
        return in_modes(unit, lambda mode: measure(mode, workload, rows, seed, references, folder))
    if checked.kind == PROPERTIES:
        return properties(unit, seed)
    if checked.network is not None:
        return network.measure(named or unit, checked.network, seed)
    shape = OperandShape.of(unit, products(unit, checked))
    data = data_set(checked, shape, rows_of(checked, shape.K, rows), seed, folder)
    order = checked.order
    if named is not None:
        d = results(named, data.operands, order)
    else:
        d = unit.dot(*data.operands) if order is None else dots_in_order(unit, Batch(*data.operands), order)
    return {**measured(unit, d, data), "agreement": agreement(unit, d, data, references, order)}


def check_measurable(unit: Unit, workload: Workload, rows: int) -> None:
    """Raise ValueError where `measure` could not measure a unit on a workload; files are not looked at.

    Args:
        rows: as of `measure`.
    """
    if unit.controls:
        for mode in modes_of(unit).values():
            check_measurable(mode, workload, rows)
        return
    if workload.kind == PROPERTIES or workload.path is not None or workload.tensors is not None:
        return
    if workload.network is not None:
        Product(unit, workload.network.promote_every, workload.network.split_k)
        return
    if workload.condition is not None:
        check_conditioned(OperandShape.of(unit))
    rows_of(workload, products(unit, workload), rows)


def products(unit: Unit, workload: Workload) -> int:
    """K of a workload's rows: the workload's own, or that of the unit's step.

    Raises:
        ValueError: a K that the unit does not take.
    """
    K = products_of_file(workload.path) if workload.path is not None else workload.K
    if workload.tensors is not None:
        K = products_of_tensors(workload.tensors)
    if K is None:
        return unit.usual_K
    try:
        unit.chain_over(K)
        if workload.order is not None:
            workload.order.check(unit)
            check_products(unit, K)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"workload {workload.name} has rows of {K} products, which {unit.name} does not take: {error}"
        ) from error
    return K


def measured(unit: Unit, d: BitArray, data: DataSet) -> dict[str, Any]:
    """The measures of results over the rows of a data set: against the exact sum of the operands, and, where these were
    made of real numbers, against the exact sum of those."""
    arithmetic, quantisation = (Errors(unit.operation.d, data.rows) for _ in range(2))
    total = arithmetic if data.ideal is None else Errors(unit.operation.d, data.rows)
    for start in range(0, data.rows, BLOCK):
        block = slice(start, start + BLOCK)
        gain = None if data.gain is None else data.gain[block]
        exact = data.exact.rows(block)
        arithmetic.add(d[block], exact, gain)
        ideal = exact
        if data.ideal is not None:
            ideal = data.ideal.rows(block)
            total.add(d[block], ideal, gain)
        quantisation.add_exact(exact, ideal, gain)
    named = {"total": total, "quantisation": quantisation, "arithmetic": arithmetic}
    found = arithmetic.measures() | {f"{name}_snr_db": errors.snr() for name, errors in named.items()}
    found["snr_standard_error_db"] = {name: errors.snr_standard_error() for name, errors in named.items()}
    for name in ("total", "quantisation"):
        of_reals = named[name].measures()
        del of_reals["ulp"]["histogram"]
        found[name] = {key: of_reals[key] for key in OF_REALS}
    return found


OF_REALS = ("relative_error", "ulp", "bias", "magnitude_bias")
"""The measures that are also given against the sum of real numbers."""


def reference(name: str) -> Instruction:
    """The instruction of a name ARCH:NAME.

    Raises:
        ValueError: another text, or no such instruction; the message suggests near spellings.
    """
    arch, colon, instruction = str(name).partition(":")
    if not colon:
        raise ValueError(f"a reference must be ARCH:NAME, as sm_90:mma.m16n8k16.f32.f16.f16.f32; got {name!r}")
    return golden.instruction(arch, instruction)


def agreement(
    unit: Unit, d: BitArray, data: DataSet, references: Sequence[str], order: GemmOrder | None = None
) -> dict[str, float | None]:
    """The share of rows in which each instruction gives d; None for one with other formats.

    Args:
        order: the order of the steps along K; None for one after the other.

    A NaN agrees with any NaN where one of the two arithmetics leaves its encoding open.
    """
    found: dict[str, float | None] = {}
    for name in references:
        instruction = reference(name)
        if not _takes(instruction, unit):
            found[name] = None
            continue
        key = f"{name} {order}"
        if key not in data.results:
            data.results[key] = results(instruction, data.operands, order)
        same = ~differing(d, data.results[key], (unit.operation, instruction.operation))
        found[name] = float(np.count_nonzero(same)) / len(d)
    return found


def _takes(instruction: Instruction, unit: Unit) -> bool:
    """Whether an instruction takes the operands of a unit, and gives its format."""
    o, p = instruction.operation, unit.operation
    formats = (instruction.a, instruction.b, o.c, o.d, o.scale_format, o.block_size)
    return formats == (unit.a, unit.b, p.c, p.d, p.scale_format, p.block_size)


def differing(got: BitArray, expected: BitArray, operations: tuple[Operation, Operation]) -> npt.NDArray[np.bool_]:
    """Where results differ; NaN is compared as in `agreement`."""
    differs = np.asarray(got != expected)
    if operations[0].d.infinity is None or all(operation.nan_is_fixed() for operation in operations):
        return differs
    return np.asarray(differs & ~(is_nan(got, operations[0].d) & is_nan(expected, operations[0].d)))


def results(instruction: Instruction, operands: Operands, order: GemmOrder | None = None) -> BitArray:
    """d of each row as the instruction computes it in a matrix product: K is padded to a multiple of its k with zeros, and
    each k products take the d of the previous k as their c, unless `order` is given (golden.gemm)."""
    return dots_in_order(instruction, Batch(*_padded(instruction, operands)), order or GemmOrder())


def _padded(instruction: Instruction, operands: Operands) -> Operands:
    K = operands.a.shape[1]
    missing = -K % instruction.k
    if not missing:
        return operands
    a, b = (np.pad(x, ((0, 0), (0, missing))) for x in (operands.a, operands.b))
    scale_a, scale_b = operands.scale_a, operands.scale_b
    if instruction.scale is not None and instruction.block_size is not None and scale_a is not None and scale_b is not None:
        lacking = (K + missing) // instruction.block_size - scale_a.shape[1]
        one = instruction.scale.encode(1)
        scale_a, scale_b = (np.pad(x, ((0, 0), (0, lacking)), constant_values=one) for x in (scale_a, scale_b))
    return Operands(a, b, operands.c, scale_a, scale_b)
