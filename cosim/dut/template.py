"""A first `dut.toml` for a design, from its own ports: what their names tell is filled in, the rest is left to fill in."""

import re
from collections.abc import Mapping, Sequence

from cosim.dut.description import Dut
from cosim.dut.elaborate import Port

CLOCKS = ("clk", "clk_i", "i_clk", "clock", "aclk")
RESETS = ("rst", "rst_i", "reset", "reset_i", "rst_n", "rst_ni", "resetn", "reset_n", "aresetn", "nreset", "arst_n", "arst")
ENABLES = ("en", "en_i", "enable", "enable_i", "ce", "clk_en")

NAMES: dict[str, str] = {
    "a": r"(a|op_?a|vec_?a|s_a)(_?\d+)?(_i|_in)?",
    "b": r"(b|op_?b|vec_?b|s_b)(_?\d+)?(_i|_in)?",
    "c": r"(c|acc|addend|accumulator|op_?c|s_c)(_i|_in)?",
    "d": r"(d|result|out|res|m_data|sum)(_o|_out)?",
    "in_valid": r"(in_valid|valid|valid_in|s_valid|in_vld|vld)(_i)?",
    "in_ready": r"(in_ready|ready|ready_out|s_ready|in_rdy)(_o)?",
    "out_valid": r"(out_valid|valid|valid_out|m_valid|out_vld|vld)(_o)?",
    "out_ready": r"(out_ready|ready|ready_in|m_ready|out_rdy)(_i)?",
}
"""This project's ports and the names that designs often give them, as patterns."""

OUTPUTS = ("d", "in_ready", "out_valid")


def template(dut: Dut, ports: Sequence[Port]) -> str:
    """The text of a `dut.toml`. What is guessed says so; a value `?` must be filled in before the file is read.

    Args:
        dut: how the design is read: top, sources, folders, macros and parameters.
        ports: of the elaborated design.
    """
    found = {ours: names for ours in NAMES if (names := _matching(ours, ports))}
    clock = next((port.name for port in ports if port.name.lower() in CLOCKS), None)
    reset = next((port.name for port in ports if port.name.lower() in RESETS), None)
    enable = next((port.name for port in ports if port.name.lower() in ENABLES), None)
    lines = [f'top = "{dut.top}"', f"sources = {_listed([str(source) for source in dut.sources])}"]
    lines += [f"include = {_listed([str(folder) for folder in dut.include])}"] if dut.include else []
    lines += [f"defines = {_table(dut.defines)}"] if dut.defines else []
    lines += [f"parameters = {_table(dut.parameters)}"] if dut.parameters else []
    lines += ["", *_timing(found, clock, reset, enable), "", "# The design's ports:"]
    lines += [f"#   {port}" for port in ports]
    lines += ["", "[ports]  # this project's names to the design's"]
    wanted = ["a", "b", "c", "d", *(port for port in ("in_valid", "in_ready", "out_valid", "out_ready") if port in found)]
    lines += [f"{ours} = {_names(found.get(ours, ['?']))}" for ours in wanted]
    used = {clock, reset, enable, *(name for ours in wanted for name in found.get(ours, []))}
    idle = [port for port in ports if port.direction == "input" and port.name not in used]
    if idle:
        lines += ["", "[tie]  # inputs that are held at a value; remove those that [ports] names"]
        lines += [f"{port.name} = 0" for port in idle]
    return "\n".join([*lines, ""])


def _matching(ours: str, ports: Sequence[Port]) -> list[str]:
    """The design's ports whose names and direction fit, in order of their numbers."""
    direction = "output" if ours in OUTPUTS else "input"
    names = [p.name for p in ports if p.direction == direction and re.fullmatch(NAMES[ours], p.name, re.IGNORECASE)]
    if len(names) > 1 and ours not in ("a", "b"):
        return names[:1]
    return sorted(names, key=lambda name: int(re.sub(r"\D", "", name) or 0))


def _timing(found: dict[str, list[str]], clock: str | None, reset: str | None, enable: str | None) -> list[str]:
    if clock is None:
        return ['protocol = "combinational"  # guessed: there is no clock']
    if {"in_valid", "in_ready", "out_valid", "out_ready"} <= set(found):
        lines = ['protocol = "valid-ready"  # guessed from the names of the ports']
    elif {"in_valid", "out_valid"} <= set(found):
        lines = ['protocol = "valid"  # guessed from the names of the ports']
    else:
        lines = ['protocol = "fixed-latency"  # guessed: no valid ports were found', 'latency = "?"  # cycles']
    lines.append(f'clock = "{clock}"')
    if enable is not None:
        lines.append(f'enable = "{enable}"')
    if reset is not None:
        active = "low" if re.search(r"n(_?i)?$|^n", reset, re.IGNORECASE) else "high"
        lines.append(f'reset = {{name = "{reset}", active = "{active}", asynchronous = false}}  # check both')
    return lines


def _names(names: Sequence[str]) -> str:
    return f'"{names[0]}"' if len(names) == 1 else _listed(names)


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(_quoted(name) for name in names)}]"


def _table(values: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name} = {_quoted(str(value))}' for name, value in values.items())}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
