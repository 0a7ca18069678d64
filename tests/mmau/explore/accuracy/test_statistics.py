"""The measures against plain ones, one row after the other in fractions; and the interval's coverage."""

import math
import statistics
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP16, FP32, FP64, INT8, INT32, UINT8, Format
from golden.stimulus import Operands, OperandShape
from golden.units.unit import Unit
from mmau.explore.accuracy.dataset import rounds
from mmau.explore.accuracy.error_measures import EDGES, Errors, bias, histogram, measure
from mmau.explore.accuracy.exact_sums import exact_results
from mmau.explore.accuracy.workload import check_workload
from tests.mmau.explore.accuracy.measured_units import UNITS, by_fractions
from tests.volume import one_in


def ulp(result: Format, value: Fraction) -> Fraction:
    """Of the binade of a number, by counting up."""
    if result.name in ("int8", "int32"):
        return Fraction(1)
    exp = result.e_min
    while exp < result.e_max and abs(value) >= power_of_two(exp + 1):
        exp += 1
    return power_of_two(exp - result.man_bits)


def plain(shape: OperandShape, operands: Operands, d: list[int]) -> dict[str, float | int]:
    """The measures, the plain way."""
    ulps, scaled, outward, relative, signal, noise, unbounded = [], [], [], [], Fraction(0), Fraction(0), 0
    for row, code in enumerate(d):
        got, wanted = shape.d.value(code), by_fractions(shape, operands, row)
        if wanted is None or got is None:
            continue
        error = got - wanted[0]
        ulps.append(error / ulp(shape.d, wanted[0]))
        scaled.append(error / ulp(shape.d, wanted[1]))
        outward.append(scaled[-1] * ((wanted[0] > 0) - (wanted[0] < 0)))
        if wanted[0]:
            relative.append(abs(error / wanted[0]))
        elif error:
            unbounded += 1
        else:
            relative.append(Fraction(0))
        signal, noise = signal + wanted[0] ** 2, noise + error**2
    ordered = sorted(relative)
    return {
        "finite_rows": len(ulps),
        "exact_rows": sum(not x for x in ulps),
        "relative_mean": float(sum(ordered) / len(ordered)),
        "relative_median": float(ordered[math.ceil(len(ordered) / 2) - 1]),
        "relative_p99": float(ordered[math.ceil(len(ordered) * 0.99) - 1]),
        "relative_max": float(ordered[-1]),
        "unbounded": unbounded,
        "ulp_mean": float(sum(map(abs, ulps)) / len(ulps)),
        "ulp_max": float(max(map(abs, ulps))),
        "bias": float(sum(scaled) / len(scaled)),
        "magnitude_bias": float(sum(outward) / len(outward)),
        "snr": min(MOST, decibels(signal / noise)) if signal and noise else MOST,
    }


MOST = 6000.0
"""Decibels up to which ratios are compared: fp64's errors can be smaller than what doubles can be of their results."""


def decibels(ratio: Fraction) -> float:
    return 10 * (math.log10(ratio.numerator) - math.log10(ratio.denominator))


def measured(shape: OperandShape, operands: Operands, d: list[int]) -> dict[str, float | int]:
    errors = Errors(shape.d, len(d))
    half = len(d) // 2
    for rows in (slice(0, half), slice(half, None)):
        part = operands.rows(rows)
        errors.add(np.array(d[rows], f"u{shape.d.storage_bits // 8}"), exact_results(shape, part))
    found = errors.measures()
    relative, of_ulp = found["relative_error"], found["ulp"]
    return {
        "finite_rows": found["finite_rows"],
        "exact_rows": found["exact_rows"],
        **{f"relative_{key}": relative[key] for key in ("mean", "median", "p99", "max")},
        "unbounded": relative["unbounded"],
        "ulp_mean": of_ulp["mean"],
        "ulp_max": of_ulp["max"],
        "bias": found["bias"]["mean_ulp"],
        "magnitude_bias": found["magnitude_bias"]["mean_ulp"],
        "snr": MOST if (snr := errors.snr()) is None else min(MOST, snr),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "name"),
    one_in(2, product(UNITS.values(), ["normal", "specials", "tiny"])),
    ids=lambda value: getattr(value, "name", value),
)
def test_measures_are_those_of_fractions(unit: Unit, name: str) -> None:
    shape = OperandShape.of(unit)
    operands = next(rounds(check_workload(name), shape, 60, 2)).operands
    d = unit.dot(*operands).tolist()
    wanted, found = plain(shape, operands, d), measured(shape, operands, d)
    assert unit.operation.d is shape.d
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "quantise"),
    [
        ("T-FDPA e4m3 e5m2", {}),
        ("E-FDPA e4m3ieee e4m3ieee", {"scale_per": "row", "rounding": "RU"}),
        ("GST-FDPA e2m1 e2m1", {"scale_per": "tensor", "scale_from": "mse"}),
        ("ADD fp16 fp16", {}),
        ("MUL fp64 fp64", {}),
        ("IDPA int8 uint8", {"scale_per": "tensor"}),
    ],
)
def test_errors_against_real_numbers_are_those_of_fractions(name: str, quantise: dict[str, str]) -> None:
    """Elements and scales decoded one by one, real numbers as fractions, each row's result times its factors."""
    unit = UNITS[name]
    shape = OperandShape.of(unit)
    workload = check_workload({"kind": "normal", "quantise": quantise})
    (drawn,) = rounds(workload, shape, 40, 3)
    assert drawn.reals is not None
    signal = noise = everything = lost = Fraction(0)
    for row, code in enumerate(unit.dot(*drawn.operands).tolist()):
        a, b, c = ([Fraction(float(x)) for x in np.atleast_1d(each[row].view(float))] for each in drawn.reals[:3])
        ideal = c[0] + (a[0] + b[0] if shape.adds else sum(x * y for x, y in zip(a, b, strict=True)))
        got, exact = shape.d.value(code), by_fractions(shape, drawn.operands, row)
        assert exact is not None
        gain = Fraction(1 if drawn.gain is None else float(drawn.gain[row]))
        if got is not None:  # beyond the range
            signal, noise = signal + (gain * ideal) ** 2, noise + (gain * (got - ideal)) ** 2
        everything += (gain * ideal) ** 2
        lost += (gain * (exact[0] - ideal)) ** 2
    found = measure(unit, {"kind": "normal", "quantise": quantise}, 40, 3)
    assert found["total_snr_db"] == pytest.approx(decibels(signal / noise), rel=1e-12)
    wanted = decibels(everything / lost) if lost else None
    assert found["quantisation_snr_db"] == (wanted if wanted is None else pytest.approx(wanted, rel=1e-12))
    assert (lost == 0) == (name == "MUL fp64 fp64")


SPECIAL = {"nan": 0x7FC00000, "inf": 0x7F800000, "-inf": 0xFF800000, "one": 0x3F800000, "most": FP32.max_finite}


@pytest.mark.parametrize(
    ("a", "b", "c", "d", "mismatch"),
    [
        ("inf", "one", "one", "inf", 0),
        ("inf", "one", "one", "-inf", 1),
        ("inf", "one", "one", "nan", 1),
        ("inf", "one", "one", "most", 1),
        ("nan", "one", "one", "nan", 0),
        ("nan", "one", "one", "inf", 1),
        ("nan", "one", "one", "one", 1),
        ("one", "one", "one", "inf", 1),
        ("one", "one", "one", "nan", 1),
        ("most", "most", "one", "inf", 0),
        ("most", "most", "one", "-inf", 1),
        ("most", "most", "one", "nan", 1),
        ("most", "most", "one", "most", 0),
        ("most", "one", "one", "inf", 0),  # beyond the largest number by 1
    ],
)
def test_special_results_are_those_that_the_operands_demand(a: str, b: str, c: str, d: str, mismatch: int) -> None:
    shape = OperandShape(a=FP32, b=FP32, c=FP32, d=FP32, K=1)
    codes = [np.array([SPECIAL[name]], np.uint32) for name in (a, b, c, d)]
    operands = Operands(codes[0][:, None], codes[1][:, None], codes[2], None, None)
    errors = Errors(FP32, 1)
    errors.add(codes[3], exact_results(shape, operands))
    found = errors.measures()
    assert found["special_mismatch"] == mismatch
    assert found["finite_rows"] == (1 if (a, d) == ("most", "most") else 0)


def test_without_finite_rows_there_are_no_numbers() -> None:
    errors = Errors(FP16, 0)
    found = errors.measures()
    assert found["relative_error"] == {"mean": None, "median": None, "p99": None, "max": None, "unbounded": 0}
    assert found["bias"] == {"mean_ulp": None, "low95": None, "high95": None}
    assert (errors.snr(), errors.snr_standard_error()) == (None, None)


def test_a_result_in_place_of_an_exact_zero_is_unbounded() -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=1)
    one = np.array([[0x3C00]], np.uint16)
    operands = Operands(one, one, np.array([0xBF800000], np.uint32), None, None)
    errors = Errors(FP32, 1)
    errors.add(np.array([1], np.uint32), exact_results(shape, operands))
    found = errors.measures()
    assert found["relative_error"]["unbounded"] == 1
    assert found["ulp"]["max"] == 1


def test_errors_beyond_doubles_are_no_numbers() -> None:
    """2^1023 where 2^−2000 is right: neither the relative error nor the one in ulps fits a double."""
    shape = OperandShape(a=FP64, b=FP64, c=FP64, d=FP64, K=1)
    small = np.array([FP64.encode(Fraction(1, 2**1000))], np.uint64)
    operands = Operands(small[:, None], small[:, None], np.zeros(1, np.uint64), None, None)
    errors = Errors(FP64, 1)
    errors.add(np.array([FP64.encode(2**1023)], np.uint64), exact_results(shape, operands))
    found = errors.measures()
    assert found["ulp"]["max"] is None
    assert found["relative_error"]["unbounded"] == 1


def test_histogram_counts_every_error_once() -> None:
    values = np.array([-1e9, -70000, -2.0, -1.9, -0.125, 0.0, 0.124, 0.125, 1.99, 2.0, 3.9, 4.0, 65536.0, 1e9, math.inf])
    found = histogram(values)
    assert sum(count for _, count in found) == len(values)
    for edge, above in zip(EDGES, (*EDGES[1:], math.inf), strict=True):
        wanted = int(((values >= edge) & (values < above)).sum()) + (edge == EDGES[0]) * int((values < edge).sum())
        wanted += (edge == EDGES[-1]) * int((values == math.inf).sum())
        assert [edge, wanted] in found


@pytest.mark.parametrize("name", ["normal", "skew", "rare"])
def test_interval_holds_the_mean_in_95_of_100_samples(name: str) -> None:
    """Of normal errors; of truncation's, all of one sign and skew; and of errors in one row of fifty alone."""
    rng, rows, trials = np.random.default_rng(7), 4000, 1500
    match name:
        case "normal":
            samples, mean = 0.3 + rng.standard_normal((trials, rows)), 0.3
        case "skew":
            samples, mean = -rng.exponential(0.5, (trials, rows)), -0.5
        case _:
            samples, mean = np.where(rng.random((trials, rows)) < 0.02, -1.0, 0.0), -0.02
    covered = 0
    for sample in samples:
        found = bias(sample)
        low, high = found["low95"], found["high95"]
        assert low is not None
        assert high is not None
        covered += low <= mean <= high
    assert 0.935 < covered / trials < 0.965


def test_quantiles_are_numbers_of_the_sample() -> None:
    errors = Errors(INT32, 5)
    shape = OperandShape(a=INT8, b=UINT8, c=INT32, d=INT32, K=1)
    zeros = np.zeros((5, 1), np.uint8)
    operands = Operands(zeros, zeros, np.zeros(5, np.uint32), None, None)
    errors.add(np.array([5, 1, 4, 2, 3], np.uint32), exact_results(shape, operands))
    found = errors.measures()["ulp"]
    assert (found["median"], found["p99"], found["max"], found["mean"]) == (3, 5, 5, statistics.mean(range(1, 6)))


@pytest.mark.slow
def test_standard_error_is_the_spread_of_ratios_over_samples() -> None:
    found = [measure(UNITS["T-FDPA e4m3 e5m2"], {"kind": "normal", "quantise": {}}, 400, seed) for seed in range(60)]
    stated = statistics.mean(each["snr_standard_error_db"]["total"] for each in found)
    assert 0.75 < stated / statistics.stdev(each["total_snr_db"] for each in found) < 1.3
