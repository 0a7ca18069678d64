"""The recordings that the project holds: whole, listed, of the origin that their READMEs say, beside their licences."""

from collections import Counter
from pathlib import Path

import pytest

import golden
from golden.recordings.recording import KINDS, OWN
from golden.recordings.recording_index import (
    COMPUTED,
    ELSEWHERE,
    FOLDER,
    held,
    read_elsewhere,
    read_index,
    read_listed,
)
from tests.data.load import H100, MATLAB, MMA_SIM, RDNA, TENSORSCOPE, X86

HELD = list(held())
LICENSES = {"BSD-2-Clause": "Redistribution and use in source and binary forms", "MIT": "Permission is hereby granted"}
"""The text of a licence's notice."""


@pytest.mark.parametrize("folder", [FOLDER, COMPUTED], ids=["silicon", "computed"])
def test_folder_holds_what_the_index_lists(folder: Path) -> None:
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.npz")} == read_index(folder).keys()


@pytest.mark.slow
@pytest.mark.parametrize("folder", [FOLDER, COMPUTED], ids=["silicon", "computed"])
def test_every_file_is_what_the_index_says(folder: Path) -> None:
    """Digest, device, who, licence, rows and special operands: `read_listed` refuses anything else."""
    for name, entry in read_index(folder).items():
        assert len(read_listed(folder, name)) == entry["rows"]


def test_rows_by_who_recorded_them() -> None:
    rows: Counter[str] = Counter()
    for _, name, entry in HELD:
        rows[name.rpartition("/")[0].partition("/")[0]] += entry["rows"]
    of_others = {MMA_SIM: 31_296, MATLAB: 84_000, TENSORSCOPE: 445, RDNA[0]: 10_768, RDNA[1]: 18_432}
    assert dict(rows) == of_others | {H100: 332_509, X86[0]: 167_936, X86[1]: 40_960, "": 3 * 20_480}


def test_computed_rows_lie_apart_and_are_called_so() -> None:
    assert {entry["kind"] for _, _, entry in HELD} <= KINDS.keys()
    for folder, _, entry in HELD:
        assert (entry["kind"] == "computed") is (folder == COMPUTED)


def test_licence_of_others_stands_beside_their_rows() -> None:
    for folder, name, entry in HELD:
        if entry["who"] != OWN:
            notice = folder / name.partition("/")[0] / "LICENSE"
            assert LICENSES[entry["licence"]] in notice.read_text(encoding="utf-8"), notice
            assert entry["source"]
            assert entry["commit"]


def test_reports_elsewhere_name_instructions_of_the_catalogue_and_the_test_that_compares_them() -> None:
    (report,) = read_elsewhere(FOLDER)
    assert report["licence"] == "none"
    assert not [name for name in read_index(FOLDER) if "sm_120" in name]
    for name in report["instructions"]:
        assert golden.instruction(report["arch"], name).evidence == "third-party"
    assert (FOLDER.parents[1] / report["compared_by"]).is_file()
    assert ELSEWHERE in (FOLDER / "README.md").read_text(encoding="utf-8")
