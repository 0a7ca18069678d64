"""What a simulator gets of a design: files, the top module, arguments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosim.bench.timing import Timing
from cosim.dut.connection import connect, operands_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import INSTANCE, compiler_arguments, elaborated_ports
from cosim.dut.generated import write_generated
from cosim.dut.wrapper import WRAPPER, wrapper
from rtl.designs.design import Design

ASSERTIONS = ("--assert", "--no-assert-case")
"""A design of one's own fails by its own assertions. `unique` and `priority` only warn, by the standard, and glitches in
combinational logic break them."""

NO_ASSERTIONS = ("--noassert",)
"""A generated design has none."""


@dataclass(frozen=True)
class Sources:
    """What the simulator gets.

    Attributes:
        files: in order. top: the top module, whose ports have this project's names. ports: these names.
        arguments: of the compiler. verilator_args: further ones, of Verilator alone. timing: how it is driven.
        instances: within the top module, to their ports; what a waveform shows first.
    """

    files: tuple[Path, ...]
    top: str
    ports: tuple[str, ...]
    arguments: tuple[str, ...]
    verilator_args: tuple[str, ...]
    timing: Timing
    instances: Mapping[str, Sequence[str]]


def sources_of(design: Design, dut: Dut | None, folder: Path) -> Sources:
    """The generated design, or a wrapper around one's own that gives it the same ports.

    Raises:
        ElaborationError: Verilator cannot read the design. PortMismatch: its ports do not fit its description.
    """
    if dut is None:
        ports = tuple(port.name for port in design.ports)
        source = write_generated(design, folder)
        instances = instance_ports(source.read_text(encoding="utf-8"))
        return Sources((source,), "unit", ports, (), NO_ASSERTIONS, Timing.of_design(design), instances)
    operands = operands_of(design)
    connection = connect(dut, operands, elaborated_ports(dut))
    text = wrapper(dut, operands, connection)
    around = folder / f"{WRAPPER}.sv"
    around.write_text(text, encoding="utf-8")
    ports = (*(operand.name for operand in operands), *dut.timing.controls)
    arguments, own = tuple(compiler_arguments(dut)), {INSTANCE: [port.name for port in connection.ports]}
    further = (*ASSERTIONS, *dut.verilator_args)
    return Sources((*dut.sources, around), WRAPPER, ports, arguments, further, dut.timing, own)


def instance_ports(verilog: str) -> dict[str, list[str]]:
    """Instances in generated Verilog, by name, to the ports of their modules."""
    modules = dict(re.findall(r"^module (\w+)\(([^)]*)\);$", verilog, re.MULTILINE))
    instances = re.findall(r"^  (\w+) (\w+) \($", verilog, re.MULTILINE)
    return {instance: modules[module].split(", ") for module, instance in instances if module in modules}
