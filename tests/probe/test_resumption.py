"""A probe that ended early goes on from its journal, whatever ended it: the box died, its time was up, it answered twice in
two ways. What it had said is not asked again, and what it had said wrongly is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.stimulus import Operands
from probe.box import Box
from probe.journal import Journal
from probe.loop import AGAIN, FIRST_CHUNK, Finding, probe
from tests.probe.boxes import box, changed, dies_after

VECTORS = 4000


def journal(path: Path) -> Journal:
    return Journal("box", box().shape, path)


def run(black_box: Box, path: Path, **options: Any) -> Finding:
    return probe(black_box, VECTORS, journal=journal(path), **options)


@pytest.fixture(scope="module")
def whole() -> Finding:
    """Of a box that does what it must."""
    return probe(box(), VECTORS)


def test_a_box_that_dies_while_it_is_validated_goes_on_there(tmp_path: Path, whole: Finding) -> None:
    path = tmp_path / "state.npz"
    asked_first = whole.vectors - VECTORS - AGAIN  # those of the second look at the end come after the validation
    first = run(dies_after(box(), asked_first + FIRST_CHUNK + 100), path)
    assert first.stopped is not None
    assert "died after" in first.stopped
    assert list(journal(path).validated.values()) == [FIRST_CHUNK]
    resumed = run(box(), path)
    assert resumed.is_whole()
    assert resumed.model == whole.model
    assert resumed.validated == VECTORS
    assert resumed.vectors == VECTORS - FIRST_CHUNK + 2 * AGAIN


def test_a_box_whose_time_is_up_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: Finding) -> None:
    """A hundred vectors a second, for which each run leaves two seconds."""
    path, now = tmp_path / "state.npz", [0.0]
    monkeypatch.setattr("probe.box.time.perf_counter", lambda: now[0])

    def slow(operands: Operands, d: Any) -> Any:
        now[0] += len(d) / 100
        return d

    said = [0]
    for _ in range(2):
        stopped = run(changed(box(), slow), path, seconds=2)
        assert stopped.stopped is not None
        assert "which uses up the 2 s it was given" in stopped.stopped
        assert stopped.model is not None
        said.append(len(journal(path).answers))
    assert said == sorted(set(said))  # each run learned more
    resumed = run(changed(box(), slow), path)
    assert resumed.is_whole()
    assert resumed.model == whole.model
    assert resumed.vectors < whole.vectors


@pytest.mark.long  # a search that explains none of the answers
def test_what_had_two_answers_is_asked_again(tmp_path: Path, whole: Finding) -> None:
    """A line that fails now and then: one answer in twenty has a bit flipped."""
    path, rng = tmp_path / "state.npz", np.random.default_rng(0)
    noisy = changed(box(), lambda _, d: np.where(rng.integers(0, 20, len(d)) == 0, d ^ 1, d).astype(d.dtype))
    first = run(noisy, path)
    assert first.stopped is not None
    assert "must give the same result whenever it is asked" in first.stopped
    kept = journal(path)
    assert 0 < len(kept.answers) < first.evidence
    resumed = run(box(), path)
    assert resumed.is_whole()
    assert resumed.model == whole.model
    assert resumed.vectors < whole.vectors


def test_a_box_that_was_changed_under_its_name_is_noticed(tmp_path: Path, whole: Finding) -> None:
    """The journal holds what a box said before; each run drops what has another answer now."""
    path = tmp_path / "state.npz"
    run(dies_after(changed(box(), lambda _, d: d ^ np.array(1, d.dtype)), 400), path)
    said = len(journal(path).answers)
    first = run(box(), path)
    assert first.stopped is not None
    assert "must give the same result whenever it is asked" in first.stopped
    assert len(journal(path).answers) < said
    runs = [run(box(), path) for _ in range(2)]
    assert runs[-1].is_whole()
    assert runs[-1].model == whole.model
