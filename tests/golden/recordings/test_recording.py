"""Recordings: a written one is read back; a damaged, foreign or hostile one is refused with a reason."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.recordings.recording import Recording, file_name, read
from golden.recordings.recording_index import (
    ELSEWHERE,
    ENTRY,
    INDEX,
    read_elsewhere,
    read_index,
    read_listed,
    special_operands,
    write,
)
from tests.hwtests.model_recordings import PLAIN, SCALED, made_by_the_model


@pytest.fixture(scope="module")
def plain() -> Recording:
    return made_by_the_model(*PLAIN)


@pytest.mark.parametrize("name", [PLAIN, SCALED], ids=["plain", "scaled"])
def test_what_is_written_is_read_back(name: tuple[str, str], tmp_path: Path) -> None:
    recording = made_by_the_model(*name)
    back = read(write(tmp_path, recording))
    assert back.header == recording.header
    for got, expected in zip(back.operands, recording.operands, strict=True):
        assert (got is None) == (expected is None)
        if got is not None:
            np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(back.d, recording.d)
    np.testing.assert_array_equal(back.label, recording.label)
    assert back.instruction.name == name[1]


def test_equal_recordings_are_equal_files(plain: Recording, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    assert write(tmp_path / "x", plain).read_bytes() == write(tmp_path / "y", plain).read_bytes()


def test_index_lists_every_file(plain: Recording, tmp_path: Path) -> None:
    write(tmp_path, plain)
    write(tmp_path, made_by_the_model(*SCALED))
    index = read_index(tmp_path)
    assert sorted(index) == sorted(file_name(*name) for name in (PLAIN, SCALED))
    assert all(entry["rows"] == 200 for entry in index.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*index, INDEX])
    assert all(len(read_listed(tmp_path, name)) == 200 for name in index)


def test_another_file_than_the_index_says_is_refused(plain: Recording, tmp_path: Path) -> None:
    path = write(tmp_path, plain)
    index = (tmp_path / INDEX).read_text()
    write(tmp_path, dataclasses.replace(plain, d=plain.d ^ np.uint32(1)))
    (tmp_path / INDEX).write_text(index)
    with pytest.raises(ValueError, match=r"must have the SHA-256 that index\.json says, [0-9a-f]{64}; got [0-9a-f]{64}$"):
        read_listed(tmp_path, path.name)


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The recording with its arrays and header changed, the digest of the header left as it was."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["header"] = json.loads(bytes(arrays["header"]))
    change(arrays)
    arrays["header"] = np.frombuffer(json.dumps(arrays["header"]).encode(), np.uint8)
    np.savez(path, **arrays)


def change_a_result(arrays: dict[str, Any]) -> None:
    arrays["d"][3] ^= 1


def change_the_order(arrays: dict[str, Any]) -> None:
    arrays["c"], arrays["d"] = arrays["d"], arrays["c"]


def header_with(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda arrays: arrays["header"].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_a_result, "its arrays do not have the SHA-256 that its header says"),
        (change_the_order, "its arrays do not have the SHA-256 that its header says"),
        (header_with(version=1), "format version must be 2, got 1"),
        (header_with(extra=1), "header must have exactly the keys arch, commit, compiler, date"),
        (header_with(arch="sm_75"), r"sm_75 instruction 'mma.m16n8k16.f32.f16.f16.f32' is not one of the "),
        (header_with(instruction="mma.m16n8k4.f32.tf32.tf32.f32"), "a must have dtype uint32"),
        (header_with(kind="guessed"), "kind must be one of silicon, digest, computed"),
        (header_with(who=""), "who must be a non-empty string, got ''"),
        (header_with(licence=None), "licence must be a non-empty string, got None"),
        (header_with(source=1), "source must be a string, got 1"),
        (header_with(instruction="mma.m16n8k16.f16.f16.f16.f16"), "c must have dtype uint16"),
        (header_with(names=["one"]), "label must be uint8 below 1, the number of names"),
        (header_with(names="bits"), "names must be strings, got 'bits'"),
        (header_with(device=""), "device must be a non-empty string, got ''"),
        *(
            (header_with(date=date), re.escape(f"date must be a day of the calendar as YYYY-MM-DD, got {date!r}") + "$")
            for date in (
                "tomorrow", "2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "0000-01-01", "2026-W05-1", "20260131",
                "2026-01-31\n", "२०२६-01-31", 20260131,
            )
        ),
        (header_with(seed=True), "seed must be an integer, got True"),
        (header_with(machine_code={"HMMA": "1"}), "machine_code must map mnemonics to counts"),
    ],
)  # fmt: skip
def test_changed_recording_is_refused(
    change: Callable[[dict[str, Any]], None], message: str, plain: Recording, tmp_path: Path
) -> None:
    path = write(tmp_path, plain)
    rewritten(path, change)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))} is no valid recording: {message}"):
        read(path)


@pytest.mark.parametrize("position", range(100, 9000, 521))
def test_flipped_byte_is_refused(position: int, plain: Recording, tmp_path: Path) -> None:
    path = write(tmp_path, plain)
    data = bytearray(path.read_bytes())
    data[position % len(data)] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"must have the SHA-256"):
        read_listed(tmp_path, path.name)


@pytest.mark.parametrize(
    "header",
    [b"not json", b"[1]", b"{}", b"[" * 100_000, b"\xff"],
    ids=["text", "list", "empty", "deep", "bytes"],
)
def test_header_that_is_none_is_refused(header: bytes, plain: Recording, tmp_path: Path) -> None:
    path = write(tmp_path, plain)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    np.savez(path, **(arrays | {"header": np.frombuffer(header, np.uint8)}))
    with pytest.raises(ValueError, match=r"is no valid recording: header "):
        read(path)


def test_what_is_no_recording_is_not_written(plain: Recording, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^a must have shape \(199, 16\)"):
        write(tmp_path, dataclasses.replace(plain, d=plain.d[:-1], label=plain.label[:-1], operands=plain.operands))
    cut = plain.operands._replace(a=plain.operands.a[:, :12], b=plain.operands.b[:, :12])
    with pytest.raises(ValueError, match=r"^a must have shape \(200, 16\)"):
        write(tmp_path, dataclasses.replace(plain, operands=cut))
    assert list(tmp_path.iterdir()) == []


def test_instruction_repeated_along_k_is_replayed_as_a_chain(tmp_path: Path) -> None:
    """Two steps of m16n8k16, the second from the d of the first; a result of another format than c takes no second step."""
    made = made_by_the_model(*PLAIN, rows=40)
    a, b, c, _, _ = made.operands
    twice = made.operands._replace(a=np.tile(a, 2), b=np.tile(b, 2))
    d = made.instruction.dot(a, b, made.instruction.dot(a, b, c))
    recording = read(write(tmp_path, dataclasses.replace(made, operands=twice, d=d)))
    np.testing.assert_array_equal(recording.dot(engine="reference"), d)
    volta = made_by_the_model("sm_70", "mma.m8n8k4.f32.f16.f16.f16", rows=10)
    doubled = volta.operands._replace(a=np.tile(volta.operands.a, 2), b=np.tile(volta.operands.b, 2))
    message = "K must be 4 for mma.m8n8k4.f32.f16.f16.f16, whose d is no c; got 8"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        write(tmp_path, dataclasses.replace(volta, operands=doubled))


def listed(arch: str, instruction: str) -> dict[str, Any]:
    """An entry of an index, of the types that it must have."""
    return {key: kind() for key, kind in ENTRY.items()} | {"arch": arch, "instruction": instruction}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "is no valid index: Expecting value"),
        ("[]", "it must be an object, got list"),
        ('{"x": {}}', "entry 'x' must have the keys arch, instruction, kind, device, software, who, source, "),
        (json.dumps({"../x.y.npz": listed("../x", "y")}), r"'\.\./x\.y\.npz' is not the file name of 'y'"),
        (json.dumps({"../x.y.npz": listed("x", "y")}), r"'\.\./x\.y\.npz' is not the file name of 'y'"),
        (json.dumps({"a//x.y.npz": listed("x", "y")}), r"'a//x\.y\.npz' is not the file name of 'y'"),
        (json.dumps({"/x.y.npz": listed("x", "y")}), r"'/x\.y\.npz' is not the file name of 'y'"),
        (json.dumps({"x.y.npz": listed("x", "y") | {"rows": "1"}}), r"entry 'x\.y\.npz' must have the keys"),
    ],
)
def test_index_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_index(tmp_path)


def changed_entry(folder: Path, name: str, **changes: Any) -> None:
    """The index with something else in one entry."""
    index = json.loads((folder / INDEX).read_text())
    index[name] |= changes
    (folder / INDEX).write_text(json.dumps(index))


@pytest.mark.attack("a recording, damaged, or an index that lies")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 199}, "rows differ"),
        ({"device": "NVIDIA H100"}, "device differ"),
        ({"who": "nobody", "licence": "MIT"}, "who, licence differ"),
        ({"specials": []}, "specials differ"),
        ({"kind": "computed"}, "kind differ"),
    ],
)
def test_index_that_says_something_else_of_a_recording_is_refused(
    changes: dict[str, Any], message: str, plain: Recording, tmp_path: Path
) -> None:
    path = write(tmp_path, plain)
    changed_entry(tmp_path, path.name, **changes)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path} is not what {INDEX} says of it: {message}')}$"):
        read_listed(tmp_path, path.name)


@pytest.mark.attack("a recording, damaged, or an index that lies")
def test_missing_and_truncated_files_are_refused_by_name(plain: Recording, tmp_path: Path) -> None:
    path = write(tmp_path, plain, "somebody")
    name = f"somebody/{path.name}"
    assert list(read_index(tmp_path)) == [name]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} must have the SHA-256 that {INDEX} says"):
        read_listed(tmp_path, name)
    path.unlink()
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path} is missing, but {INDEX} lists it')}$"):
        read_listed(tmp_path, name)


def test_special_operands_are_those_of_the_arrays(tmp_path: Path) -> None:
    made = made_by_the_model(*PLAIN, rows=10)
    one = np.full_like(made.operands.a, 0x3C00)
    c = np.zeros_like(made.operands.c)
    plainest = dataclasses.replace(made, operands=made.operands._replace(a=one, b=one, c=c))
    assert special_operands(plainest) == []
    for code, name in ((0x7E01, "NaN"), (0xFC00, "infinity"), (0x0001, "subnormal"), (0x8000, "−0")):
        b = one.copy()
        b[7, 3] = code
        assert special_operands(dataclasses.replace(plainest, operands=plainest.operands._replace(b=b))) == [name]
    c[2] = 0x80000000
    assert special_operands(plainest) == ["−0"]


@pytest.mark.parametrize(
    "text", ["[[report]]\narch = 'sm_90'\n", "report = 1\n", "x = 1\n", "["], ids=["keys", "number", "none", "damaged"]
)
def test_list_of_reports_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    assert read_elsewhere(tmp_path) == []
    (tmp_path / ELSEWHERE).write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path / ELSEWHERE))} is no list of reports: "):
        read_elsewhere(tmp_path)
