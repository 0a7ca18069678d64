"""The progress of one instruction: it goes through JSON, and a stopped instruction can be opened again."""

import pytest

from hwtests.conform.instruction_progress import Progress


@pytest.mark.parametrize(
    ("status", "after"),
    [("hung", "running"), ("crashed", "running"), ("failed", "running"), ("done", "done"), ("dependent", "dependent")],
)
def test_what_stopped_is_opened_again(status: str, after: str) -> None:
    progress = Progress(status=status, detail="why")
    progress.open_again()
    assert (progress.status, progress.detail) == (after, "" if after == "running" else "why")
