"""Timing of a design: its protocol, latency, enable and reset; and adapters for signals of another form."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cocotb.types import LogicArray

from rtl.designs.design import Design
from rtl.designs.tile_design import TileDesign

PROTOCOLS = ("combinational", "fixed-latency", "valid", "in-ready", "valid-ready")
"""Protocols of operands and results. `combinational`: d follows the inputs. `fixed-latency`: operands every cycle, results
`latency` cycles later. `valid`: in_valid marks operands and out_valid results, without backpressure. `in-ready`: operands
wait until in_ready is high, and results are always taken. `valid-ready`: a transfer happens when valid and ready are both
high."""

HANDSHAKES: dict[str, tuple[str, ...]] = {
    "combinational": (),
    "fixed-latency": (),
    "valid": ("in_valid", "out_valid"),
    "in-ready": ("in_valid", "in_ready", "out_valid"),
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
        """The timing for JSON, by the names of the attributes."""
        return asdict(self)


class Inverted:
    """An active-low signal of one bit as an active-high one: `rst_ni` as the reset that driver and monitor use.

    Args:
        pin: the simulator's handle.
    """

    def __init__(self, pin: Any) -> None:
        self._pin = pin

    @property
    def value(self) -> Any:
        """The inverted value of the signal."""
        return ~self._pin.value

    @value.setter
    def value(self, level: int) -> None:
        self._pin.value = 1 - level


class Lanes:
    """Several signals that together hold one packed vector: separate ports for the elements, or the elements of an array.

    Args:
        pins: the simulator's handles; element 0 comes first and is in the low bits.
    """

    def __init__(self, pins: Sequence[Any]) -> None:
        self._pins = list(pins)

    def __len__(self) -> int:
        return sum(len(pin) for pin in self._pins)

    @property
    def value(self) -> LogicArray:
        """All elements, element 0 in the low bits."""
        return LogicArray("".join(str(pin.value) for pin in reversed(self._pins)))

    @value.setter
    def value(self, code: int) -> None:
        for pin in self._pins:
            pin.value = code & ((1 << len(pin)) - 1)
            code >>= len(pin)


class Field:
    """A range of bits of a signal, as a separate signal; made by `fields`."""

    def __init__(self, whole: "_Whole", low: int, width: int) -> None:
        self._whole, self._low, self._width = whole, low, width

    def __len__(self) -> int:
        return self._width

    @property
    def value(self) -> LogicArray:
        """The value of the bits."""
        return LogicArray(str(self._whole.pin.value)[::-1][self._low : self._low + self._width][::-1])

    @value.setter
    def value(self, code: int) -> None:
        mask = ((1 << self._width) - 1) << self._low
        self._whole.code = self._whole.code & ~mask | code << self._low & mask
        self._whole.pin.value = self._whole.code


@dataclass
class _Whole:
    """A signal and the value last written to it."""

    pin: Any
    code: int = 0


def fields(pin: Any, **widths: int) -> dict[str, Any]:
    """Split a signal into fields: `fields(dut.s_axis_tdata, a=64, b=64, c=32)`, the first in the low bits."""
    whole, low, found = _Whole(pin), 0, {}
    for name, width in widths.items():
        found[name] = Field(whole, low, width)
        low += width
    return found
