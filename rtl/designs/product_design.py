"""What a unit computes over several steps, or for a matrix, as the reference of a user design; and the circuit of a unit
with a table [sums]."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from golden import Implementation, Operation, Unit
from golden.units.unit_file import unit_to_toml
from rtl.datapath.base import Datapath
from rtl.designs.design import VECTORS, FromComponent, Paragraph, WithoutChoices, indented, one_a_cycle, unit_lines
from rtl.designs.ports import Elements, Port, step_operands
from rtl.designs.unit import unit_datapath


@dataclass(frozen=True)
class ProductDesign(WithoutChoices):
    """D = A·B + C of a unit: every element of D is a dot product of K products, in as many steps as the unit needs.

    Attributes:
        unit: the unit, with its tables [chain] and [sums].
        m, n: rows of A and columns of B.
        lengths: the values of K. Of several, the port `format` selects one by its place here; the elements of a and b
            beyond it are not used.
    """

    unit: Unit
    m: int = 1
    n: int = 1
    lengths: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.unit.name

    @property
    def title(self) -> str:
        return f"{self.operation.name} {self.name}"

    @property
    def operation(self) -> Operation:
        return self.unit.operation

    @property
    def implementation(self) -> Implementation:
        return self.unit.implementation.combinational

    @property
    def latency(self) -> int:
        return 0

    @property
    def kinds(self) -> dict[str, int]:
        """K by the name of its rows in reports; the name is empty where there is one K."""
        return {"" if len(self.lengths) == 1 else f"K = {K}": K for K in self.lengths}

    def operands_of(self, K: int) -> dict[str, Elements]:
        """The operands and the result for K products."""
        u, operation = self.unit, self.operation
        found = {"a": Elements(u.a, self.m * K), "b": Elements(u.b, self.n * K)}
        if "c" in operation.operands:
            found["c"] = Elements(operation.c, self.m * self.n)
        if operation.scale_format is not None:
            blocks = -(-K // (operation.block_size or 1))
            found |= {
                f"scale_{x}": Elements(operation.scale_format, side * blocks) for x, side in (("a", self.m), ("b", self.n))
            }
        return found | {"d": Elements(operation.d, self.m * self.n)}

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        operands = self.operands_of(max(self.lengths))
        found = [
            Port("output" if name == "d" else "input", name, elements.width, str(elements), elements.count)
            for name, elements in operands.items()
        ]
        if len(self.lengths) > 1:
            found.append(Port("input", "format", (len(self.lengths) - 1).bit_length(), "which K"))
        return tuple(found)

    @property
    def shared_inputs(self) -> dict[str, int]:
        return {port.name: port.width for port in self.ports if port.name == "format"}

    @property
    def port_lines(self) -> tuple[str, ...]:
        return tuple(str(port) for port in self.ports)

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        return (("Unit:", *unit_lines(self.unit)), (f"{VECTORS}):", *indented(self.port_lines)))

    def component(self) -> Datapath:
        raise ValueError(f"{self.name} over several steps, or for a matrix, is no generated circuit")

    def as_table(self) -> dict[str, Any]:
        return {"product": {"unit": unit_to_toml(self.unit), "m": self.m, "n": self.n, "lengths": list(self.lengths)}}


@dataclass(frozen=True)
class SumsDesign(FromComponent, ProductDesign):
    """The datapath of a unit with a table [sums], over `usual_K` products."""

    @classmethod
    def of(cls, unit: Unit) -> "SumsDesign":
        """The design of a unit with a table [sums]."""
        return cls(unit, lengths=(unit.usual_K,))

    @property
    def implementation(self) -> Implementation:
        return self.unit.implementation

    @property
    def operands(self) -> dict[str, Elements]:
        """The operands and the result."""
        return self.operands_of(*self.lengths)

    @property
    def meanings(self) -> dict[str, str]:
        return {name: str(each) for name, each in self.operands.items()}

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        return (*super().paragraphs, (one_a_cycle(self.latency),))

    def component(self) -> Datapath:
        return unit_datapath(self.unit)

    def as_table(self) -> dict[str, Any]:
        return {"unit": unit_to_toml(self.unit)}


def unit_operands(unit: Unit) -> dict[str, Elements]:
    """The operands and the result of a unit's circuit."""
    return step_operands(unit.operation) if unit.sums is None else SumsDesign.of(unit).operands
