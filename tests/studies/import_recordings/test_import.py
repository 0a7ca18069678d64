"""Archives of transcribed rows: a sound one becomes recordings; one that is damaged in any way leaves nothing behind."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.recording_index import read_index, read_listed
from studies.import_recordings.__main__ import imported, main
from studies.import_recordings.archives import (
    ARCHIVES,
    Archive,
    Set,
    as_codes,
    in_runs,
    joined,
    matlab_header,
    matlab_prepared,
)

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
ENTRY = {
    "arch": "sm_90", "device": "NVIDIA Hopper (model not stated)", "a": "fp16", "k": 16,
}  # fmt: skip

Arrays = dict[str, np.ndarray[Any, Any]]


def sets() -> tuple[list[dict[str, Any]], Arrays]:
    """Two sound sets, as an archive of Tensorscope has them."""
    generator = np.random.default_rng(1)
    arrays: Arrays = {}
    for number in range(2):
        a, b = (generator.integers(0, 1 << 16, (4, 16)).astype(np.uint16) for _ in range(2))
        c = generator.integers(0, 1 << 32, 4).astype(np.uint32)
        arrays |= {f"{number}_a": a, f"{number}_b": b, f"{number}_c": c, f"{number}_d": HOPPER.dot(a, b, c)}
    return [dict(ENTRY), dict(ENTRY) | {"arch": "sm_80"}], arrays


def written(folder: Path, entries: list[dict[str, Any]], arrays: Arrays) -> tuple[Path, Archive]:
    """The archive's file, and what says that it is the right one."""
    path = folder / "tensorscope.npz"
    np.savez(path, index=np.frombuffer(json.dumps(entries).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return path, replace(ARCHIVES["tensorscope.npz"], sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def test_sound_archive_becomes_recordings_with_their_origin(tmp_path: Path) -> None:
    path, archive = written(tmp_path, *sets())
    assert imported(path, archive, tmp_path / "into") == 2
    index = read_index(tmp_path / "into")
    assert list(index) == [f"tensorscope/{arch}.{HOPPER.name}.npz" for arch in ("sm_80", "sm_90")]
    recording = read_listed(tmp_path / "into", f"tensorscope/sm_90.{HOPPER.name}.npz")
    assert (recording.header.who, recording.header.licence, recording.header.commit) == ("Xuelei Yu", "MIT", "dd8e1297")
    np.testing.assert_array_equal(recording.d, sets()[1]["0_d"])
    assert not (recording.dot() != recording.d).any()


def without_an_array(entries: list[dict[str, Any]], arrays: Arrays) -> None:
    del arrays["1_d"]


def of_another_shape(entries: list[dict[str, Any]], arrays: Arrays) -> None:
    arrays["1_b"] = arrays["1_b"][:, :15]


def of_fewer_rows(entries: list[dict[str, Any]], arrays: Arrays) -> None:
    arrays["1_c"] = arrays["1_c"][:3]


def of_another_dtype(entries: list[dict[str, Any]], arrays: Arrays) -> None:
    arrays["1_a"] = arrays["1_a"].astype(np.uint32)


def of_an_instruction_that_does_not_exist(entries: list[dict[str, Any]], arrays: Arrays) -> None:
    entries[1]["k"] = 24


def of_an_unknown_architecture(entries: list[dict[str, Any]], arrays: Arrays) -> None:
    entries[1]["arch"] = "sm_91"


def of_a_format_without_name(entries: list[dict[str, Any]], arrays: Arrays) -> None:
    del entries[1]["a"]


@pytest.mark.attack("an archive of recordings, damaged")
@pytest.mark.parametrize(
    "damage",
    [
        without_an_array, of_another_shape, of_fewer_rows, of_another_dtype, of_an_instruction_that_does_not_exist,
        of_an_unknown_architecture, of_a_format_without_name,
    ],
)  # fmt: skip
def test_damaged_set_refuses_the_whole_archive(
    damage: Callable[[list[dict[str, Any]], Arrays], None], tmp_path: Path
) -> None:
    """The first set is sound and stays away, too."""
    entries, arrays = sets()
    damage(entries, arrays)
    path, archive = written(tmp_path, entries, arrays)
    with pytest.raises(ValueError, match=f"^set 1 of {re.escape(str(path))} is no recording: .*; nothing is imported$"):
        imported(path, archive, tmp_path / "into")
    assert not (tmp_path / "into").exists()


@pytest.mark.attack("an archive of recordings, damaged")
@pytest.mark.parametrize("position", [0, 200, 1500, -1])
def test_changed_byte_refuses_the_whole_archive(position: int, tmp_path: Path) -> None:
    path, archive = written(tmp_path, *sets())
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        ValueError, match=f"^{re.escape(str(path))} must have the SHA-256 [0-9a-f]+, got [0-9a-f]+; nothing is"
    ):
        imported(path, archive, tmp_path / "into")
    path.write_bytes(data[:-100])
    with pytest.raises(ValueError, match=r"; nothing is imported$"):
        imported(path, archive, tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_another_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "else.npz"
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} must be one of the archives matlab_tensor_core.npz, "):
        main([path])


def test_repeated_data_are_noted_once_and_wgmma_had_no_c() -> None:
    entry = {"device": "Ada", "arch": "sm_89", "a": "e4m3", "b": "e4m3", "c": "f32", "d": "f32", "k": 32}
    arrays = {"c": np.ones(3, np.uint32)}
    hopper = entry | {"device": "H100", "arch": "sm_90"}
    found = list(
        matlab_prepared([Set(entry, arrays), Set(entry | {"device": "L40S", "same_data_as": 0}, {}), Set(hopper, arrays)])
    )
    assert [(each.entry["device"], bool(each.arrays["c"].any())) for each in found] == [("Ada", True), ("H100", False)]
    notes = [matlab_header(each.entry)["note"] for each in found]
    assert notes == ["the file published for L40S holds the same rows", "the program took c as 0"]


def test_sets_of_one_instruction_are_joined_with_their_labels() -> None:
    first = Set(
        {"instruction": "X", "K": 2, "names": ["p", "q"]}, {"d": np.arange(3), "label": np.array([0, 1, 1], np.uint8)}
    )
    second = Set({"instruction": "X", "K": 2, "names": ["r"]}, {"d": np.arange(2)})
    (both,) = joined([first, second])
    assert both.entry["names"] == ["p", "q", "r"]
    assert both.arrays["label"].tolist() == [0, 1, 1, 2, 2]
    assert both.arrays["d"].tolist() == [0, 1, 2, 0, 1]


def test_runs_of_classes_become_labels_and_numbers_become_codes() -> None:
    (found,) = in_runs([Set({"classes": ["p", "q"], "per_class": 2}, {})])
    assert found.arrays["label"].tolist() == [0, 0, 1, 1]
    (codes,) = as_codes([Set({}, {"a": np.array([-1], np.int8)})])
    assert codes.arrays["a"].dtype == np.uint8
    assert codes.arrays["a"].tolist() == [255]
