"""The SystemVerilog wrapper that gives a user design the ports of a unit: packed vectors, element 0 in the low bits.

The wrapper connects by name to the ports of the elaborated design. Its only logic is an inverter for an active-low reset,
and the adapter of a protocol that no bench drives (adapter.py).
"""

from collections.abc import Mapping, Sequence

from cosim.bench.protocol import HANDSHAKES
from cosim.dut.adapter import adapter, idle_bits
from cosim.dut.connection import Connection, Operand, Place, ports_around
from cosim.dut.description import Dut
from cosim.dut.elaborate import WRAPPER, Port, instance


def wrapper(
    dut: Dut,
    operands: Sequence[Operand],
    connection: Connection,
    parameters: Mapping[str, tuple[int, bool]],
    inner: Sequence[Operand] | None = None,
    is_simulated: bool = True,
) -> str:
    """The wrapper's text: ports a, b, c, d …, and, if the design has them, clk, rst (active high), en and handshake.

    Args:
        operands: those of the wrapper. inner: those of the design, if they are others; an adapter stands between the two.
        parameters: the widths of the design's parameters that hold numbers (bits), and whether they have a sign.
        is_simulated: whether it is for a simulation; that of a proof has the signals of the design's own protocol, but for
            `[beats]`.
    """
    ports = [_port(way, name, width) for name, (way, width) in ports_around(operands, dut.results).items()]
    adapts = dut.adapts(is_simulated)
    if adapts and (is_simulated or dut.beats is not None):
        outputs = ("in_ready", "out_valid")
        ports += [_port("output" if name in outputs else "input", name, 1) for name in dut.timing.controls]
    else:
        ports += [_port(place.port.direction, control, 1) for control, place in connection.controls.items()]
    inner = operands if inner is None else inner
    if dut.beats is not None and not is_simulated:
        ports.append(_port("input", "idle", idle_bits(dut, inner)))
    if dut.has_waiting_parts and not is_simulated:
        ports.append(_port("output", "is_whole", 1))
    lines = [f"module {WRAPPER}(", ",\n".join(f"  {port}" for port in ports), ");"]
    lines += [f"  {_net(port)}" for port in connection.ports]
    lines += adapter(dut, operands, inner, is_simulated) if adapts else ()
    before = "inner_" if adapts else ""
    for operand in inner:
        pitch = operand.width if adapts else operand.pitch
        for number, place in enumerate(connection.elements[operand.name]):
            port, low = operand.outside(number, pitch)
            outside = f"{before}{port}[{low} +: {operand.width}]"
            if operand.values:
                lines += [_fits(f"[controls] {operand.name}", value, place.width) for value in operand.values]
                outside = _chosen(operand, f"{before}{operand.name}", place.width)
            lines.append(_assign(place, outside, operand.direction == "input"))
            if not operand.values and operand.bits(dut.results) > operand.pitch:  # readable in waveforms
                lines.append(f"  wire logic [{operand.width - 1}:0] {operand.name}_{number} = {outside};")
    for control, place in connection.controls.items():
        inverted = control == "rst" and dut.reset is not None and dut.reset.active == "low"
        name = before + control if control in dut.signals else control
        lines.append(_assign(place, f"{'~' if inverted else ''}{name}", place.port.direction == "input"))
    for place, value in connection.ties:
        if isinstance(value, str):
            lines.append(_fits(f"[tie] {place.port.name}", value, place.width))
        constant = f"{place.width}'({value})" if isinstance(value, str) else f"{place.width}'d{value % (1 << place.width)}"
        lines.append(_assign(place, constant, True))
    for name, value in dut.parameters.items():
        if name in parameters and not value.lstrip().startswith("'{"):  # a pattern has no type of its own
            lines.append(_fits(f"[parameters] {name}", value, *parameters[name]))
    links = ",\n".join(f"    .{port.name}({_inside(port)})" for port in connection.ports)
    lines += [f"  {instance(dut)} (", links, "  );", "endmodule", ""]
    return "\n".join(lines)


def _chosen(operand: Operand, given: str, width: int) -> str:
    """The constant that a number stands for."""
    *others, last = (f"{width}'({value})" for value in operand.values)
    return "".join(f"{given} == {number} ? {value} : " for number, value in enumerate(others)) + last


CONTROLS = ("clk", "rst", "en", *HANDSHAKES["valid-ready"])
"""The ports of the wrapper that are one bit; all others are vectors."""


def _port(direction: str, name: str, width: int) -> str:
    return f"{direction} logic {name}" if name in CONTROLS else f"{direction} logic [{width - 1}:0] {name}"


def _inside(port: Port) -> str:
    return f"port_{port.name}"


def _net(port: Port) -> str:
    array = "".join(map(str, port.unpacked))
    return (
        f"wire logic {'signed ' if port.signed else ''}[{port.vector - 1}:0] {_inside(port)}{f' {array}' if array else ''};"
    )


def _fits(what: str, constant: str, width: int, is_signed: bool = False) -> str:
    """An elaboration check that a constant expression loses no bit in a place. In one without a sign a negative number may
    stand for its bits, as -1 does for all ones."""
    with_sign, without = (f"({constant}) != {sign}'({width}'({constant}))" for sign in ("signed", "unsigned"))
    lost = with_sign if is_signed else f"({constant}) < 0 ? {with_sign} : {without}"
    shown = constant.replace("%", "%%").replace('"', "'")
    check = f'if ({lost}) $error("{what} must fit in {width} bits, got {shown} = %0d", {constant});'
    return f"  /* verilator lint_off WIDTH */ {check} /* verilator lint_on WIDTH */"


def _assign(place: Place, outside: str, inwards: bool) -> str:
    element = _inside(place.port) + "".join(f"[{index}]" for index in place.index)
    bits = f"{element}[{place.low} +: {place.width}]"
    return f"  assign {bits} = {outside};" if inwards else f"  assign {outside} = {bits};"
