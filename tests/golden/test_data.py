"""The files of tests/data are what their README and digests say."""

import hashlib

import numpy as np
import pytest

from tests.data.load import FOLDER, SILICON_FILE, VECTORS_FILE, X86_FILES, index, x86_recordings

FILES = (VECTORS_FILE, SILICON_FILE, *X86_FILES)


def test_digests_are_the_committed_ones() -> None:
    lines = (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert {name: digest for digest, name in (line.split() for line in lines)} == found


def test_all_data_is_small_and_named_in_the_readme() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(FILES) == set(FOLDER.glob("*.npz"))
    assert sum(path.stat().st_size for path in FILES) < 12_000_000
    assert all(f"`{path.name}`" in readme for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_arrays_are_those_of_the_index(path) -> None:  # type: ignore[no-untyped-def]
    """Nothing is missing, nothing is left over, and all rows of an entry have one length."""
    archive = np.load(path, allow_pickle=False)
    arrays = {name: archive[name] for name in archive.files if name != "index"}
    used = set()
    for number, entry in enumerate(index(path)):
        own = {
            key: arrays[f"{number}_{key}"]
            for key in ("a", "b", "c", "d", "sa", "sb", "label")
            if f"{number}_{key}" in arrays
        }
        if "same_data_as" in entry:
            assert not own
            continue
        used |= {f"{number}_{key}" for key in own}
        rows = entry["rows"] if "rows" in entry else entry["per_class"] * len(entry["classes"])
        k = entry.get("k", entry.get("K"))
        assert own["a"].shape == own["b"].shape == (rows, k)
        assert own["c"].shape == own["d"].shape == (rows,)
        assert all(len(column) == rows and column.dtype.kind == "u" for column in own.values())
        assert {"sa", "sb"} <= own.keys() or not {"sa", "sb"} & own.keys()
    assert used == arrays.keys()


def test_x86_recordings_are_of_nine_instructions_on_two_processors() -> None:
    found = x86_recordings()
    assert [sum(r.rows for r in found if r.file == file) for file in X86_FILES] == [167_936, 40_960]
    assert {recording.instruction for recording in found} == {
        "TDPBF16PS", "VDPBF16PS", "VFMADDPH", "TDPBSSD", "TDPBSUD", "TDPBUSD", "TDPBUUD", "VPDPBUSD", "VPDPBUSDS",
    }  # fmt: skip
    cpus = {(e["cpu"]["vendor_id"], e["cpu"]["model"], e["cpu"]["stepping"]) for file in X86_FILES for e in index(file)}
    assert cpus == {("GenuineIntel", "207", "2"), ("AuthenticAMD", "2", "1")}
    for recording in found:
        labels = recording.labels()
        assert recording.names == ("uniform",) if labels is None else labels.max() < len(recording.names)
