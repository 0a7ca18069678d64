"""A probe resumes from its journal after any interruption: the device died, its time was up, it gave two answers to one
question. Recorded answers are not asked again, contradictory ones are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.device import Device
from golden.stimulus import Operands
from mmau.probe.journal import Journal
from mmau.probe.loop import AGAIN, FIRST_CHUNK, Finding, probe
from tests.mmau.probe.devices import changed, dies_after, dut

VECTORS = 4000


def journal(path: Path) -> Journal:
    return Journal("box", dut().shape, path)


def run(device: Device, path: Path, **options: Any) -> Finding:
    return probe(device, VECTORS, journal=journal(path), **options)


@pytest.fixture(scope="module")
def whole() -> Finding:
    """Of a device under test that does what it must."""
    return probe(dut(), VECTORS)


@pytest.mark.slow
def test_a_device_that_dies_while_it_is_validated_goes_on_there(tmp_path: Path, whole: Finding) -> None:
    path = tmp_path / "state.npz"
    asked_first = whole.vectors - VECTORS - AGAIN  # those of the second look at the end come after the validation
    first = run(dies_after(dut(), asked_first + FIRST_CHUNK + 100), path)
    assert first.stopped is not None
    assert "died after" in first.stopped
    assert list(journal(path).validated.values()) == [FIRST_CHUNK]
    resumed = run(dut(), path)
    assert resumed.is_whole()
    assert resumed.model == whole.model
    assert resumed.validated == VECTORS
    assert resumed.vectors == VECTORS - FIRST_CHUNK + 2 * AGAIN


@pytest.mark.slow
def test_a_device_whose_time_is_up_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: Finding) -> None:
    """A hundred vectors a second, for which each run leaves two seconds."""
    path, now = tmp_path / "state.npz", [0.0]
    monkeypatch.setattr("mmau.probe.device_under_test.time.perf_counter", lambda: now[0])

    def slow(operands: Operands, d: Any) -> Any:
        now[0] += len(d) / 100
        return d

    said = [0]
    for _ in range(2):
        stopped = run(changed(dut(), slow), path, seconds=2)
        assert stopped.stopped is not None
        assert "used up its limit of 2 s" in stopped.stopped
        assert stopped.model is not None
        said.append(len(journal(path).answers))
    assert said == sorted(set(said))  # each run learned more
    resumed = run(changed(dut(), slow), path)
    assert resumed.is_whole()
    assert resumed.model == whole.model
    assert resumed.vectors < whole.vectors


@pytest.mark.long  # a search that explains none of the answers
def test_what_had_two_answers_is_asked_again(tmp_path: Path, whole: Finding) -> None:
    """A line that fails now and then: one answer in twenty has a bit flipped."""
    path, rng = tmp_path / "state.npz", np.random.default_rng(0)
    noisy = changed(dut(), lambda _, d: np.where(rng.integers(0, 20, len(d)) == 0, d ^ 1, d).astype(d.dtype))
    first = run(noisy, path)
    assert first.stopped is not None
    assert "must give the same result whenever it is asked" in first.stopped
    kept = journal(path)
    assert 0 < len(kept.answers) < first.evidence
    resumed = run(dut(), path)
    assert resumed.is_whole()
    assert resumed.model == whole.model
    assert resumed.vectors < whole.vectors


@pytest.mark.long
def test_a_device_that_was_changed_under_its_name_is_noticed(tmp_path: Path, whole: Finding) -> None:
    """The journal holds what a device under test said before; each run drops what has another answer now."""
    path = tmp_path / "state.npz"
    run(dies_after(changed(dut(), lambda _, d: d ^ np.array(1, d.dtype)), 400), path)
    said = len(journal(path).answers)
    first = run(dut(), path)
    assert first.stopped is not None
    assert "must give the same result whenever it is asked" in first.stopped
    assert len(journal(path).answers) < said
    runs = [run(dut(), path) for _ in range(2)]
    assert runs[-1].is_whole()
    assert runs[-1].model == whole.model
