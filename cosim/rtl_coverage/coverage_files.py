"""The coverage files of a run: coverage-0.dat, coverage-1.dat …, one for each power-up of the design."""

from pathlib import Path

from cosim.build.errors import SimulationError
from cosim.rtl_coverage.file_coverage import FileCoverage, by_file, merged_points, read_points


class CoverageFiles:
    """The coverage files of one run. The files of an earlier run are removed.

    Args:
        folder: folder of the run, where the simulator runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for earlier in folder.glob("coverage-*.dat"):
            earlier.unlink()

    def plusargs(self, number: int) -> tuple[str, ...]:
        """The simulator's argument for the path of the file of simulation `number`."""
        return (f"+verilator+coverage+file+{self._file(number).name}",)

    def executed(self, simulations: int, broke_off: bool) -> tuple[FileCoverage, ...] | None:
        """The coverage of all simulations together; None where the only simulation was interrupted and wrote no file.

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
