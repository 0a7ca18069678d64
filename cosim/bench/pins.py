"""Stand-ins for a simulator's handles, where a design's signals are not those that driver and monitor know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocotb.types import LogicArray


class Inverted:
    """A signal of one bit that is active low: `rst_ni` as the reset that driver and monitor know, active high.

    Args:
        pin: the simulator's handle.
    """

    def __init__(self, pin: Any) -> None:
        self._pin = pin

    @property
    def value(self) -> Any:
        """The opposite of the signal's value."""
        return ~self._pin.value

    @value.setter
    def value(self, level: int) -> None:
        self._pin.value = 1 - level


class Lanes:
    """Several signals as one packed vector: separate ports for the elements, or the elements of an array.

    Args:
        pins: the simulator's handles, element 0 first, which stands in the low bits.
    """

    def __init__(self, pins: Sequence[Any]) -> None:
        self._pins = list(pins)

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
    """Some bits of a signal that other bits share, as a signal of its own. `fields` makes them."""

    def __init__(self, whole: "_Whole", low: int, width: int) -> None:
        self._whole, self._low, self._width = whole, low, width

    @property
    def value(self) -> LogicArray:
        """The bits."""
        return LogicArray(str(self._whole.pin.value)[::-1][self._low : self._low + self._width][::-1])

    @value.setter
    def value(self, code: int) -> None:
        mask = ((1 << self._width) - 1) << self._low
        self._whole.code = self._whole.code & ~mask | code << self._low & mask
        self._whole.pin.value = self._whole.code


@dataclass
class _Whole:
    """A signal, and what was last written to it."""

    pin: Any
    code: int = 0


def fields(pin: Any, **widths: int) -> dict[str, Any]:
    """A signal that holds several: `fields(dut.s_axis_tdata, a=64, b=64, c=32)`, the first in the low bits."""
    whole, low, found = _Whole(pin), 0, {}
    for name, width in widths.items():
        found[name] = Field(whole, low, width)
        low += width
    return found
