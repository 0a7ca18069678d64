"""The page of recorded rows, docs/evidence/recordings.md."""

import pytest

from golden.recordings.recording_index import FOLDER, read_index
from studies.recorded_evidence import page
from tests.docs.documents import ROOT

PAGE = (ROOT / "docs/evidence/recordings.md").read_text(encoding="utf-8")


def test_page_counts_the_rows_of_the_index() -> None:
    rows = sum(entry["rows"] for entry in read_index(FOLDER).values())
    assert f" {rows:,} rows in all, of which the models reproduce {rows:,}" in " ".join(PAGE.split())


@pytest.mark.long
def test_page_is_the_one_of_the_recordings() -> None:
    """All rows are replayed, and all keys changed."""
    assert page() == PAGE, "run: make recordings"
