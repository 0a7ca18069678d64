"""The design under test: its Verilog sources, its top module, and what that calls the ports of a design."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from golden.checks import unknown
from golden.files import read_toml
from rtl.designs.design import Design
from rtl.verilog.emit import to_verilog


@dataclass(frozen=True)
class DesignUnderTest:
    """Verilog of one's own in place of the generated design.

    It is driven as the `stages` of the design that it should be say: 0, combinational; more, with clock, reset and
    valid/ready handshake, and then with any latency.

    Attributes:
        sources: Verilog files, in the order in which the simulator reads them.
        top: name of the top module.
        ports: this project's port names to the module's own, where they differ.
    """

    sources: tuple[Path, ...]
    top: str
    ports: Mapping[str, str] = field(default_factory=dict)


def port_names(design: Design, ports: Mapping[str, str]) -> dict[str, str]:
    """What the Verilog calls each port.

    Raises:
        ValueError: `ports` renames a port that the design does not have, or two ports come to one name.
    """
    known = [port.name for port in design.ports]
    for port in ports:
        if port not in known:
            raise ValueError(unknown(f"[ports] of {design.name}: port", port, known))
    names = {port: ports.get(port, port) for port in known}
    for name in names.values():
        same = [port for port in known if names[port] == name]
        if len(same) > 1:
            raise ValueError(f"[ports] must give every port its own name; {' and '.join(same)} are all {name!r}")
    return names


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


def write_generated(design: Design, folder: Path) -> DesignUnderTest:
    """The generated design as Verilog in `folder`.

    Raises:
        ValueError: parameters that no datapath can hold.
    """
    source = folder / "unit.v"
    source.write_text(to_verilog(design, "unit"), encoding="utf-8")
    return DesignUnderTest((source,), "unit")


def check_sources(dut: DesignUnderTest) -> None:
    """Raise ValueError unless there are source files and they can be read."""
    if not dut.sources:
        raise ValueError("a design needs at least one Verilog file, got none")
    for source in dut.sources:
        if not source.is_file():
            raise ValueError(f"design source {source} must be a Verilog file; there is no such file")
