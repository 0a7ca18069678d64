"""The files that the simulations of a run leave: coverage-0.dat and on, one for each time the design is powered up."""

from pathlib import Path

from cosim.compile.errors import SimulationError
from cosim.rtl_coverage.files import FileCoverage, by_file
from cosim.rtl_coverage.points import merged_points, read_points


class CoverageFiles:
    """Those of one run; those of an earlier one are removed.

    Args:
        folder: of the run, where the simulator runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for earlier in folder.glob("coverage-*.dat"):
            earlier.unlink()

    def plusargs(self, number: int) -> tuple[str, ...]:
        """Tell a simulation where to write."""
        return (f"+verilator+coverage+file+{self._file(number).name}",)

    def executed(self, simulations: int, broke_off: bool) -> tuple[FileCoverage, ...] | None:
        """What all simulations together executed. One that breaks off may leave no file: None where none has.

        Raises:
            SimulationError: a file is missing or damaged.
        """
        files = [self._file(number) for number in range(simulations)]
        if broke_off and not files[-1].exists():
            files.pop()
        if not files:
            return None
        points = merged_points([(file, read_points(file)) for file in files])
        if not points:
            raise SimulationError(f"{files[0]}: Verilator has counted nothing: are all sources under coverage_off?")
        return by_file(points)

    def _file(self, number: int) -> Path:
        return self._folder / f"coverage-{number}.dat"
