"""A first `dut.toml` for a design, from its ports: entries that their names suggest are filled in, the others are marked."""

import json
import re
from collections.abc import Mapping, Sequence

from cosim.dut.description import Dut
from cosim.dut.elaborate import Port
from golden.arithmetic.flags import FLAGS

CLOCKS = ("clk", "clk_i", "i_clk", "clock", "aclk")
RESETS = ("rst", "rst_i", "reset", "reset_i", "rst_n", "rst_ni", "resetn", "reset_n", "aresetn", "nreset", "arst_n", "arst")
ENABLES = ("en", "en_i", "enable", "enable_i", "ce", "clk_en")

_INTO = r"((input|in|i|s|vec|op|operand|src)_?)*"

_OUT_OF = r"((output|out|o|m)_?)*"

NAMES: dict[str, str] = {
    "a": _INTO + r"[ax](_?vec)?(_?\d+)?(_i|_in)?",
    "b": _INTO + r"[by](_?vec)?(_?\d+)?(_i|_in)?",
    "c": _INTO + r"(c|acc|addend|accumulator|psum)(_i|_in|_init)?",
    "d": _OUT_OF + r"(d|results?|out|res|data|sum|dot|dp|z|acc)(_o|_out)?",
    "in_valid": r"((input|in|s)_)?(valid|vld|stb)(_in)?(_i)?",
    "in_ready": r"((input|in|s)_)?(ready|rdy|ack)(_out)?(_o)?",
    "out_valid": r"((output|out|m)_)?(valid|vld|stb)(_out)?(_o)?",
    "out_ready": r"((output|out|m)_)?(ready|rdy|ack)(_in)?(_i)?",
}
"""Patterns of common names for this project's ports."""

OF_AN_OPERAND = r"(\w+_)?([abc])_((valid|vld|stb)|ready|rdy|ack)(_i|_o)?"
"""Pattern of the handshake of one operand."""

SIGNALS = {
    "start": r"(\w+_)?(start|go)(_i|_in)?",
    "done": r"(\w+_)?done(_o|_out)?",
    "busy": r"(\w+_)?busy(_o|_out)?",
}
"""Patterns of the signals of a design that computes one dot product at a time."""

BEATS = {
    "first": r"(\w+_)?(first|sop|init)(_i|_in)?",
    "last": r"(\w+_)?(last|eop|tlast)(_i|_in)?",
    "load": r"(\w+_)?load(_acc|_c)?(_i|_in)?",
    "clear": r"(\w+_)?(clear|clr)(_acc|_sum)?(_i|_in)?",
}
"""Patterns of the inputs of a design that adds up over several transfers."""

NO_C = (
    r"(\w*_)?(tags?|id|user|mode|rm|rnd|round\w*|op|opcode|operation|fmt|format|func\w*|sel\w*|cfg|config|mask|flush|"
    r"last|clear)(_\w+)?"
)
"""Pattern of the names of further inputs that are no operand."""

FIFTH = ', 4 = "RNA-?"'

RISC_V = ", ".join(f'{value} = "{mode}-?"' for value, mode in enumerate(("RNE", "RZ", "RD", "RU"))) + FIFTH
"""The rounding modes of RISC-V, of which an input of two bits has four."""

CONTROLS = {
    r"(rnd|round|rounding)(_?mode)?|rm|frm|mode": f'{{key = "rho", values = {{{RISC_V}}}}}',
    r"op|opcode|operation|fpu_op": '{key = "operation", values = {0 = "?", 1 = "?"}}',
    r"op_?mod|neg_?[cz]?|sub(tract)?": '{key = "operation", values = {0 = {}, 1 = {c = "-c"}}}',
    r"neg_?(p|prod(uct)?|[abxy])": '{key = "operation", values = {0 = {}, 1 = {a = "-a"}}}',
    r"(src_|dst_)?(fmt|format)": '{key = "formats", values = {0 = "?", 1 = "?"}}',
    r"((simd|lane|vec)_)?mask": '{key = "mask"}',
    r"((sp|sparse|sparsity)_?)?meta(data)?": '{key = "metadata"}',
    r"(zero|zp)(_?points?)?(_?a)": '{key = "zero_a"}',
    r"(zero|zp)(_?points?)?(_?b)?": '{key = "zero_b"}',
}
"""Patterns of the names of inputs that choose the arithmetic, and what each may be; a `?` is to be replaced."""

ENDS = (("_i", "_o"), ("_in", "_out"), ("in_", "out_"), ("i_", "o_"), ("s_", "m_"))
"""The ends, or the beginnings, of the names of an input and of the output that returns it."""

TOGETHER = r"((in|i)_)?(operands?|ops?)(_i|_in)?"
"""Pattern of the name of an array of two or three operands: a, b and c."""

OUTPUTS = ("d", "in_ready", "out_valid", "done", "busy")


STATUS = r"(\w+_)?(status|f?flags?|exceptions?|exc)(_o|_out)?"
"""Pattern of outputs that may hold exception flags."""

WITHOUT_DZ = tuple(flag for flag in FLAGS if flag != "DZ")
"""What an output of four flags holds."""


def template(dut: Dut, ports: Sequence[Port], edges: Mapping[str, str]) -> str:
    """The text of a `dut.toml`. Guesses are marked in comments; each value `?` must be replaced before the file is read.

    Args:
        dut: the design's top, sources, folders, macros and parameters. ports: its ports.
        edges: the signals at whose edges its registers act, as far as they are known.
    """
    apart = {ours: [port.name] for port in ports if (ours := _handshake_of(port.name)) is not None}
    others = [port for port in ports if [port.name] not in apart.values()]
    found = _together(ports) | {ours: names for ours in NAMES if (names := _matching(NAMES, ours, others))}
    started = {ours: names for ours in SIGNALS if (names := _matching(SIGNALS, ours, others))}
    marks = {ours: names for ours in BEATS if (names := _matching(BEATS, ours, others))}
    found |= apart | (started if {"start", "done"} <= set(started) else {})
    clock = next((port.name for port in ports if port.name.lower() in CLOCKS), None)
    reset = next((port.name for port in ports if port.name.lower() in RESETS), None)
    enable = next((port.name for port in ports if port.name.lower() in ENABLES), None)
    lines = [f"top = {_quoted(dut.top)}", f"sources = {_listed([str(source) for source in dut.sources])}"]
    lines += [f"include = {_listed([str(folder) for folder in dut.include])}"] if dut.include else []
    lines += [f"defines = {_table(dut.defines)}"] if dut.defines else []
    lines += [f"parameters = {_table(dut.parameters)}"] if dut.parameters else []
    lines += [f"ghdl_args = {_listed(dut.ghdl_args)}"] if dut.ghdl_args else []
    lines += ["", *_timing(found, clock, reset, enable, edges), "", "# The design's ports:"]
    lines += [f"#   {port}" for port in ports]
    lines += ["", "[ports]  # this project's names to the design's"]
    named = {
        clock, reset, enable,
        *(name.partition("[")[0] for names in (*found.values(), *marks.values()) for name in names),
    }  # fmt: skip
    idle = [port for port in ports if port.direction == "input" and port.name not in named]
    rest = [port.name for port in idle if port.width > 1]
    has_c = "c" in found or any(not re.fullmatch(NO_C, name, re.IGNORECASE) for name in rest)
    has_b = has_c or "a" not in found or "b" in found
    wanted = [
        "a",
        *(["b"] if has_b else []),
        *(["c"] if has_c else []),
        "d",
        *(port for port in (*NAMES, *SIGNALS, *apart) if port in found and port not in "abcd"),
    ]
    lines += [f"{ours} = {_names(found.get(ours, ['?']))}" for ours in wanted]
    lines += [] if has_c or not has_b else ["", "[operands]", 'c = "none"  # guessed: no input is left for c']
    if marks:
        lines += ["", "[beats]  # guessed: the design adds up over several transfers", "count = {from = 1, to = 16}"]
        lines += [f"{ours} = {_names(names)}" for ours, names in marks.items()]
    chosen = {
        p.name: found.replace(FIFTH, "" if p.width == 2 else FIFTH)
        for p in idle
        for name, found in CONTROLS.items()
        if re.fullmatch(rf"({name})(_i|_in)?", p.name, re.I)
    }
    returned = _returned(idle, ports)
    if chosen:
        lines += ["", "[controls]  # inputs that choose the arithmetic anew for each vector; or hold one in [tie]"]
        lines += [f"{_key(name)} = {values}" for name, values in chosen.items()]
    if returned:
        lines += ["", "[echo]  # outputs that return an input of the same transfer"]
        lines += [f"{_key(output)} = {_quoted(given)}" for output, given in returned.items()]
    raised = {
        port.name: FLAGS if port.width == len(FLAGS) else WITHOUT_DZ for port in ports
        if port.direction == "output" and port.width in (len(FLAGS), len(WITHOUT_DZ))
        and re.fullmatch(STATUS, port.name, re.IGNORECASE)
    }  # fmt: skip
    if raised:
        lines += ["", "[flags]  # exception flags, bit 0 first; the order is guessed"]
        lines += [f"{_key(name)} = {_listed(flags)}" for name, flags in raised.items()]
    idle = [port for port in idle if port.name not in (*chosen, *returned.values())]
    if idle:
        lines += ["", "[tie]  # inputs that are held at a value; remove those that [ports] names"]
        lines += [f"{_key(port.name)} = 0" for port in idle]
    return "\n".join([*lines, ""])


def _returned(idle: Sequence[Port], ports: Sequence[Port]) -> dict[str, str]:
    """Each output with the name and the width of an input that nothing else drives, and that input."""
    outputs = {port.name: port for port in ports if port.direction == "output"}
    pairs = [(port, port.name.replace(one, other)) for port in idle for one, other in ENDS if one in port.name]
    pairs += [(port, name) for port in idle for name in outputs if name.endswith(f"_{port.name}")]
    return {name: port.name for port, name in pairs if name in outputs and outputs[name].width == port.width}


def _together(ports: Sequence[Port]) -> dict[str, list[str]]:
    """The elements of an array of operands."""
    for port in ports:
        dimensions = [*port.unpacked, *port.packed]
        if re.fullmatch(TOGETHER, port.name, re.IGNORECASE) and dimensions and dimensions[0].count in (2, 3):
            return {ours: [f"{port.name}[{k}]"] for ours, k in zip("abc", dimensions[0].indices, strict=False)}
    return {}


def _handshake_of(name: str) -> str | None:
    """This project's name for a port that is the handshake of one operand, as `a_valid`."""
    found = re.fullmatch(OF_AN_OPERAND, name, re.IGNORECASE)
    return None if found is None else f"{found[2].lower()}_{'valid' if found[4] else 'ready'}"


def _matching(patterns: Mapping[str, str], ours: str, ports: Sequence[Port]) -> list[str]:
    """The design's ports whose names and direction match, in order of the numbers in their names."""
    direction = "output" if ours in OUTPUTS else "input"
    there = [port.name for port in ports if port.direction == direction and (port.width > 1) is (ours in "abcd")]
    names = [name for name in there if re.fullmatch(patterns[ours], name, re.IGNORECASE)]
    if not names:  # behind words that are not known, as req_valid: it is meant if no other port has such a name
        names = [name for name in there if re.fullmatch(rf"\w+_({patterns[ours]})", name, re.IGNORECASE)]
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
    elif {"in_valid", "in_ready", "out_valid"} <= set(found):
        lines = ['protocol = "in-ready"  # guessed from the names of the ports']
    elif {"in_valid", "out_valid"} <= set(found):
        lines = ['protocol = "valid"  # guessed from the names of the ports']
    elif {"start", "done"} <= set(found):
        lines = ['protocol = "start-done"  # guessed from the names of the ports']
    elif "a_valid" in found:
        lines = ['protocol = "operand-handshakes"  # guessed from the names of the ports']
    else:
        lines = ['protocol = "fixed-latency"  # guessed: no port has the name of a valid bit', 'latency = "?"  # cycles']
    lines.append(f'clock = "{clock}"')
    if enable is not None:
        lines.append(f'enable = "{enable}"  # guessed: of registers; one that takes operands is in_valid')
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
