"""A unit with mutants: its Verilog, the chosen mutants, and the file that holds all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from cosim.bench.protocol import Timing
from cosim.build.sources import NO_ASSERTIONS, Sources
from golden import Unit
from mmau.mutation.sample import Mutant, mutants_of
from mmau.mutation.schemata import with_schemata
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.verilog_text import read_netlist
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog

TOP = "unit"


@dataclass(frozen=True)
class MutatedUnit:
    """A unit's Verilog with mutants.

    Attributes:
        verilog: the unit's Verilog. plain: the modules of that Verilog. mutants: in the order of its lines.
        text: the Verilog with all of them.
    """

    unit: Unit
    verilog: str
    plain: Mapping[str, Module]
    mutants: Sequence[Mutant]
    text: str

    @classmethod
    def of(cls, unit: Unit, count: int, seed: int) -> "MutatedUnit":
        """The unit with `count` mutants of its generated Verilog."""
        verilog = to_verilog(unit, TOP)
        plain = read_netlist(verilog)
        mutants = mutants_of(plain, TOP, count, seed)
        return cls(unit, verilog, plain, mutants, with_schemata(verilog, plain, mutants))

    def with_only(self, mutants: Sequence[Mutant]) -> "MutatedUnit":
        """The unit with some of its mutants."""
        return replace(self, mutants=mutants, text=with_schemata(self.verilog, self.plain, mutants))

    @cached_property
    def modules(self) -> Mapping[str, Module]:
        """The modules of the text."""
        return read_netlist(self.text)

    def sources(self, folder: Path) -> Sources:
        """The sources for the simulator; the file is written into the folder."""
        file = folder / f"{TOP}.v"
        file.write_text(self.text, encoding="utf-8")
        design = UnitDesign(self.unit)
        ports = tuple(port.name for port in design.ports)
        return Sources((file,), TOP, ports, (), NO_ASSERTIONS, Timing.of_design(design), {})
