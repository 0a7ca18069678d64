"""Timing of a design: its protocol, latency, enable and reset."""

from dataclasses import asdict, dataclass
from typing import Any

from rtl.designs.design import Design
from rtl.designs.tile_design import TileDesign

PROTOCOLS = ("combinational", "fixed-latency", "valid", "valid-ready")
"""Protocols of operands and results. `combinational`: d follows the inputs. `fixed-latency`: operands every cycle, results
`latency` cycles later. `valid`: in_valid marks operands and out_valid results, without backpressure. `valid-ready`: a
transfer happens when valid and ready are both high."""

HANDSHAKES: dict[str, tuple[str, ...]] = {
    "combinational": (),
    "fixed-latency": (),
    "valid": ("in_valid", "out_valid"),
    "valid-ready": ("in_valid", "in_ready", "out_valid", "out_ready"),
}
"""The handshake ports of each protocol."""


@dataclass(frozen=True)
class Timing:
    """How a design is driven.

    Attributes:
        protocol: one of `PROTOCOLS`.
        latency: clock edges from operands to result, for `fixed-latency` only.
        enable: whether there is an input `en`; no register changes while it is low.
        reset: "none", "synchronous" or "asynchronous"; `rst` is active high here, whatever the polarity in the design.
        stages: stages of a pipeline that must accept operands unless it is full and its result is not taken; 0 where the
            design need not do so.
    """

    protocol: str
    latency: int = 0
    enable: bool = False
    reset: str = "none"
    stages: int = 0

    @classmethod
    def of_design(cls, design: Design) -> "Timing":
        """The timing of a generated design."""
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
        """The timing for JSON: `Timing(**table)` is equal to it."""
        return asdict(self)
