"""Files that a design writes while it is simulated: none is taken for the run's report or job."""

from pathlib import Path

import pytest

import cosim
from cosim.runner.job import Simulated
from tests.cosim.runner.reports import passed
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong, clocked

pytestmark = [pytest.mark.simulator, pytest.mark.long, pytest.mark.attack("designs by hand, in cosim")]


PASSED = Simulated(outcome=passed(), seconds=1.0).to_json()


def writing(when: str, file: str, text: str, then: str = "") -> Wrong:
    """A design that gives 0 for every operand, and writes a file of that name into the folder where it runs."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    written = f'fd = $fopen("{file}", "w"); $fwrite(fd, "{quoted}"); $fclose(fd); {then}'
    return clocked(f"always_ff @(posedge clk) d <= 32'd0; int fd; {when} begin {written} end", "")


@pytest.mark.parametrize(
    "wrong",
    [
        writing("initial", "simulated.json", PASSED, "$finish;"),
        writing("final", "simulated.json", PASSED),
        writing("initial", "job.json", "{}"),
    ],
    ids=["a report at the beginning", "a report at the end", "a job"],
)
def test_a_file_of_the_design_decides_nothing(wrong: Wrong, tmp_path: Path) -> None:
    report = cosim.run(PRODUCT, vectors=60, dut=wrong.described(tmp_path))
    assert not report.passed
    assert report.mismatches or (report.stopped or "").startswith("the design ended the simulation")
    assert "it reads more than its ports: $fopen" in report.other_readings
