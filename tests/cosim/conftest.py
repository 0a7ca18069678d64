"""Designs for co-simulation: generated ones, and ones that are broken on purpose."""

from pathlib import Path

import pytest

from cosim import Dut, dut_like
from golden import Unit
from rtl import Design, as_design, to_verilog
from tests.cosim.designs import Generated, Wrapped


@pytest.fixture
def generated(tmp_path: Path) -> Generated:
    """The datapath as the generator writes it now: after a test's patches, or for another unit."""
    return lambda design: _generated(design, tmp_path)


@pytest.fixture
def wrapped(tmp_path: Path) -> Wrapped:
    """The sound datapath in a wrapper that replaces some of its connections.

    `faults` maps a port to the expression that takes its place: what an input of the datapath sees, or what an output shows.
    `declarations` is Verilog for what the expressions need.
    """

    def wrap(design: Unit | Design, faults: dict[str, str], declarations: str = "") -> Dut:
        sound, ports = _generated(design, tmp_path), as_design(design).ports
        outputs = [port for port in ports if port.direction == "output"]
        declared = ", ".join(f"{port.direction} [{port.width - 1}:0] {port.name}" for port in ports)
        wires = "".join(f"wire [{port.width - 1}:0] {port.name}_inside;\n" for port in outputs)
        seen = {port.name: f"{port.name}_inside" if port in outputs else faults.get(port.name, port.name) for port in ports}
        links = ", ".join(f".{name}({value})" for name, value in seen.items())
        shown = "".join(f"assign {port.name} = {faults.get(port.name, seen[port.name])};\n" for port in outputs)
        wrapper = tmp_path / "wrapper.v"
        body = f"{wires}{declarations}\n{sound.top} sound({links});\n{shown}"
        wrapper.write_text(f"module wrapper({declared});\n{body}endmodule\n")
        return dut_like(as_design(design), (*sound.sources, wrapper), "wrapper")

    return wrap


def _generated(design: Unit | Design, folder: Path) -> Dut:
    source = folder / "generated.v"
    source.write_text(to_verilog(as_design(design), "generated"))
    return dut_like(as_design(design), (source,), "generated")
