"""The progress of one instruction: it goes through JSON, and a stopped instruction can be opened again."""

import json
from dataclasses import asdict

import pytest

from hwtests.conform.instruction_progress import Progress


def test_progress_goes_through_json() -> None:
    progress = Progress(vectors={"bits": 7}, mismatches={"bits": 2}, nans={"0x7fffffff": 1}, sha256={"": "0"})
    assert Progress(**json.loads(json.dumps(asdict(progress)))) == progress
    assert (progress.total(), progress.wrong()) == (7, 2)


@pytest.mark.parametrize(
    ("status", "after"),
    [("hung", "running"), ("crashed", "running"), ("failed", "running"), ("done", "done"), ("dependent", "dependent")],
)
def test_what_stopped_is_opened_again(status: str, after: str) -> None:
    progress = Progress(status=status, detail="why")
    progress.open_again()
    assert (progress.status, progress.detail) == (after, "" if after == "running" else "why")
