"""Pipeline registers at named cut points, with a valid/ready handshake that is safe under backpressure."""

from typing import Any

from amaranth import Module, Signal, Value

CUT_POINTS = ("operands", "decode", "multiply", "max_exp", "align", "accumulate", "normalise", "encode")
"""Where a register can stand: before decode (`operands`), or after the step of that name, in the order of the steps."""

CUTS: tuple[tuple[str, ...], ...] = (
    (),
    ("encode",),
    ("align", "encode"),
    ("max_exp", "accumulate", "encode"),
    ("multiply", "align", "accumulate", "encode"),
    ("multiply", "max_exp", "align", "accumulate", "encode"),
    ("multiply", "max_exp", "align", "accumulate", "normalise", "encode"),
    ("operands", "multiply", "max_exp", "align", "accumulate", "normalise", "encode"),
    CUT_POINTS,
)
"""The cut points of a unit with that many stages, chosen so that the longest path between registers shrinks each time."""

Bundle = dict[str, Value]
"""The values that pass from one step to the next, by name."""


class Pipeline:
    """Registers between the steps of one datapath; the latency is the number of stages, the throughput one a cycle.

    Register i takes new contents when it is empty or register i + 1 takes its contents, so a stall at the output stops only
    what is behind it, and bubbles close up.

    Args:
        m: the datapath's module.
        stages: number of registers, 0 to 8.
        in_valid, out_ready: handshake inputs; unused with 0 stages.
    """

    def __init__(self, m: Module, stages: int, in_valid: Value, out_ready: Value) -> None:
        self._m = m
        self._cuts = CUTS[stages]
        self._valid = [in_valid, *(Signal(name=f"valid_{name}") for name in self._cuts)]
        self._takes = [Signal(name=f"takes_{name}") for name in self._cuts]
        following = [*self._takes[1:], out_ready]
        for before, valid, takes, after in zip(self._valid, self._valid[1:], self._takes, following, strict=False):
            m.d.comb += takes.eq(~valid | after)
            with m.If(takes):
                m.d.sync += valid.eq(before)

    @property
    def in_ready(self) -> Value:
        """Whether the first register takes an input in this cycle."""
        return self._takes[0]

    @property
    def out_valid(self) -> Value:
        """Whether the last register holds a result."""
        return self._valid[-1]

    def cut(self, point: str, values: Bundle) -> Bundle:
        """The values as seen after that cut point: registered where a register stands there, else unchanged."""
        if point not in self._cuts:
            return values
        registers = {name: Signal.like(value, name=f"{point}_{name}", reset_less=True) for name, value in values.items()}
        with self._m.If(self._takes[self._cuts.index(point)]):
            self._m.d.sync += [registers[name].eq(value) for name, value in values.items()]
        return dict(registers)


def flatten(name: str, interface: Any) -> Bundle:
    """The members of a component's port, as `<name>_<member>`."""
    return {f"{name}_{member}": getattr(interface, member) for member in interface.signature.members}


def drive(m: Module, interface: Any, name: str, values: Bundle) -> None:
    """Drive a component's port from the values `<name>_<member>`."""
    m.d.comb += [getattr(interface, member).eq(values[f"{name}_{member}"]) for member in interface.signature.members]


def kept(values: Bundle, *names: str) -> Bundle:
    """The values that a step passes on untouched: those of that name, and members of ports of that name."""
    return {key: value for key, value in values.items() if any(key == n or key.startswith(f"{n}_") for n in names)}
