"""One text for one circuit, where versions of Yosys write it differently.

Recorded proofs, simulations and figures name a circuit by the digest of its Verilog.
"""

import re

_BITS = re.compile(
    r"^  connect (?P<wire>\\\S+) \[(?P<top>\d+)(?::(?P<last>\d+))?\] "
    r"(?:\{ )?(?P=wire) \[(?P<sign>\d+)\](?: (?P=wire) \[(?P=sign)\])*(?: \})?$"
    r"|(?P<of>\\\S+) \[(?P<high>\d+)(?::(?P<low>\d+))?\]",
    re.MULTILINE,
)
"""Pattern in RTLIL: bits of a wire that are connected to copies of one bit below them; or else any bits of a wire."""

_DECLARATION = re.compile(r"((?:  (?:input|output) .*\n)?  (?:wire|reg) (?:\[.*?\] )?\\?([^; ]+) ?;\n)")


def with_signs_in_top_bits(design: str) -> str:
    """RTLIL in which the top bit of a wire drives a sign that is extended within it; the bits below copy that."""
    return re.sub(r"^module .*?^end$", lambda module: _signs_in_top_bits(module[0]), design, flags=re.MULTILINE | re.DOTALL)


def _signs_in_top_bits(module: str) -> str:
    top_of = {
        (found["wire"], int(found["sign"])): int(found["top"])
        for found in _BITS.finditer(module)
        if found["wire"] and int(found["last"] or found["top"]) == int(found["sign"]) + 1
    }

    def moved(found: re.Match[str]) -> str:
        if found["wire"]:
            wire, sign = found["wire"], int(found["sign"])
            if (wire, sign) not in top_of:
                return found[0]
            top = top_of[wire, sign]
            return f"  connect {wire} [{top - 1}:{sign}] {{{f' {wire} [{top}]' * (top - sign)} }}"
        wire, high, low = found["of"], int(found["high"]), int(found["low"] or found["high"])
        places = range(high, low - 1, -1)
        bits = [top_of.get((wire, bit), bit) for bit in places]
        return found[0] if bits == [*places] else f"{{{''.join(f' {wire} [{bit}]' for bit in bits)} }}"

    return _BITS.sub(moved, module) if top_of else module


def in_order_of_names(verilog: str) -> str:
    """Verilog whose modules declare ports and wires together, by their names."""

    def ordered(declarations: re.Match[str]) -> str:
        return "".join(text for text, _ in sorted(_DECLARATION.findall(declarations[0]), key=lambda found: str(found[1])))

    return re.sub(r"^(?:  (?:input|output|wire|reg) .*;\n)+", ordered, verilog, flags=re.MULTILINE)
