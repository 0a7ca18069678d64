"""Measures of results against exact ones: errors row by row in doubles, and statistics over many rows.

An error d − exact is computed from both parts of the exact result and rounded to a double: hi is the double nearest to the
exact result, so that d, a double too, does not lie nearer, and (d − hi) − lo is off by at most 2**−50 of itself.
"""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.formats import Format, IntegerFormat
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
    Parts,
    parts,
)

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
    """Errors of many rows, gathered in blocks.

    Attributes:
        ulps: d − exact of the finite rows, in ulps of the exact result.
        scaled: d − exact in ulps of the row's magnitude, |c| + Σ |a_k·b_k|, where no cancellation makes them large.
        outward: `scaled` times the sign of the exact result: below zero where |d| is too small.
        relative: |d − exact| / |exact|; unbounded where the exact result is zero and d is not.
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
        self._signal: list[tuple[float, int]] = []
        self._noise: list[tuple[float, int]] = []

    def add(self, d: Codes, exact: Exact) -> None:
        """The errors of some rows."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # fp64: errors beyond what doubles hold
            self._add(parts(self.result, d), exact)

    def _add(self, got: Parts, exact: Exact) -> None:
        finite = (exact.special == 0) & (got.kind == FINITE)
        self.mismatches += int(np.count_nonzero(~finite & ~self._agrees(got.kind, got.negative, exact)))
        hi, lo, lead = exact.hi[finite], exact.lo[finite], exact.lead[finite]
        value = np.ldexp(got.sig[finite].astype(np.float64), got.exp[finite] - lead)
        error = (value - hi) - lo
        lowest = self.result.e_min
        self._exact_rows += int(np.count_nonzero(error == 0))
        self._ulps.append(np.ldexp(error, lead - self._ulp(np.where(hi == 0, lowest, lead))))
        of_magnitude = np.where(exact.magnitude[finite] == 0, lowest, exact.magnitude_lead[finite])
        scaled = np.ldexp(error, lead - self._ulp(of_magnitude))
        self._scaled.append(scaled)
        self._outward.append(scaled * np.sign(hi))
        self._relative.append(np.where(error == 0, 0.0, np.abs(error) / np.abs(hi + lo)))
        magnitude = np.ldexp(exact.magnitude[finite], exact.magnitude_lead[finite] - lead)
        self._condition.append(np.where(magnitude == 0, 1.0, magnitude / np.abs(hi)))
        self._signal.append(_squares(hi, lead))
        self._noise.append(_squares(error, lead))

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
            "snr_db": self._snr(),
            "condition_median": _summary(_joined(self._condition))["median"],
        }

    def _snr(self) -> float | None:
        """10·log10 of the sum of exact² over that of (d − exact)²; None without an error."""
        signal, noise = _decibels(self._signal), _decibels(self._noise)
        return None if signal is None or noise is None else _json(signal - noise)


def _squares(values: Floats, lead: npt.NDArray[np.int32]) -> tuple[float, int]:
    """The sum of the squares of values · 2**lead, as a number from 0 to their count, and the exponent of its unit's root."""
    top = int((np.frexp(values)[1] + lead)[values != 0].max(initial=-(1 << 20)))
    return float(np.sum(np.ldexp(values, lead - top) ** 2)), top


def _decibels(sums: list[tuple[float, int]]) -> float | None:
    """10·log10 of all sums together; None of zero."""
    top = max((top for _, top in sums), default=0)
    total = math.fsum(math.ldexp(each, 2 * (of_each - top)) for each, of_each in sums)
    return 10 * (math.log10(total) + 2 * top * math.log10(2)) if total else None


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
