"""The generated design as a design under test, and user designs with its ports and timing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cosim.bench.protocol import Timing
from golden.arithmetic.flags import FLAGS
from golden.checks import unknown
from golden.files import read_toml
from rtl.designs.design import Design
from rtl.designs.identity import TOP
from rtl.verilog.emit import to_verilog

if TYPE_CHECKING:
    from cosim.dut.description import Dut

GENERATED = "unit.v"
"""The file of generated Verilog in the folder of a run."""


def write_generated(design: Design, folder: Path) -> Path:
    """Write the Verilog of the generated design into `folder`, and return its path.

    Raises:
        ValueError: parameters that no datapath can hold.
    """
    source = folder / GENERATED
    source.write_text(to_verilog(design, TOP), encoding="utf-8")
    return source


def dut_like(design: Design, sources: Sequence[Path], top: str, ports: Mapping[str, str] | None = None) -> "Dut":
    """A user design with the ports and timing of a generated design: combinational, or with `clk`, `rst` and a valid/ready
    handshake, and then of any latency.

    Args:
        design: the generated design.
        sources: Verilog files in the order in which they are read.
        top: the top module.
        ports: the module's port names, where they differ, by this project's names (clk and rst included).

    Raises:
        ValueError: `ports` renames a port that the design does not have; a file does not exist.
    """
    from cosim.dut.description import Dut, Reset  # a generated design does without

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
        flags={"flags": FLAGS} if "flags" in known else {},
    )


def load_ports(path: str | Path) -> dict[str, str]:
    """Read a ports file: a TOML table `[ports]` with the design's port names by this project's names.

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
