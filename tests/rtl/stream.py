"""Drive a component with a valid/ready handshake: random gaps at the input, stalls at the output."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amaranth import Signal, Value
from amaranth.hdl import Elaboratable
from amaranth.lib import stream
from amaranth.sim import Simulator

Show = Callable[[Any], None]
"""Sets the operands of one transfer, given the simulator's context."""


class Handshake:
    """The ports of a component, whatever they are called.

    Attributes:
        in_valid, in_ready, out_valid, out_ready: the handshake.
        result: what a transfer at the output hands over.
    """

    def __init__(self, in_valid: Value, in_ready: Value, out_valid: Value, out_ready: Value, result: Any) -> None:
        self.in_valid, self.in_ready = in_valid, in_ready
        self.out_valid, self.out_ready, self.result = out_valid, out_ready, result

    @classmethod
    def of_ports(cls, component: Any) -> "Handshake":
        """A datapath or a tile."""
        return cls(component.in_valid, component.in_ready, component.out_valid, component.out_ready, component.d)

    @classmethod
    def of_streams(cls, operands: stream.Interface, results: stream.Interface) -> "Handshake":
        """Two streams of Amaranth."""
        return cls(operands.valid, operands.ready, results.valid, results.ready, results.payload.d)


def ports_shown(component: Any, row: Mapping[str, int]) -> Show:
    """Sets the ports of these names."""

    def show(ctx: Any) -> None:
        for name, value in row.items():
            ctx.set(getattr(component, name), value)

    return show


def stream_through(
    component: Elaboratable,
    ports: Handshake,
    transfers: Sequence[Show],
    count: int,
    in_idle: float,
    out_stall: float,
    noise: Signal | None = None,
) -> tuple[list[int], int]:
    """The results of all transfers, and the cycles that they took; a result that waits must not change, and none come after.

    Args:
        count: results to wait for.
        in_idle, out_stall: how often no transfer is offered at the input, and none taken at the output.
        noise: a port that holds random bits while in_valid is low.
    """
    rng = random.Random(5)
    results: list[int] = []
    cycles = 0

    async def source(ctx: Any) -> None:
        for show in transfers:
            while rng.random() < in_idle:
                if noise is not None:
                    ctx.set(noise, rng.getrandbits(len(noise)))
                await ctx.tick()
            show(ctx)
            ctx.set(ports.in_valid, 1)
            await ctx.tick().until(ports.in_ready)
            ctx.set(ports.in_valid, 0)

    async def sink(ctx: Any) -> None:
        nonlocal cycles
        waiting: int | None = None
        while len(results) < count:
            assert cycles < 60 * len(transfers) + 200, "the component does not answer"
            ctx.set(ports.out_ready, rng.random() >= out_stall)
            _, _, valid, ready, d = await ctx.tick().sample(ports.out_valid, ports.out_ready, ports.result)
            cycles += 1
            assert waiting is None or (valid and d == waiting), "a result that waits must not change"
            waiting = d if valid and not ready else None
            if valid and ready:
                results.append(d)
        for _ in range(30):
            ctx.set(ports.out_ready, 1)
            _, _, valid = await ctx.tick().sample(ports.out_valid)
            assert not valid, "a result that nothing asked for"

    simulator = Simulator(component)
    simulator.add_clock(1e-6)  # type: ignore[no-untyped-call]  # Amaranth's stubs give no types here
    simulator.add_testbench(source, background=True)  # where it waits for ever, the sink gives up
    simulator.add_testbench(sink)
    simulator.run()  # type: ignore[no-untyped-call]
    return results, cycles
