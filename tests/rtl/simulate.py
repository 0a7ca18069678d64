"""Run a combinational Amaranth component on many inputs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from amaranth.lib.wiring import Component
from amaranth.sim import Simulator

Inputs = Mapping[str, int]


def outputs(component: Component, inputs: Iterable[Inputs], read: Callable[[Any], Any]) -> list[Any]:
    """What `read` sees of the component for each mapping of port paths (`x.sig`) to values."""
    seen = []

    async def testbench(ctx: Any) -> None:
        for values in inputs:
            for path, value in values.items():
                ctx.set(port(component, path), value)
            seen.append(read(ctx.get))

    simulator = Simulator(component)
    simulator.add_testbench(testbench)
    simulator.run()
    return seen


def port(component: Any, path: str) -> Any:
    """The signal at a dotted path of ports."""
    for name in path.split("."):
        component = getattr(component, name)
    return component
