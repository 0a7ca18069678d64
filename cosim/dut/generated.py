"""The generated design as a design under test, and Verilog of one's own that has its ports and its timing."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cosim.bench.timing import Timing
from cosim.dut.description import Dut, Reset
from golden.checks import unknown
from golden.files import read_toml
from jobs.contents import TOP
from rtl.designs.design import Design
from rtl.verilog.emit import to_verilog

GENERATED = "unit.v"
"""The file of generated Verilog in the folder of a run."""


def write_generated(design: Design, folder: Path) -> Path:
    """The generated design as Verilog in `folder`.

    Raises:
        ValueError: parameters that no datapath can hold.
    """
    source = folder / GENERATED
    source.write_text(to_verilog(design, TOP), encoding="utf-8")
    return source


def dut_like(design: Design, sources: Sequence[Path], top: str, ports: Mapping[str, str] | None = None) -> Dut:
    """Verilog of one's own that is connected and timed as the generated design: combinational, or with `clk`, `rst` and a
    valid/ready handshake, and then of any latency.

    Args:
        design: what it should be.
        sources: Verilog files in the order in which they are read.
        top: its top module.
        ports: this project's port names, clk and rst too, to the module's own, where they differ.

    Raises:
        ValueError: `ports` renames a port that the design does not have; a file is not there.
    """
    ports, known = dict(ports or {}), [port.name for port in design.ports]
    for port in ports:
        if port not in known:
            raise ValueError(unknown(f"[ports] of {design.name}: port", port, known))
    timing = Timing.of_design(design)
    clocked = timing.protocol != "combinational"
    clock, reset = ports.pop("clk", "clk"), ports.pop("rst", "rst")
    return Dut(
        top=top,
        sources=tuple(sources),
        ports={port: (name,) for port, name in ports.items()},
        protocol=timing.protocol,
        clock=clock if clocked else None,
        reset=Reset(reset) if clocked else None,
    )


def load_ports(path: str | Path) -> dict[str, str]:
    """Read a ports file: a TOML table `[ports]` of this project's port names to the design's.

    Raises:
        ValueError: not TOML, or not such a table. OSError: the file cannot be read.
    """
    table = read_toml(path)
    ports = table.get("ports")
    if set(table) != {"ports"} or not isinstance(ports, dict):
        raise ValueError(f"{path}: must hold one table [ports] and nothing else, got {sorted(table)}")
    for port, name in ports.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f'{path}: [ports] {port} must be the name of a port, like "vec_a"; got {name!r}')
    return ports
