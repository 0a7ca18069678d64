"""The operands of workloads: what they are drawn from, and that they follow from the seed."""

import numpy as np
import pytest

from golden.arithmetic.formats import BF16, E4M3, FP16, FP32, INT8, INT32
from golden.stimulus import CLASSES, Operands, OperandShape
from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table
from mmau.explore.accuracy import measure
from mmau.explore.accuracy.dataset import data_set, round_rows, rounds
from mmau.explore.accuracy.error_measures import check_measurable
from mmau.explore.accuracy.exact_sums import Exact, Floats, exact_results, value_of
from mmau.explore.accuracy.workload import check_workload
from tests.mmau.explore.accuracy.measured_units import UNITS

SHAPE = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=8)


def drawn(name: str, rows: int, shape: OperandShape = SHAPE, seed: int = 0) -> Operands:
    parts = [part.operands for part in rounds(check_workload(name), shape, rows, seed)]
    return Operands(*(None if column[0] is None else np.concatenate(column) for column in zip(*parts, strict=True)))  # type: ignore[arg-type]


def values(name: str, rows: int = 40_000) -> Floats:
    return value_of(FP16, drawn(name, rows).a)


def conditions(exact: Exact) -> Floats:
    nonzero = exact.hi != 0
    share = np.abs(exact.magnitude[nonzero] / exact.hi[nonzero])
    return np.ldexp(share, (exact.magnitude_lead - exact.lead)[nonzero])


@pytest.mark.parametrize("name", ["normal", "outliers", "cancel", "ill-conditioned-1e4", "chain-64"])
def test_rows_follow_from_the_seed_alone(name: str) -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=check_workload(name).K or 8)
    first, again, other = (drawn(name, 300, shape, seed) for seed in (3, 3, 4))
    assert all(np.array_equal(x, y) for x, y in zip(first[:3], again[:3], strict=True))
    assert not np.array_equal(first.a, other.a)


def test_rounds_differ_and_a_longer_run_begins_as_a_shorter_one() -> None:
    size = round_rows(SHAPE.K)
    long, short = drawn("normal", 2 * size), drawn("normal", size)
    assert np.array_equal(long.a[:size], short.a)
    assert not np.array_equal(long.a[:size], long.a[size:])


def test_normal_and_uniform_numbers_have_their_moments() -> None:
    normal, uniform = values("normal"), values("uniform")
    assert abs(normal.mean()) < 0.01
    assert abs(normal.var() - 1) < 0.01
    assert abs((normal**4).mean() - 3) < 0.05
    assert abs(uniform.var() - 1 / 3) < 0.005
    assert np.abs(uniform).max() <= 1


def test_a_share_of_outliers_has_the_deviation_and_its_own_data() -> None:
    """All enlarged: the variance is 101; none: that of normal numbers. Neither is taken for the other."""
    made = [data_set(check_workload({"kind": "outliers", "share": share}), SHAPE, 4000, 0) for share in (0, 0.25, 1)]
    none, quarter, all_of_them = (value_of(FP16, one.operands.a).var() for one in made)
    assert (abs(none - 1) < 0.03, abs(quarter - 26) < 2, abs(all_of_them - 101) < 4) == (True, True, True)


@pytest.mark.slow
def test_outliers_are_normal_but_for_one_in_a_thousand_with_a_hundred_times_the_variance() -> None:
    outliers = values("outliers", 200_000)
    assert abs(outliers.var() - (1 + 0.001 * 100)) < 0.02
    beyond = np.abs(outliers) > 5
    assert 0.0004 < beyond.mean() < 0.001  # N(0, 101) lies beyond 5 in 62 % of its draws
    assert np.abs(values("normal", 200_000)).max() < 7


def test_chains_start_from_zero() -> None:
    shape = OperandShape(a=BF16, b=BF16, c=FP32, d=FP32, K=512)
    assert not drawn("chain-512", 4, shape).c.any()


@pytest.mark.parametrize("condition", [1e3, 1e6])
@pytest.mark.parametrize("K", [1, 2, 16])
def test_ill_conditioned_rows_have_about_that_condition(condition: float, K: int) -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=K)
    found = conditions(exact_results(shape, drawn(f"ill-conditioned-{condition:g}", 2000, shape)))
    assert condition / 2 < np.median(found) < condition * 2


def test_ill_conditioned_rows_of_coarse_formats_come_as_near_as_they_can() -> None:
    """An fp16 accumulator keeps 11 bits of the sum that it takes away; the last two products take more of it."""
    coarse = OperandShape(a=FP16, b=FP16, c=FP16, d=FP16, K=8)
    assert np.median(conditions(exact_results(coarse, drawn("ill-conditioned-1e6", 1000, coarse)))) > 1e5
    eights = OperandShape(a=E4M3, b=E4M3, c=FP16, d=FP16, K=8)
    assert np.median(conditions(exact_results(eights, drawn("ill-conditioned-1e6", 1000, eights)))) > 1e3


def test_signs_of_ill_conditioned_sums_are_even() -> None:
    exact = exact_results(SHAPE, drawn("ill-conditioned-1e6", 4000))
    assert abs(np.sign(exact.hi).mean()) < 0.06


def test_integers_are_not_ill_conditioned() -> None:
    shape = OperandShape(a=INT8, b=INT8, c=INT32, d=INT32, K=4)
    with pytest.raises(ValueError, match="ill-conditioned sums are for floating-point operands"):
        drawn("ill-conditioned-100", 4, shape)


def test_an_element_takes_away_the_other_and_a_product_has_nothing_to_take_it_away() -> None:
    adds = OperandShape.of(UNITS["ADD fp16 fp16"])
    assert 50 < np.median(conditions(exact_results(adds, drawn("ill-conditioned-100", 2000, adds)))) < 200
    with pytest.raises(ValueError, match=r"^ill-conditioned sums take two terms; a product without c is one$"):
        check_measurable(UNITS["MUL fp64 fp64"], check_workload("ill-conditioned-100"), 10)


@pytest.mark.parametrize("unit", UNITS.values(), ids=lambda unit: unit.name)
def test_every_unit_takes_every_workload(unit: Unit) -> None:
    shape = OperandShape.of(unit)
    no_sum = unit.operation.name in ("IDPA", "MUL")  # of integers, or of one term
    names = ("normal", "uniform", "outliers", *(() if no_sum else ("ill-conditioned-100",)))
    for name in (*names, *("class-normal" if name == "normal" else name for name in CLASSES)):
        unit.dot(*drawn(name, 20, shape))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("element", "plain", "in_blocks"), [("bf16", 52.7, 52.6), ("e4m3", 28.5, 27.6), ("e2m1", 13.4, 15.8)]
)
def test_total_noise_is_that_of_the_formats(element: str, plain: float, in_blocks: float) -> None:
    """Figures (dB) of another program, for 64 products of normal numbers, by themselves and in blocks of 32 with scales that
    are powers of two; 0.5 dB off is another sample. Against operands that are quantised already all are above 140."""
    keys = {"a": element, "b": element, "c": "fp32", "L": 64, "F": 25, "rho": "RZ-FP32", "e_zero": -133}
    scaled = {"scale": "ue8m0", "K_block": 32}
    for operation, scales, expected in (("T-FDPA", {}, plain), ("ST-FDPA", scaled, in_blocks)):
        unit = unit_from_table({"name": "unit", "operation": operation, **keys, **scales})
        found = measure(unit, {"kind": "chain", "K": 64}, rows=20_000, seed=0)["total_snr_db"]
        assert abs(found - expected) < 0.5
