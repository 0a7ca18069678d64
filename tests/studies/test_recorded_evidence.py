"""The page of recorded rows, docs/evidence/recordings.md."""

import pytest

import golden
from golden.recordings.recording_index import FOLDER, read_index
from mmau.analysis.ablation import Finding
from studies.recorded_evidence import cell, family, page
from tests.docs.documents import ROOT

PAGE = (ROOT / "docs/evidence/recordings.md").read_text(encoding="utf-8")


def test_page_counts_the_rows_of_the_index() -> None:
    rows = sum(entry["rows"] for entry in read_index(FOLDER).values())
    assert f" {rows:,} rows in all, of which the models reproduce {rows:,}" in " ".join(PAGE.split())


@pytest.mark.long
def test_page_is_the_one_of_the_recordings() -> None:
    """All rows are replayed, and all keys changed."""
    assert page() == PAGE, "run: make recordings"


def test_cell_tells_pinned_unpinned_and_idle_changes_apart() -> None:
    findings = [
        Finding("F", "24 for 25", 1200, 3, None, ""),
        Finding("F", "26 for 25", 0, 0, 7, ""),
        Finding("L", "8 for 16", 3, 0, None, ""),
        Finding("F", "a", 0, 0, 0, "nothing is cut"),
        Finding("F", "b", 0, 0, 0, ""),
        Finding("F", "c", 0, 2, 0, ""),
    ]
    assert cell(findings, "F") == "1,200 / **0** / = / · / **0**"
    assert cell(findings, "rho") == ""


def test_families_are_what_names_share() -> None:
    names = {
        ("sm_90", "mma.m16n8k16.f32.f16.f16.f32"): "mma",
        ("sm_90", "wgmma.sp.m64n8k32.f16.f16.f16"): "wgmma.sp",
        ("sm_100", "tcgen05.m64n8k16.kind::f16.f32.f16.f16"): "tcgen05 kind::f16",
        ("gfx1201", "v_wmma_f32_16x16x16_f16_w32"): "v_wmma",
        ("x86-amx", "tdpbf16ps.m16n16k2"): "tdpbf16ps",
    }
    assert {key: family(golden.instruction(*key)) for key in names} == names
