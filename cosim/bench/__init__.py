"""The parts of a testbench for any cocotb test: stimulus, driver, monitor, scoreboard, coverage.

`exercise` connects them and drives clock and reset. A testbench that drives its own clock calls `Driver` and `Monitor` once
a cycle. A `Specification` holds the stimulus and the expected results: `specification_of` returns golden's for a generated
design, `user_rows` helps to write another one. docs/guides/testbench.md shows examples.
"""

from typing import TYPE_CHECKING

from cosim.bench.comparison_rules import Compare
from cosim.bench.coverage import Coverage
from cosim.bench.handshake import Driver, Monitor, Stalls
from cosim.bench.products import Bits, Chunk, DotProducts, Element, Rows, Vector
from cosim.bench.protocol import Inverted, Lanes, Timing, fields
from cosim.bench.run_vectors import exercise
from cosim.bench.scoreboard import Outcome, Result, Scoreboard
from cosim.bench.stimulus import Specification, specification_of
from golden.on_demand import on_demand
from golden.stimulus import Stimulus

if TYPE_CHECKING:
    from cosim.bench.given_rows import PortCodes, UserRows, user_rows

__all__ = [
    "Bits",
    "Chunk",
    "Compare",
    "Coverage",
    "DotProducts",
    "Driver",
    "Element",
    "Inverted",
    "Lanes",
    "Monitor",
    "Outcome",
    "PortCodes",
    "Result",
    "Rows",
    "Scoreboard",
    "Specification",
    "Stalls",
    "Stimulus",
    "Timing",
    "UserRows",
    "Vector",
    "exercise",
    "fields",
    "specification_of",
    "user_rows",
]

# A generated design does without a user's rows.
__getattr__, __dir__ = on_demand(__name__, dict.fromkeys(("PortCodes", "UserRows", "user_rows"), "given_rows"), __all__)
