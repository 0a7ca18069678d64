"""Journals: a file that is none is refused, whole or not at all."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.stimulus import generate
from mmau.probe.journal import VERSION, Journal, row_keys
from tests.mmau.probe.devices import dut


def filled(path: Path) -> Journal:
    honest = dut()
    journal = Journal("box", honest.shape, path)
    rows = generate(honest.shape, 50, 0).operands
    journal.add(rows, honest.dot(rows), row_keys(rows))
    journal.validated["model"] = 7
    journal.save()
    return journal


def rewritten(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]] = dict, **arrays: Any) -> None:
    """The journal with another header and other arrays."""
    with np.load(path) as archive:
        kept = dict(archive)
    header = json.dumps(change(json.loads(kept["header"].tobytes()))).encode()
    np.savez(path, **(kept | arrays | {"header": np.frombuffer(header, np.uint8)}))


def test_a_journal_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = filled(tmp_path / "j.npz")
    read = Journal("box", dut().shape, tmp_path / "j.npz")
    assert (read.answers, read.validated) == (written.answers, {"model": 7})


def test_nothing_to_say_leaves_no_file(tmp_path: Path) -> None:
    Journal("box", dut().shape, tmp_path / "j.npz").save()
    assert not (tmp_path / "j.npz").exists()


@pytest.mark.attack("answers of something that has changed since")
def test_journal_without_a_row_is_resumed(tmp_path: Path) -> None:
    """As a program leaves it that dies in its first answer, or gives two answers to every question."""
    honest, path = dut(), tmp_path / "j.npz"
    rows = generate(honest.shape, 5, 0).operands
    journal = Journal("box", honest.shape, path)
    journal.add(rows.rows(slice(0, 0)), honest.dot(rows)[:0], [])
    journal.save()
    assert Journal("box", honest.shape, path).answers == {}
    forgotten = filled(path)
    for _ in range(2):  # as the loop does, whose rows differ at the first look and at the second
        forgotten.forget(list(forgotten.answers))
    forgotten.save()
    assert Journal("box", honest.shape, path).answers == {}


def test_another_boxs_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    filled(path)
    with pytest.raises(ValueError, match="must be the journal of other, got that of box; name another file"):
        Journal("other", dut().shape, path)
    with pytest.raises(ValueError, match="must be the journal of box, whose operands are"):
        Journal("box", dut(K=1).shape, path)


@pytest.mark.attack("answers of something that has changed since")
def test_journal_of_what_has_changed_is_refused(tmp_path: Path) -> None:
    """Whatever the name says, answers and validations are those of one design, program and driver."""
    path = tmp_path / "j.npz"
    filled(path)
    with pytest.raises(
        ValueError, match="must be the journal of box as it is now; its design, unit, program, device or driver"
    ):
        Journal("box", dut().shape, path, "another")


def test_journal_with_the_key_of_earlier_versions_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    answers = filled(path).answers
    rewritten(path, lambda header: header | {"box": header.pop("device_under_test")})
    assert Journal("box", dut().shape, path).answers == answers


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"is not a readable \.npz file"):
        Journal("box", dut().shape, path)
    one = np.zeros(1, np.uint8)
    np.savez(path, a=one, b=one, c=one, d=one, header=np.frombuffer(b"[]", np.uint8))
    with pytest.raises(ValueError, match="is not the journal of a probe"):
        Journal("box", dut().shape, path)


@pytest.mark.attack("answers of something that has changed since")
def test_damaged_answers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    filled(path)
    with np.load(path) as archive:
        d, a = archive["d"], archive["a"]
    for damaged in ({"d": d[:-1]}, {"d": d, "a": a.astype(np.uint32)}):
        rewritten(path, **damaged)
        with pytest.raises(ValueError, match="must be the journal of a probe, with arrays"):
            Journal("box", dut().shape, path)


def test_forgotten_rows_are_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    journal = filled(path)
    keys = list(journal.answers)
    journal.forget(keys[:3])
    journal.save()
    assert list(Journal("box", dut().shape, path).answers) == keys[3:]


def test_journal_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.npz"
    filled(path)
    rewritten(path, lambda header: header | {"version": VERSION + 1})
    said = f"{path} must be a journal of version {VERSION}, got version {VERSION + 1}; name another file"
    with pytest.raises(ValueError, match=re.escape(said)):
        Journal("box", dut().shape, path)
