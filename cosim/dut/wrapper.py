"""The SystemVerilog wrapper that gives a user design the ports of a unit: packed vectors, element 0 in the low bits.

The wrapper connects by name to the ports of the elaborated design; its only logic is an inverter for an active-low reset.
"""

from collections.abc import Mapping, Sequence

from cosim.dut.connection import Connection, Operand, Place
from cosim.dut.description import Dut
from cosim.dut.elaborate import WRAPPER, Port, instance


def wrapper(
    dut: Dut, operands: Sequence[Operand], connection: Connection, parameters: Mapping[str, tuple[int, bool]]
) -> str:
    """The wrapper's text: ports a, b, c, d …, and, if the design has them, clk, rst (active high), en and handshake.

    Args:
        parameters: the widths of the design's parameters that hold numbers (bits), and whether they have a sign.
    """
    ports = [_port(o.direction, o.name, o.count * o.pitch * dut.results) for o in operands]
    ports += [_port(place.port.direction, control, 1) for control, place in connection.controls.items()]
    lines = [f"module {WRAPPER}(", ",\n".join(f"  {port}" for port in ports), ");"]
    lines += [f"  {_net(port)}" for port in connection.ports]
    for operand in operands:
        for number, place in enumerate(connection.elements[operand.name]):
            outside = f"{operand.name}[{number * operand.pitch} +: {operand.width}]"
            lines.append(_assign(place, outside, operand.direction == "input"))
            if operand.count * dut.results > 1:  # readable in waveforms
                lines.append(f"  wire logic [{operand.width - 1}:0] {operand.name}_{number} = {outside};")
    for control, place in connection.controls.items():
        inverted = control == "rst" and dut.reset is not None and dut.reset.active == "low"
        lines.append(_assign(place, f"{'~' if inverted else ''}{control}", place.port.direction == "input"))
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


def _port(direction: str, name: str, width: int) -> str:
    return f"{direction} logic {name}" if width == 1 and name not in "abcd" else f"{direction} logic [{width - 1}:0] {name}"


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
