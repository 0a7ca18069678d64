"""The parts of a testbench for any cocotb test: stimulus, driver, monitor, scoreboard, coverage.

`exercise` puts them together and drives clock and reset itself. Under a clock of one's own, `Driver` and `Monitor` are
stepped once a cycle. What a design must answer is a `Specification`: `specification_of` gives golden's for a generated
design, `own_rows` helps to write another. docs/testbench.md shows all of it.
"""

from cosim.bench.comparison import Compare
from cosim.bench.coverage import Coverage
from cosim.bench.driver import Driver
from cosim.bench.exercise import exercise
from cosim.bench.handshake import Stalls
from cosim.bench.monitor import Monitor
from cosim.bench.outcome import Outcome
from cosim.bench.own import OwnRows, PortCodes, own_rows
from cosim.bench.pins import Inverted, Lanes, fields
from cosim.bench.products import Chunk, DotProducts, Element, Vector
from cosim.bench.rows import Bits, Rows
from cosim.bench.scoreboard import Result, Scoreboard
from cosim.bench.stimulus import Specification, specification_of
from cosim.bench.timing import Timing
from golden.stimulus import Stimulus

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
    "OwnRows",
    "PortCodes",
    "Result",
    "Rows",
    "Scoreboard",
    "Specification",
    "Stalls",
    "Stimulus",
    "Timing",
    "Vector",
    "exercise",
    "fields",
    "own_rows",
    "specification_of",
]
