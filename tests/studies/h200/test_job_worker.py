"""The worker's compiling ahead: never longer than there is time, and never the end of a call."""

import time
from typing import Any

import pytest

from studies.h200.job_stages import PREBUILD, Job
from studies.h200.job_worker import prebuilt
from tests.studies.h200.stand_in import ModelDevice, right


class Compiling(ModelDevice):
    """Notes how long it may compile, or cannot."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__(right)
        self.error, self.given = error, -1.0

    def prebuild(self, seconds: float) -> int:
        self.given = seconds
        if self.error is not None:
            raise self.error
        return 7


def job(left: float, budget: float) -> Job:
    return Job(results="", ends=time.monotonic() + left, budgets={PREBUILD: budget})


@pytest.mark.parametrize(("left", "budget", "most"), [(500.0, 45.0, 45.0), (30.0, 45.0, 15.0), (500.0, 3.0, 3.0)])
def test_compiling_ahead_takes_what_is_left_at_most(left: float, budget: float, most: float) -> None:
    """A slow start of the device comes off what is left, not on top of it."""
    device, given = Compiling(), job(left, budget)
    time.sleep(0.05)
    assert prebuilt(device, given) == {"kernels": 7, "note": ""}
    assert most - 0.2 < device.given <= min(budget, (left - 0.05) / 2)


@pytest.mark.parametrize(("left", "budget"), [(-1.0, 45.0), (500.0, 0.0)])
def test_no_time_is_left_to_compile_ahead(left: float, budget: float) -> None:
    device = Compiling()
    assert prebuilt(device, job(left, budget)) == {"kernels": 0, "note": "no time is left to compile ahead"}
    assert device.given == -1.0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
def test_compiling_ahead_that_fails_is_a_note(error: Exception, words: str) -> None:
    found: dict[str, Any] = prebuilt(Compiling(error), job(500.0, 45.0))
    assert found == {"kernels": 0, "note": f"nothing is compiled ahead: {words}"}
