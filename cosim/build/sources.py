"""The sources of a simulation: files, top module, arguments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cosim.bench.protocol import Timing
from cosim.build.errors import SimulationError
from cosim.dut.files_read import VHDL, FileRead, changed_since, digests_of
from cosim.dut.generated import write_generated
from golden.checks import listed
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.product_design import ProductDesign

if TYPE_CHECKING:
    from cosim.dut.description import Dut

ASSERTIONS = ("--assert", "--no-assert-case")
"""Failed assertions of a user design fail the run. Violations of `unique` and `priority` do not: the standard makes them
warnings, and glitches in combinational logic cause them."""

NOT_SIMULATED = "that text was not simulated"
"""The end of a line of a report about another text of a user design."""

NO_ASSERTIONS = ("--noassert",)
"""The argument for a generated design, which has no assertions."""


@dataclass(frozen=True)
class Sources:
    """The sources of a simulation.

    Attributes:
        files: source files, in order. top: the top module, whose ports have this project's names. ports: these names.
        arguments: arguments of every compiler. verilator_args: further arguments of Verilator only.
        timing: timing of the top module.
        instances: the ports of each instance in the top module, which a waveform shows first.
        read: the files that Verilator read when it elaborated a user design, by path, also those that it found itself; none
            for a generated design, whose files are complete.
        opens, loaded: the files that a user design opens when it runs, as `cosim.dut.elaborate.Elaborated` has them.
        not_compared: outputs of a user design that nothing looks at, or bits of them. held: inputs at a constant, with it.
        translated: the VHDL files of a circuit that GHDL wrote; `files` and `read` are then of that circuit.
    """

    files: tuple[Path, ...]
    top: str
    ports: tuple[str, ...]
    arguments: tuple[str, ...]
    verilator_args: tuple[str, ...]
    timing: Timing
    instances: Mapping[str, Sequence[str]]
    read: Mapping[str, FileRead] = field(default_factory=dict)
    opens: tuple[str, ...] = ()
    loaded: Mapping[str, str] = field(default_factory=dict)
    not_compared: tuple[str, ...] = ()
    held: Mapping[str, int | str] = field(default_factory=dict)
    translated: Mapping[str, FileRead] = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file of a user design, by path."""
        return {**digests_of(self.translated or self.read), **self.loaded}

    @property
    def is_vhdl(self) -> bool:
        """Whether they are VHDL, which GHDL simulates."""
        return self.files[0].suffix.lower() in VHDL

    def check_unchanged(self) -> None:
        """Check that what a tool has read since is what was elaborated.

        Raises:
            SimulationError: a file of a user design was changed meanwhile.
        """
        changed = changed_since({**self.translated, **self.read})
        if changed:
            raise SimulationError(
                f"{listed(changed)} changed while the design was read: it is not known which text was compiled; run again"
            )


def sources_of(design: Design, dut: "Dut | None", folder: Path, is_simulated: bool = True) -> Sources:
    """The sources of the generated design, or of a user design in a wrapper that gives it the same ports.

    Args:
        is_simulated: whether the wrapper is for a simulation, and not for a proof.

    Raises:
        ElaborationError: Verilator, or GHDL, cannot read the design. PortMismatch: its ports do not fit its description.
        MissingTool: it is in VHDL, and GHDL is not installed.
    """
    if dut is None:
        ports = tuple(port.name for port in design.ports)
        source = write_generated(design, folder)
        instances = instance_ports(source.read_text(encoding="utf-8"))
        return Sources((source,), "unit", ports, (), NO_ASSERTIONS, Timing.of_design(design), instances)
    if (dut.controls or dut.echo or dut.flags) and not isinstance(design, ControlledDesign | ProductDesign):
        raise ValueError(
            "[controls], [echo] and [flags] are for mmau cosim and mmau prove: leave them out, and hold inputs at a value "
            "with [tie]"
        )
    from cosim.dut.adapter import inner_operands  # a generated design does without these
    from cosim.dut.connection import connect, narrower_results, operands_of
    from cosim.dut.elaborate import INSTANCE, WRAPPER, compiler_arguments, elaborated
    from cosim.dut.wrapper import wrapper

    if dut.is_vhdl:
        return _vhdl_sources(design, dut, folder)
    operands = operands_of(design, dut.widths)
    design_read = elaborated(dut)
    inner = inner_operands(dut, operands, is_simulated) if dut.has_inner_operands else operands
    connection = connect(dut, inner, design_read.ports, narrower_results(design, dut.widths))
    text = wrapper(dut, operands, connection, design_read.parameters, inner, is_simulated)
    around = folder / f"{WRAPPER}.sv"
    around.write_text(text, encoding="utf-8")
    ports = (*(operand.name for operand in operands), *dut.timing.controls)
    arguments, instances = tuple(compiler_arguments(dut)), {INSTANCE: [port.name for port in connection.ports]}
    further = (*ASSERTIONS, *dut.verilator_args)
    return Sources(
        (*dut.sources, around),
        WRAPPER,
        ports,
        arguments,
        further,
        dut.timing,
        instances,
        design_read.read,
        design_read.opens,
        design_read.loaded,
        connection.not_compared,
        dut.tie,
        dut.translated,
    )


def _vhdl_sources(design: Design, dut: "Dut", folder: Path) -> Sources:
    """The sources of a design in VHDL, in a wrapper in VHDL."""
    from cosim.dut.elaborate import INSTANCE, WRAPPER
    from cosim.dut.vhdl import analysis_arguments, files_of, wrapped

    read = files_of(dut)
    around = folder / f"{WRAPPER}.vhd"
    text, operands, connection = wrapped(WRAPPER, design, dut)
    around.write_text(text, encoding="utf-8")
    ports = (*(operand.name for operand in operands), *dut.timing.controls)
    instances = {INSTANCE: [port.name for port in connection.ports]}
    files, arguments = (*dut.sources, around), analysis_arguments(dut)
    found = Sources(files, WRAPPER, ports, arguments, (), dut.timing, instances, read)
    return replace(found, not_compared=connection.not_compared, held=dut.tie)


def instance_ports(verilog: str) -> dict[str, list[str]]:
    """The port names of each instance in generated Verilog, by name of the instance."""
    modules = dict(re.findall(r"^module (\w+)\(([^)]*)\);$", verilog, re.MULTILINE))
    instances = re.findall(r"^  (\w+) (\w+) \($", verilog, re.MULTILINE)
    return {instance: modules[module].split(", ") for module, instance in instances if module in modules}
