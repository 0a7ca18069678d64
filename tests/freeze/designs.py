"""Digests of every recorded design: of the circuit, as RTLIL in a normal form, and of its Verilog."""

import hashlib
import re

from amaranth.back import rtlil  # type: ignore[attr-defined]  # the stubs lack it

from rtl.designs.design import Design
from rtl.designs.identity import design_key, verilog_digest
from rtl.designs.sample_units import slice_of
from rtl.steps.component import SharedModules, module_ports, name_ports
from rtl.verilog.emit import to_verilog
from studies.proofs.proved_designs import built, targets


def digests(chosen: str | None) -> dict[str, list[str]]:
    """Digests of circuit and Verilog, and the name, of each design of the recorded proofs.

    Args:
        chosen: `K/N`, a part of them; None for all.
    """
    designs = list({design_key(target.design.as_table()): target.design for target in targets()}.items())
    if chosen is not None:
        designs = slice_of(designs, chosen, lambda each: each[0])
    return {
        key[:24]: [circuit(design)[:24], verilog_digest(to_verilog(design, "unit"))[:24], name(design)]
        for key, design in designs
    }


def name(design: Design) -> str:
    """A design in words."""
    return f"{design.name}, {built(design.implementation)}"


def circuit(design: Design) -> str:
    """SHA-256 of a design's RTLIL, whatever writes the Verilog: modules and their lines in the order of their text, without
    attributes, comments and numbers of ports."""
    shared = SharedModules("unit")
    texts = [rtlil.convert(design.component(), name="unit", platform=shared, emit_src=False)]
    for module, component in shared.components.items():
        name_ports(component)
        texts.append(rtlil.convert(component, name=module, ports=module_ports(component), emit_src=False))
    lines = (line.strip() for line in "\n".join(texts).splitlines())
    kept = [line for line in lines if line and not line.startswith(("#", "attribute "))]
    plain = re.sub(r"^(wire .*\b(?:input|output|inout)) \d+", r"\1", "\n".join(kept), flags=re.M)
    modules = sorted(part for part in re.split(r"^(?=module )", plain, flags=re.M) if part.strip())
    return hashlib.sha256("".join(modules).encode()).hexdigest()


def differing(old: dict[str, list[str]], new: dict[str, list[str]]) -> list[str]:
    """A line for each frozen design that is gone or differs in circuit or Verilog, where the circuit has a digest."""
    lines = []
    for key, (circuit_then, verilog_then, called) in old.items():
        if key not in new:
            lines.append(f"{called}: is no longer among the recorded designs")
            continue
        circuit_now, verilog_now, _ = new[key]
        what = ["the circuit"] * (circuit_then not in ("", circuit_now)) + ["the Verilog"] * (verilog_then != verilog_now)
        lines += [f"{called}: {' and '.join(what)} differ"] if what else []
    return lines
