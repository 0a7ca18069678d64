"""The coverage files of a run: a missing file is an error after a complete simulation; an earlier run's do not count."""

from pathlib import Path

import pytest

from cosim import SimulationError
from cosim.rtl_coverage.coverage_files import CoverageFiles
from tests.cosim.rtl_coverage.test_coverage_points import line, written


def test_files_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    written(tmp_path, line(9))
    files = CoverageFiles(tmp_path)
    with pytest.raises(SimulationError, match=r"coverage-0\.dat: must be a coverage file that Verilator wrote: "):
        files.executed(1, broke_off=False)


def test_simulation_that_broke_off_leaves_what_the_others_counted(tmp_path: Path) -> None:
    files = CoverageFiles(tmp_path)
    assert files.executed(1, broke_off=True) is None
    written(tmp_path, line(9))
    executed = files.executed(2, broke_off=True)
    assert executed is not None
    assert executed[0].lines == {12: 9, 13: 9, 14: 9, 16: 9}
    with pytest.raises(SimulationError, match=r"coverage-1\.dat: must be a coverage file that Verilator wrote: "):
        files.executed(2, broke_off=False)


def test_nothing_counted_is_no_full_coverage(tmp_path: Path) -> None:
    files = CoverageFiles(tmp_path)
    written(tmp_path)
    with pytest.raises(SimulationError, match="has counted nothing"):
        files.executed(1, broke_off=False)
