"""A first `dut.toml` for a design, from its ports: entries that their names suggest are filled in, the others are marked."""

import json
import re
from collections.abc import Mapping, Sequence

from cosim.dut.description import Dut
from cosim.dut.elaborate import Port

CLOCKS = ("clk", "clk_i", "i_clk", "clock", "aclk")
RESETS = ("rst", "rst_i", "reset", "reset_i", "rst_n", "rst_ni", "resetn", "reset_n", "aresetn", "nreset", "arst_n", "arst")
ENABLES = ("en", "en_i", "enable", "enable_i", "ce", "clk_en")

_INTO = r"((input|in|i|s|vec|op|operand|src)_?)*"

_OUT_OF = r"((output|out|o|m)_?)*"

NAMES: dict[str, str] = {
    "a": _INTO + r"a(_?vec)?(_?\d+)?(_i|_in)?",
    "b": _INTO + r"b(_?vec)?(_?\d+)?(_i|_in)?",
    "c": _INTO + r"(c|acc|addend|accumulator|psum)(_i|_in)?",
    "d": _OUT_OF + r"(d|results?|out|res|data|sum|dot|dp|z)(_o|_out)?",
    "in_valid": r"((input|in|s)_)?(valid|vld|stb)(_in)?(_i)?",
    "in_ready": r"((input|in|s)_)?(ready|rdy|ack)(_out)?(_o)?",
    "out_valid": r"((output|out|m)_)?(valid|vld|stb)(_out)?(_o)?",
    "out_ready": r"((output|out|m)_)?(ready|rdy|ack)(_in)?(_i)?",
}
"""Patterns of common names for this project's ports."""

OF_AN_OPERAND = r"(\w+_)?[abc]_(valid|vld|stb|ready|rdy|ack)(_i|_o)?"
"""Pattern of the handshake of one operand, which no protocol drives."""

NO_C = (
    r"(\w*_)?(tags?|id|user|mode|rm|rnd|round\w*|op|opcode|operation|fmt|format|func\w*|sel\w*|cfg|config|mask|flush|"
    r"last|clear)(_\w+)?"
)
"""Pattern of the names of further inputs that are no operand."""

TOGETHER = r"((in|i)_)?(operands?|ops?)(_i|_in)?"
"""Pattern of the name of an array of two or three operands: a, b and c."""

OUTPUTS = ("d", "in_ready", "out_valid")


def template(dut: Dut, ports: Sequence[Port], edges: Mapping[str, str]) -> str:
    """The text of a `dut.toml`. Guesses are marked in comments; each value `?` must be replaced before the file is read.

    Args:
        dut: the design's top, sources, folders, macros and parameters. ports: its ports.
        edges: the signals at whose edges its registers act, as far as they are known.
    """
    apart = [port.name for port in ports if re.fullmatch(OF_AN_OPERAND, port.name, re.IGNORECASE)]
    others = [port for port in ports if port.name not in apart]
    found = _together(ports) | {ours: names for ours in NAMES if (names := _matching(ours, others))}
    clock = next((port.name for port in ports if port.name.lower() in CLOCKS), None)
    reset = next((port.name for port in ports if port.name.lower() in RESETS), None)
    enable = next((port.name for port in ports if port.name.lower() in ENABLES), None)
    lines = [f"top = {_quoted(dut.top)}", f"sources = {_listed([str(source) for source in dut.sources])}"]
    lines += [f"include = {_listed([str(folder) for folder in dut.include])}"] if dut.include else []
    lines += [f"defines = {_table(dut.defines)}"] if dut.defines else []
    lines += [f"parameters = {_table(dut.parameters)}"] if dut.parameters else []
    lines += [f"ghdl_args = {_listed(dut.ghdl_args)}"] if dut.ghdl_args else []
    if apart:
        lines += ["", f"# {', '.join(apart)}: no protocol has a handshake for each operand; join them in a module around it"]
    lines += ["", *_timing(found, clock, reset, enable, edges), "", "# The design's ports:"]
    lines += [f"#   {port}" for port in ports]
    lines += ["", "[ports]  # this project's names to the design's"]
    named = {clock, reset, enable, *(name.partition("[")[0] for names in found.values() for name in names)}
    idle = [port for port in ports if port.direction == "input" and port.name not in named]
    rest = [port.name for port in idle if port.width > 1 and port.name not in apart]
    has_c = "c" in found or any(not re.fullmatch(NO_C, name, re.IGNORECASE) for name in rest)
    wanted = [
        "a",
        "b",
        *(["c"] if has_c else []),
        "d",
        *(port for port in ("in_valid", "in_ready", "out_valid", "out_ready") if port in found),
    ]
    lines += [f"{ours} = {_names(found.get(ours, ['?']))}" for ours in wanted]
    lines += [] if has_c else ["", "[operands]", 'c = "none"  # guessed: no input is left for c']
    if idle:
        lines += ["", "[tie]  # inputs that are held at a value; remove those that [ports] names"]
        lines += [f"{_key(port.name)} = 0" for port in idle]
    return "\n".join([*lines, ""])


def _together(ports: Sequence[Port]) -> dict[str, list[str]]:
    """The elements of an array of operands."""
    for port in ports:
        dimensions = [*port.unpacked, *port.packed]
        if re.fullmatch(TOGETHER, port.name, re.IGNORECASE) and dimensions and dimensions[0].count in (2, 3):
            return {ours: [f"{port.name}[{k}]"] for ours, k in zip("abc", dimensions[0].indices, strict=False)}
    return {}


def _matching(ours: str, ports: Sequence[Port]) -> list[str]:
    """The design's ports whose names and direction match, in order of the numbers in their names."""
    direction = "output" if ours in OUTPUTS else "input"
    there = [port.name for port in ports if port.direction == direction and (ours not in "abcd" or port.width > 1)]
    names = [name for name in there if re.fullmatch(NAMES[ours], name, re.IGNORECASE)]
    if not names:  # behind words that are not known, as req_valid: it is meant if no other port has such a name
        names = [name for name in there if re.fullmatch(rf"\w+_({NAMES[ours]})", name, re.IGNORECASE)]
        if len({re.sub(r"\d", "", name) for name in names}) > 1:
            return []
    if len(names) > 1 and ours not in ("a", "b"):
        return names[:1]
    return sorted(names, key=lambda name: int(re.sub(r"\D", "", name) or 0))


def _timing(
    found: dict[str, list[str]], clock: str | None, reset: str | None, enable: str | None, edges: Mapping[str, str]
) -> list[str]:
    if clock is None:
        return ['protocol = "combinational"  # guessed: there is no clock']
    if {"in_valid", "in_ready", "out_valid", "out_ready"} <= set(found):
        lines = ['protocol = "valid-ready"  # guessed from the names of the ports']
    elif {"in_valid", "out_valid"} <= set(found):
        lines = ['protocol = "valid"  # guessed from the names of the ports']
    else:
        lines = ['protocol = "fixed-latency"  # guessed: no port has the name of a valid bit', 'latency = "?"  # cycles']
    lines.append(f'clock = "{clock}"')
    if enable is not None:
        lines.append(f'enable = "{enable}"')
    if reset is not None:
        lines.append(_reset(reset, edges))
    return lines


def _reset(name: str, edges: Mapping[str, str]) -> str:
    """The reset: asynchronous where registers act at its edge, or at that of another signal that is no clock."""
    inside = next((each for each in (name, *edges) if each in edges and not re.search("cl?k|clock", each.lower())), None)
    falls = bool(re.search(r"n(_?i)?$|^n", name, re.IGNORECASE)) if inside != name else edges[name] == "NEG"
    kind = "true" if inside is not None else "false"
    why = "from its edge in the design" if inside == name else "check both"
    return f'reset = {{name = "{name}", active = "{"low" if falls else "high"}", asynchronous = {kind}}}  # {why}'


def _names(names: Sequence[str]) -> str:
    return _quoted(names[0]) if len(names) == 1 else _listed(names)


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(_quoted(name) for name in names)}]"


def _table(values: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name} = {_quoted(str(value))}' for name, value in values.items())}}}"


def _quoted(text: str) -> str:
    """A string of TOML, which escapes what JSON does, and 0x7f."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    """A key of TOML; an escaped name of Verilog may hold any character."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)
