"""The tile of an instruction, or the array of a unit, as a design."""

from dataclasses import dataclass
from typing import Any

from golden import Implementation, Instruction, Operation, Unit
from golden.units.unit import Array
from golden.units.unit_file import unit_to_toml
from rtl.designs.design import VECTORS, FromComponent, Paragraph, indented, unit_lines
from rtl.designs.ports import Elements, tile_operands
from rtl.designs.tile import MMATile, TileShape, check_tile, product_of

MAX_TILE_PRODUCTS = 4096
"""Largest number of products that a tile may multiply in a step, m·n·L: 16 x 8 elements of 32 products each. A tile of 1,024
products takes 17 s and 0.5 GiB to write; both grow with the number of products."""


@dataclass(frozen=True)
class TileDesign(FromComponent):
    """The tile of an instruction of the catalogue, whose m or n `dataclasses.replace` may have changed; or the array of a
    unit.

    Attributes:
        unit: with its table [array]; `instruction` is then the product that it computes.

    Raises:
        ValueError: a tile that cannot be built, or is too large.
    """

    instruction: Instruction
    implementation: Implementation
    unit: Unit | None = None

    @classmethod
    def of_unit(cls, unit: Unit) -> "TileDesign":
        """The array of a unit that has one; raises what the class does."""
        if unit.array is None:
            raise ValueError(f"{unit.name} has no table [array]")
        return cls(product_of(unit, unit.array), unit.implementation, unit)

    @property
    def array(self) -> Array | None:
        """The array of a unit; None for the tile of an instruction."""
        return None if self.unit is None else self.unit.array

    def __post_init__(self) -> None:
        check_tile(self.instruction, self.implementation, self.array)
        i = self.instruction
        products = i.m * i.n * i.operation.length
        if products > MAX_TILE_PRODUCTS:
            raise ValueError(
                f"a tile must have at most {MAX_TILE_PRODUCTS} products a step, m * n * L; "
                f"got {i.m} * {i.n} * {i.operation.length} = {products}: take fewer rows or columns"
            )

    @property
    def name(self) -> str:
        i = self.instruction
        return f"{i.arch} {i.name}, {i.m}x{i.n} {'tile' if self.unit is None else 'array'}"

    @property
    def title(self) -> str:
        i = self.instruction
        return f"{i.m} x {i.n} x {i.k} {'tile' if self.unit is None else 'array'} of {i.arch} {i.name}"

    @property
    def operation(self) -> Operation:
        return self.instruction.operation

    @property
    def meanings(self) -> dict[str, str]:
        i, L = self.instruction, self.operation.length
        meanings = {"a": f"{Elements(i.a, L)} of each row", "b": f"{Elements(i.b, L)} of each column"}
        if i.scale is not None:
            scales = Elements(i.scale, self.operation.scales_per_step)
            lines = {"scale_a": "row", "scale_b": "column"}
            meanings |= {name: f"{scales} of each {lines[name]}" for name in self.operation.scale_operands}
        return meanings | {
            "c": f"{i.m} rows of {Elements(i.c, i.n)}, read with step {TileShape(i).c_step}",
            "d": f"{i.m} rows of {Elements(i.d, i.n)}",
        }

    @property
    def operands(self) -> dict[str, Elements]:
        return tile_operands(self.instruction)

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        i, shape = self.instruction, TileShape(self.instruction)
        unit = self.unit or Unit(name=i.step_name, operation=i.operation, implementation=self.implementation)
        converted = f"a and b are converted to {i.operation.a}, the sum starts from 0, and c is added to it, rounded by RNE."
        steps = [f"  {step}: {', '.join(map(str, shape.products(step)))}" for step in range(shape.steps)]
        return (
            ("Unit of each element:", *unit_lines(unit)),
            *([(converted,)] if i.fp16_order is not None else []),
            (f"{shape.steps} {'step' if shape.steps == 1 else 'steps'}; products k of each:", *steps),
            (f"{VECTORS}):", *indented(self.port_lines)),
            (f"Latency: {self.latency} cycles.",),
        )

    def component(self) -> MMATile:
        return MMATile(self.instruction, self.implementation, self.array)

    def as_table(self) -> dict[str, Any]:
        if self.unit is not None:
            return {"array": unit_to_toml(self.unit)}
        i = self.instruction
        return {
            "tile": {"arch": i.arch, "name": i.name, "m": i.m, "n": i.n},
            "implementation": self.implementation.as_table(),
        }
