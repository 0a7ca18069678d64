"""Co-simulation: a datapath in a simulator, checked vector by vector against the golden model.

    >>> import cosim, golden
    >>> volta = golden.catalogue_units()[0]
    >>> report = cosim.run(volta, vectors=1000, seed=1)
    >>> report.passed, report.sent, report.received, report.mismatches
    (True, 1000, 1000, 0)

`run` takes one unit, or a `MultiFormat` datapath, or a `Tile`; `run_many` several side by side; `table` shows their reports.
A design of one's own takes the place of the generated one with `Design`.
"""

from cosim.bench.subject import MultiFormat, OneUnit, Subject
from cosim.bench.tile import Tile
from cosim.regressions.coverage_job import coverage_job, coverage_units
from cosim.regressions.main_job import main_job
from cosim.runner.design import Design, load_ports
from cosim.runner.report import Report, summary, table
from cosim.runner.run import SIMULATORS, SimulationError, run, run_many
from cosim.runner.tools import MissingTool

__all__ = [
    "SIMULATORS",
    "Design",
    "MissingTool",
    "MultiFormat",
    "OneUnit",
    "Report",
    "SimulationError",
    "Subject",
    "Tile",
    "coverage_job",
    "coverage_units",
    "load_ports",
    "main_job",
    "run",
    "run_many",
    "summary",
    "table",
]
