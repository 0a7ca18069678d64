"""Stand-ins for a simulator's handles, where a design's signals are not those that driver and monitor know."""

from collections.abc import Sequence
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
