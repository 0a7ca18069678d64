"""Journals: a file that is none is refused, whole or not at all."""

from pathlib import Path

import numpy as np
import pytest

from golden.stimulus import generate
from probe.journal import Journal, row_keys
from tests.probe.boxes import box


def filled(path: Path) -> Journal:
    honest = box()
    journal = Journal("box", honest.shape, path)
    rows = generate(honest.shape, 50, 0).operands
    journal.add(rows, honest.dot(rows.a, rows.b, rows.c), row_keys(rows))
    journal.validated["model"] = 7
    journal.save()
    return journal


def test_a_journal_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = filled(tmp_path / "j.npz")
    read = Journal("box", box().shape, tmp_path / "j.npz")
    assert (read.answers, read.validated) == (written.answers, {"model": 7})


def test_nothing_to_say_leaves_no_file(tmp_path: Path) -> None:
    Journal("box", box().shape, tmp_path / "j.npz").save()
    assert not (tmp_path / "j.npz").exists()


def test_another_boxs_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    filled(path)
    with pytest.raises(ValueError, match="must be the journal of other, and is that of box; name another file"):
        Journal("other", box().shape, path)
    with pytest.raises(ValueError, match="must be the journal of box, whose operands are"):
        Journal("box", box(K=1).shape, path)


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"is not a readable \.npz file"):
        Journal("box", box().shape, path)
    one = np.zeros(1, np.uint8)
    np.savez(path, a=one, b=one, c=one, d=one, header=np.frombuffer(b"[]", np.uint8))
    with pytest.raises(ValueError, match="is not the journal of a probe"):
        Journal("box", box().shape, path)


def test_damaged_answers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    filled(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **(arrays | {"d": arrays["d"][:-1]}))
    with pytest.raises(ValueError, match="is not the journal of a probe: its arrays"):
        Journal("box", box().shape, path)
    np.savez(path, **(arrays | {"a": arrays["a"].astype(np.uint32)}))
    with pytest.raises(ValueError, match="is not the journal of a probe: its arrays"):
        Journal("box", box().shape, path)


def test_forgotten_rows_are_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    journal = filled(path)
    keys = list(journal.answers)
    journal.forget(keys[:3])
    journal.save()
    assert list(Journal("box", box().shape, path).answers) == keys[3:]
