"""How a design is timed: its protocol, and what the testbench must know to drive it."""

from dataclasses import asdict, dataclass
from typing import Any

from rtl.designs.design import Design
from rtl.designs.tile_design import TileDesign

PROTOCOLS = ("combinational", "fixed-latency", "valid", "valid-ready")
"""How operands and results are timed. `combinational`: d follows the inputs. `fixed-latency`: operands every cycle, results
`latency` cycles later. `valid`: in_valid marks operands, out_valid results, and nothing waits. `valid-ready`: a transfer
happens when valid and ready are both high."""

HANDSHAKES: dict[str, tuple[str, ...]] = {
    "combinational": (),
    "fixed-latency": (),
    "valid": ("in_valid", "out_valid"),
    "valid-ready": ("in_valid", "in_ready", "out_valid", "out_ready"),
}
"""Protocol to the handshake ports that it has."""


@dataclass(frozen=True)
class Timing:
    """How a design is driven.

    Attributes:
        protocol: one of `PROTOCOLS`.
        latency: clock edges from operands to result, of fixed-latency alone.
        stages: of a pipeline that takes operands whenever it has room or gives a result; 0 where nothing is known of that.
        enable: whether there is an input `en`, without which no register changes.
        reset: "none", "synchronous" or "asynchronous"; `rst` is active high here, whatever the design has.
    """

    protocol: str
    latency: int = 0
    enable: bool = False
    reset: str = "none"
    stages: int = 0

    @classmethod
    def of_design(cls, design: Design) -> "Timing":
        """How a generated design is driven."""
        stages = design.implementation.stages
        if not stages:
            return cls("combinational")
        return cls("valid-ready", reset="synchronous", stages=0 if isinstance(design, TileDesign) else stages)

    @property
    def controls(self) -> tuple[str, ...]:
        """Ports beside operands and result."""
        clocked = () if self.protocol == "combinational" else ("clk",)
        reset = () if self.reset == "none" else ("rst",)
        return (*clocked, *reset, *(("en",) if self.enable else ()), *HANDSHAKES[self.protocol])

    def as_table(self) -> dict[str, Any]:
        """For JSON: `Timing(**table)` is equal."""
        return asdict(self)
