"""What a unit computes over several steps, or for a matrix, as the reference of a user design; and the circuit of a unit
with a table [sums]."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from golden import Implementation, Operation, Unit
from golden.units.controls import MOST_CHOICES
from golden.units.unit import Choice
from golden.units.unit_file import unit_from_table, unit_to_toml
from rtl.datapath.base import Datapath
from rtl.designs.design import VECTORS, FromComponent, Paragraph, WithoutChoices, indented, one_a_cycle, unit_lines
from rtl.designs.ports import Echo, Elements, Port, echoes_of, inputs_of, step_operands
from rtl.designs.unit import unit_datapath


@dataclass(frozen=True)
class ProductDesign(WithoutChoices):
    """D = A·B + C of a unit: every element of D is a dot product of K products, in as many steps as the unit needs.

    Attributes:
        unit: the unit, with its tables [chain], [sums] and [controls].
        m, n: rows of A and columns of B.
        lengths: the values of K. Of several, the port `format` selects one by its place here; the elements of a and b
            beyond it are not used.
        inputs, echoes: as of a `ControlledDesign`, for the whole product.
        last_flags: of how many products, the last ones, exception flags are; 0 for those of all together.

    Raises:
        ValueError: controls that choose what several steps, or a matrix, do not have.
    """

    unit: Unit
    m: int = 1
    n: int = 1
    lengths: tuple[int, ...] = ()
    inputs: tuple[tuple[str, int], ...] = ()
    echoes: tuple[Echo, ...] = ()
    last_flags: int = 0

    def __post_init__(self) -> None:
        if self.mask and self.m * self.n > 1:
            raise ValueError(f"[controls] {self.mask}: a mask is for one dot product, not for [matrix]")
        others = [(self.unit.metadata, "metadata"), (self.unit.random and self.unit.random.port, "random bits")]
        for port, what in (*others, *((port, "zero points") for port in self.unit.zeros.values())):
            if port:
                raise ValueError(f"[controls] {port}: {what} are for one step, not for [matrix] or [beats]")
        if self.unit.controls and len(self.kinds) > MOST_CHOICES:
            many = f"{MOST_CHOICES} combinations of values, got {len(self.kinds)}"
            raise ValueError(f"[controls] and [beats] count must have at most {many}")
        own = step_operands(self.operation)
        for choice, K in self.kinds if self.unit.controls else ():
            of_it, where = step_operands(choice.unit.operation), f"[controls] {choice.name}"
            choice.unit.chain_over(K)
            if any(elements.format.width != own[name].format.width for name, elements in of_it.items()):
                raise ValueError(f"{where}: formats of one width go with products, [matrix] and [beats], got others")
            if any(source.port != name for name, source in choice.places.items()):
                raise ValueError(f"{where}: operands come from their own ports in products, [matrix] and [beats]")
            if "c" in choice.places and choice.unit.operation.length < K:
                raise ValueError(f'{where}: c = "-c" goes with one step, not with {K} products in several: negate a or b')

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

    @cached_property
    def kinds(self) -> tuple[tuple[Choice, int], ...]:
        """What inputs choose among, with K; the name of its rows in reports is empty where there is one."""
        several, found = len(self.lengths) > 1, list[tuple[Choice, int]]()
        for choice in self.unit.choices:
            for number, K in enumerate(self.lengths):
                names = [name for name in (choice.name, f"K = {K}" if several else "") if name]
                codes = dict(choice.codes) | ({"format": number} if several else {})
                found.append((replace(choice, name=", ".join(names), codes=codes), K))
        return tuple(found)

    @property
    def choices(self) -> tuple[Choice, ...]:
        return tuple(choice for choice, _ in self.kinds)

    @property
    def mask(self) -> str:
        return self.unit.mask

    def operands_of(self, K: int, chosen: Unit | None = None) -> dict[str, Elements]:
        """The operands and the result for K products, of the unit or of one that inputs choose."""
        u = chosen or self.unit
        operation = u.operation
        found = {"a": Elements(u.a, self.m * K), "b": Elements(u.b, self.n * K), "c": Elements(operation.c, self.m * self.n)}
        found = {name: elements for name, elements in found.items() if name in operation.operands}
        if operation.scale_format is not None:
            blocks = -(-K // (operation.block_size or 1))
            found |= {
                name: Elements(operation.scale_format, lines * blocks)
                for name, lines in (("scale_a", self.m), ("scale_b", self.n))
                if name in operation.scale_operands
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
        found += [Port("input", name, width, "", width if name == self.mask else 1) for name, width in self.inputs]
        return tuple(found)

    @property
    def shared_inputs(self) -> dict[str, int]:
        known = ("format", *(name for name, _ in self.inputs if name != self.mask))
        return {port.name: port.width for port in self.ports if port.name in known}

    @property
    def port_lines(self) -> tuple[str, ...]:
        return tuple(str(port) for port in self.ports)

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        return (("Unit:", *unit_lines(self.unit)), (f"{VECTORS}):", *indented(self.port_lines)))

    def component(self) -> Datapath:
        raise ValueError(f"{self.name} over several steps, or for a matrix, is no generated circuit")

    def as_table(self) -> dict[str, Any]:
        table = {"unit": unit_to_toml(self.unit), "m": self.m, "n": self.n, "lengths": self.lengths, "inputs": self.inputs}
        return {"product": table | {"echoes": self.echoes, "last_flags": self.last_flags}}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "ProductDesign":
        """The design that `as_table` described."""
        given = {"lengths": tuple(table["lengths"]), "inputs": inputs_of(table), "echoes": echoes_of(table)}
        return cls(**{**table, "unit": unit_from_table(tomllib.loads(table["unit"])), **given})


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
        return self.operands_of(max(self.lengths))

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
