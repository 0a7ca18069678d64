"""Co-simulation: a datapath runs in a simulator, and every result is compared with the golden model.

    >>> import cosim, golden
    >>> volta = golden.catalogue_units()[0]
    >>> report = cosim.run(volta, vectors=1000, seed=1)
    >>> report.passed, report.sent, report.received, report.mismatches
    (True, 1000, 1000, 0)

`run` simulates one unit, `rtl.MultiFormatDesign` or `rtl.TileDesign`; `run_many` simulates several at a time; `table` prints
their reports. A `Request`, or its fields as keywords, holds the stimulus and the simulator. A user design, described by
`load_dut("dut.toml")`, replaces the generated design. `cosim.bench` has the parts of a user's testbench: stimulus, driver,
monitor, scoreboard, coverage.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim.bench.comparison_rules import Compare
    from cosim.bench.scoreboard import Selection
    from cosim.build.errors import SimulationError
    from cosim.dut.connection import PortMismatch
    from cosim.dut.description import Dut, Reset, dut_from_table, load_dut
    from cosim.dut.generated import dut_like, load_ports
    from cosim.dut.tool_log import ElaborationError
    from cosim.regressions.coverage_job import coverage_job, coverage_units, main_job
    from cosim.runner.report import Report
    from cosim.runner.request import SIMULATORS, Request
    from cosim.runner.run import CampaignError, run, run_many
    from cosim.runner.text_report import summary, table

__all__ = [
    "SIMULATORS",
    "CampaignError",
    "Compare",
    "Dut",
    "ElaborationError",
    "PortMismatch",
    "Report",
    "Request",
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

_MODULES = {
    "SIMULATORS": "runner.request",
    "CampaignError": "runner.run",
    "Compare": "bench.comparison_rules",
    "Dut": "dut.description",
    "ElaborationError": "dut.tool_log",
    "PortMismatch": "dut.connection",
    "Report": "runner.report",
    "Request": "runner.request",
    "Reset": "dut.description",
    "Selection": "bench.scoreboard",
    "SimulationError": "build.errors",
    "coverage_job": "regressions.coverage_job",
    "coverage_units": "regressions.coverage_job",
    "dut_from_table": "dut.description",
    "dut_like": "dut.generated",
    "load_dut": "dut.description",
    "load_ports": "dut.generated",
    "main_job": "regressions.coverage_job",
    "run": "runner.run",
    "run_many": "runner.run",
    "summary": "runner.text_report",
    "table": "runner.text_report",
}
"""The module of each public name, imported when the name is first used, so that `cosim.bench` and the pytest plugin do not
import the runner. `golden.on_demand`, which does the same for other packages, would import the models with the plugin."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "bench"]
