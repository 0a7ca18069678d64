"""A device whose answers are random is called so by two answers to one question, before a search or as soon as they show."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from golden.device import Device
from golden.stimulus import Operands
from golden.units.unit_file import operation_from_table
from mmau.probe.features import FEATURES
from mmau.probe.journal import Journal
from mmau.probe.loop import AGAIN, Finding, probe
from mmau.probe.model_search import Search
from mmau.probe.probe_report import as_dict, text_of
from tests.mmau.probe.devices import changed, dies_after, dut, summed_in_order

FUSED = {"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"}
FEW_MODELS = 20_000
"""Of the 100,000 and more that a search tries which finds no model."""

NAMED = pytest.mark.attack("devices that a probe must not name")


def fma() -> Device:
    return dut(operation_from_table(FUSED), K=1)


def at_random(seed: int, where: Callable[[Operands, Any], Any]) -> Device:
    """An FMA whose last bit is drawn by lot in some rows."""
    rng = np.random.default_rng(seed)
    return changed(fma(), lambda o, d: np.where(where(o, d), d ^ rng.integers(0, 2, d.shape, d.dtype), d))


def rounded_by_lot(seed: int, every: bool) -> Device:
    """Each addition or the last one alone is rounded up as often as its discarded part is large."""
    rng = np.random.default_rng(seed)
    return summed_in_order("by lot", lambda k, total, part: (rng.random(len(part)) < part) & (every or k == 3))


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The searches that a probe begins: for each the models that it had tried when it ended."""
    begun: list[int] = []
    run = Search.run

    def counted(self: Search, *arguments: Any) -> Any:
        begun.append(-1)
        try:
            return run(self, *arguments)
        finally:
            begun[-1] = self.tried

    monkeypatch.setattr(Search, "run", counted)
    return begun


def called_random(device: Device, vectors: int = 2000) -> Finding:
    """The finding: two answers to one question, which the report and its JSON show."""
    found = probe(device, vectors)
    assert not found.is_whole()
    assert found.stopped is not None
    assert "must give the same result whenever it is asked, and gave" in found.stopped
    assert found.two_answers is not None
    row, first, then = found.two_answers
    assert (len(row.c), first != then) == (1, True)
    text = text_of(found, [])
    assert "\ntwo answers c = " in text
    assert f"\n            the device gave first {device.shape.d.describe(first)}\n" in text
    assert f"\n            the device gave then  {device.shape.d.describe(then)}\n" in text
    shown = as_dict(found, [])["two_answers"]
    assert (shown["d"], shown["d_again"], shown["c"]) == (first, then, int(row.c[0]))
    return found


def every_bit(seed: int) -> Device:
    rng = np.random.default_rng(seed)
    return changed(fma(), lambda _, d: rng.integers(0, 1 << 32, d.shape, d.dtype))


@NAMED
@pytest.mark.parametrize("seed", range(4))
def test_answers_at_random_end_the_probe_after_its_first_questions(seed: int, searches: list[int]) -> None:
    found = called_random(every_bit(seed))
    assert (searches, found.model) == ([], None)
    assert found.vectors <= 2 * found.evidence + AGAIN // len(FEATURES)  # one feature, some of it, all of it again
    assert f" of {found.evidence} vectors another one" in str(found.stopped)


@NAMED
def test_two_answers_are_reported_of_a_device_that_dies_before_all_are_asked_again(searches: list[int]) -> None:
    whole = called_random(every_bit(0))
    called_random(dies_after(every_bit(0), whole.vectors - whole.evidence))
    assert searches == []


@pytest.mark.slow
@NAMED
@pytest.mark.parametrize("every", [True, False], ids=["each addition", "the last one"])
@pytest.mark.parametrize("seed", range(4))
def test_rounding_by_lot_ends_the_probe_before_a_search_or_at_its_first_model(
    seed: int, every: bool, searches: list[int]
) -> None:
    called_random(rounded_by_lot(seed, every))
    assert len(searches) <= (0 if every else 1)
    assert sum(searches) < FEW_MODELS


@NAMED
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_is_random_in_few_rows_is_asked_again_when_the_first_model_misses_them(seed: int, searches: list[int]) -> None:
    """Subnormal results: some ten of the first rows."""
    called_random(at_random(seed, lambda o, d: (d & 0x7F800000 == 0) & (d & 0x7FFFFF != 0)))
    assert len(searches) <= 1
    assert sum(searches) < FEW_MODELS


@NAMED
@pytest.mark.slow
def test_what_is_random_in_rare_rows_is_asked_again_when_a_validation_fails(searches: list[int]) -> None:
    """One row in about four thousand: none of the features' questions."""
    found = called_random(at_random(0, lambda o, d: o.c & np.uint32(4095) == 1234), 60_000)
    assert len(searches) == 1
    assert (found.model is not None, found.missed) == (True, 0)  # what it computes where it is not random


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="rows that no question meets show nothing")
@NAMED
def test_what_is_random_in_rows_that_are_not_asked_is_missed() -> None:
    assert not probe(at_random(0, lambda o, d: (o.a[:, 0] == 0x3F800123) & (o.b[:, 0] == 0x40000321)), 2000).is_whole()


@pytest.mark.slow
def test_device_that_is_deterministic_is_found_with_as_many_vectors_as_before() -> None:
    """As many rows a second time at the beginning, from each feature some, and at the end."""
    device = fma()
    journal = Journal(device.name, device.shape)
    found = probe(device, 2000, journal=journal)
    assert (found.is_whole(), found.two_answers, as_dict(found, [])["two_answers"]) == (True, None, None)
    assert found.vectors == len(journal.answers) + 2000 + 2 * AGAIN


def test_each_feature_has_rows_to_ask_again() -> None:
    assert AGAIN % len(FEATURES) == 0
