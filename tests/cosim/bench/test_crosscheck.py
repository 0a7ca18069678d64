"""The cross-check by the reference engine: the rows of its sample, and the failure of a run whose engines disagree."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import golden.engines.engine
from cosim import Report, summary
from cosim.bench import coverage, stimulus
from cosim.bench.coverage import ReferenceSample
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import specification_of
from rtl import Design, UnitDesign
from tests.cosim.bench.test_stimulus import SCALED, TWO_STEPS, answered, dot_products
from tests.rtl.designs.test_design import formats

UNIT = UnitDesign(formats(0).units[1])
DESIGNS: list[Design] = [UNIT, formats(1), TWO_STEPS, SCALED]


def judged(design: Design, count: int, seed: int = 1) -> Report:
    """The report of a design that returns exactly the results of golden's fastest engine."""
    board = answered(Scoreboard(specification_of(design), count, seed))
    return Report.of(design, board.outcome(), "none", seed, 1.0)


def break_native(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    """Make the native engine flip the last bit of the results for which `wrong` of a batch is true."""
    sound = golden.engines.engine.ENGINES["native"]

    def broken(chain: Any, batch: Any) -> Any:
        d = sound(chain, batch)
        return np.where(wrong(batch), d ^ np.array(1, d.dtype), d)

    monkeypatch.setitem(golden.engines.engine.ENGINES, "native", broken)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_engines_that_agree_pass(design: Design) -> None:
    report = judged(design, 500)
    assert report.failures == ()
    assert (report.engine, report.checked, report.disagreements, report.first_disagreement) == ("native", 200, 0, None)


@pytest.mark.parametrize("count", [1, 50, 200, 5000])
def test_as_many_rows_are_checked_as_there_are_up_to_200(count: int) -> None:
    assert judged(UNIT, count).checked == min(count, 200)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_wrong_native_engine_fails_though_no_result_differs(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    break_native(monkeypatch, lambda batch: np.ones_like(batch.c, bool))
    report = judged(design, 300)
    assert report.mismatches == 0
    assert report.failures == ("the engines native and reference differ for 200 of 200 rows",)
    assert "0 of 200  FAILED: the engines native and reference differ" in summary([report], 1)
    assert f"{report.unit}: first disagreement of the engines, a row of " in summary([report], 1)
    shown = report.as_dict()
    assert (shown["engine"], shown["checked"], shown["disagreements"], shown["passed"]) == ("native", 200, 200, False)
    first = str(report.first_disagreement).splitlines()
    assert first[-2].startswith("  reference fp32 0x")
    assert first[-1].startswith("  expected  fp32 0x")


@pytest.mark.slow
def test_native_engine_that_is_wrong_in_one_class_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows whose c is NaN, which is rare outside the class `specials`."""
    break_native(monkeypatch, lambda batch: batch.c & 0x7FFFFFFF > 0x7F800000)
    report = judged(UNIT, 20_000)
    assert 0 < report.disagreements < 50
    assert not report.passed


@pytest.mark.slow
def test_sample_is_spread_over_classes_and_over_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stimulus, "CHUNK", 500)
    sample, chunks = ReferenceSample(1), list(specification_of(UNIT).chunks(20_000, 1))
    for chunk in chunks:
        sample.add(chunk.products[0])
    rows = [(row.made_by(0), dot_products(row).stimulus.operands.a.tobytes(), row.expected[0]) for row in sample.rows()]
    names = chunks[0].products[0].classes()
    shares = Counter(name for name, _, _ in rows)
    assert set(shares) == {names[label] for chunk in chunks for label in chunk.products[0].label.tolist()}
    assert max(shares.values()) - min(shares.values()) <= 1
    halves = Counter()  # type: Counter[bool]
    for number, chunk in enumerate(chunks):
        products = dot_products(chunk.products[0])
        there = {
            (products.made_by(row), products.stimulus.operands.a[row : row + 1].tobytes(), products.expected[row])
            for row in range(len(products.expected))
        }
        halves[number < len(chunks) // 2] += sum(row in there for row in rows)
    assert min(halves.values()) > 50


def test_sample_depends_on_the_seed_alone() -> None:
    products = next(iter(specification_of(UNIT).chunks(4000, 1))).products[0]
    codes = []
    for seed in (1, 1, 2):
        sample = ReferenceSample(seed)
        sample.add(products)
        codes.append([dot_products(row).stimulus.operands.a.tobytes() for row in sample.rows()])
    assert codes[0] == codes[1] != codes[2]


def test_run_without_a_cross_check_fails() -> None:
    failures = Report.of(UNIT, Scoreboard(specification_of(UNIT), 10, 1).outcome(), "none", 1, 1.0).failures
    assert "no expected result was checked by the reference engine" in failures


def test_engines_that_disagree_fail_in_a_plain_testbench(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scoreboard itself fails, without a report."""
    break_native(monkeypatch, lambda batch: np.ones_like(batch.c, bool))
    board = answered(Scoreboard(specification_of(UNIT), 300, 1))
    assert board.failures == ("the engines native and reference differ for 200 of 200 rows",)


def test_reservoir_is_filled_as_row_by_row() -> None:
    """Only the sampled rows of a chunk are copied; they are those that a walk over all rows would choose."""
    sample, reservoirs, seen = ReferenceSample(7), dict[str, list[tuple[int, int]]](), Counter[str]()
    chunks = [dot_products(chunk.products[0]) for chunk in specification_of(UNIT).chunks(9000, 7)]
    rng = np.random.default_rng([7, coverage.SAMPLE])
    for number, products in enumerate(chunks):
        sample.add(products)
        for label in np.unique(products.label).tolist():
            rows, name = np.flatnonzero(products.label == label).tolist(), products.classes()[label]
            places = rng.integers(0, np.arange(seen[name] + 1, seen[name] + 1 + len(rows))).tolist()
            for place, row in zip(places, rows, strict=True):
                reservoir = reservoirs.setdefault(name, [])
                if len(reservoir) < coverage.RESERVOIR:
                    reservoir.append((number, row))
                elif place < coverage.RESERVOIR:
                    reservoir[place] = (number, row)
            seen[name] += len(rows)
    assert max(seen.values()) > 10 * coverage.RESERVOIR
    for name, reservoir in reservoirs.items():
        sampled = [each.codes_by_name(0) for each in sample._reservoirs[name]]
        assert sampled == [chunks[number].codes_by_name(row) for number, row in reservoir]
