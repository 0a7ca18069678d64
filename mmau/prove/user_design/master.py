"""The most general master of a protocol: everything that a producer of operands and a consumer of results may do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cosim.dut.connection import Operand
from cosim.dut.description import EACH, START_DONE, Dut


@dataclass(frozen=True)
class Channel:
    """Operands that are offered together.

    Attributes:
        valid: the input of the design that offers them. ready: its output that takes them; None if they are always taken.
        ports: their ports.
    """

    valid: str
    ready: str | None
    ports: tuple[str, ...]


@dataclass(frozen=True)
class Master:
    """What drives a design with a handshake.

    A channel may be offered in any cycle, for the next result whose operand it has not given yet, however far the other
    channels are. A port of a channel that is not offered may hold anything.

    Attributes:
        channels: of all operands, in order. beside: operands without a channel: they hold the value for the oldest result
            of which an operand is lacking, and no channel is ahead of it.
        shown: the output that shows a result. taken: the input that takes it; None if each is always taken.
        whole: the output that tells that what is shown is all of a result, and not a part of it, which is taken by itself;
            None if there are no parts.
        is_single: whether one result at a time is computed: `shown` may be 1 from one cycle on, or until the next start,
            and d is the result for as long.
        busy: the output that forbids a start, or None. With it a start may come in the cycle of `shown`, if it is 0 there;
            without it in the cycle after.
        holds: whether ports keep operands from the start until the result is shown.
        is_counted: whether operands enter in several transfers, which the wrapper counts: they are offered until the last
            is taken. is_steady: whether they then come without a pause.
    """

    channels: tuple[Channel, ...]
    shown: str = "out_valid"
    taken: str | None = None
    whole: str | None = None
    beside: tuple[str, ...] = ()
    is_single: bool = False
    busy: str | None = None
    holds: bool = False
    is_counted: bool = False
    is_steady: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of a design that it drives, one bit each."""
        return (*(channel.valid for channel in self.channels), *([self.taken] if self.taken else []))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs of a design that it heeds, one bit each."""
        ready = (channel.ready for channel in self.channels)
        return self.shown, *(name for name in (*ready, self.busy, self.whole) if name is not None)

    def assumed(self) -> Iterator[str]:
        """What a user may not expect of it."""
        if len(self.channels) > 1:
            yield "no operand is held back until another one of its result is taken"
        if self.beside:
            names = ", ".join(self.beside)
            yield f"each operand is offered after all operands of the result before are taken; no handshake has: {names}"
        if self.is_single:
            start = "in a later cycle than done"
            if self.busy is not None:
                later = (
                    f"{start}, until which the ports hold the operands" if self.holds else "in the cycle of done or later"
                )
                start = f"while busy is 0, {later}"
            yield f"start comes {start}, and d is read while done is 1"


def master_of(dut: Dut, operands: Iterable[Operand]) -> Master:
    """The master of a design with valid signals.

    Args:
        operands: those of the whole result.
    """
    inputs = (operand for operand in operands if operand.direction == "input")
    ports = tuple(operand.name for operand in inputs if operand.width and operand.is_in_design)
    whole = "is_whole" if dut.has_waiting_parts else None
    if dut.protocol == START_DONE:
        busy = "busy" if "busy" in dut.signals else None
        return Master((Channel("start", None, ports),), "done", is_single=True, busy=busy, holds=dut.hold_operands)
    if dut.protocol == EACH:
        own = [port for port in ports if f"{port}_valid" in dut.signals]
        channels = tuple(Channel(f"{port}_valid", f"{port}_ready", (port,)) for port in own)
        return Master(channels, taken="out_ready", whole=whole, beside=tuple(port for port in ports if port not in own))
    controls = dut.timing.controls
    ready, taken = (name if name in controls else None for name in ("in_ready", "out_ready"))
    is_counted = dut.beats is not None
    is_steady = is_counted and "in_valid" not in dut.signals
    channels = (Channel("in_valid", ready, ports),)
    return Master(channels, taken=taken, whole=whole, is_counted=is_counted, is_steady=is_steady)
