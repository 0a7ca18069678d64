"""Co-simulation: a datapath in a simulator, checked vector by vector against the golden model.

    >>> import cosim, golden
    >>> volta = golden.catalogue_units()[0]
    >>> report = cosim.run(volta, vectors=1000, seed=1)
    >>> report.passed, report.sent, report.received, report.mismatches
    (True, 1000, 1000, 0)

`run` takes one unit, or a `rtl.MultiFormatDesign`, or a `rtl.TileDesign`; `run_many` several side by side; `table` shows
their reports. Verilog of one's own takes the place of the generated one: `load_dut("dut.toml")` says how it is driven. For a
testbench of one's own, `cosim.bench` has the parts: stimulus, driver, monitor, scoreboard, coverage.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim.bench.comparison import Compare
    from cosim.bench.selection import Selection
    from cosim.compile.errors import SimulationError
    from cosim.dut.connection import PortMismatch
    from cosim.dut.description import Dut, Reset, dut_from_table, load_dut
    from cosim.dut.elaborate import ElaborationError
    from cosim.dut.generated import dut_like, load_ports
    from cosim.regressions.coverage_job import coverage_job, coverage_units
    from cosim.regressions.main_job import main_job
    from cosim.runner.build import SIMULATORS
    from cosim.runner.report import Report
    from cosim.runner.run import CampaignError, run, run_many
    from cosim.runner.text import summary, table

__all__ = [
    "SIMULATORS",
    "CampaignError",
    "Compare",
    "Dut",
    "ElaborationError",
    "PortMismatch",
    "Report",
    "Reset",
    "Selection",
    "SimulationError",
    "coverage_job",
    "coverage_units",
    "dut_from_table",
    "dut_like",
    "load_dut",
    "load_ports",
    "main_job",
    "run",
    "run_many",
    "summary",
    "table",
]

_MODULES = (
    "bench.comparison",
    "bench.selection",
    "dut.connection",
    "dut.description",
    "dut.elaborate",
    "dut.generated",
    "runner.build",
    "compile.errors",
    "runner.report",
    "runner.run",
    "runner.text",
    "regressions.coverage_job",
    "regressions.main_job",
)
"""Where these names are. They are imported when one is asked for: `cosim.bench` does without the runner."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            found = import_module(f"{__name__}.{module}")
            if name in vars(found):
                return vars(found)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
