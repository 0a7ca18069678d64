"""The tile of an instruction, or the array of a unit, as a design."""

from dataclasses import dataclass, replace
from typing import Any

from golden import Implementation, Instruction, Operation, Unit
from golden.units.unit import Array
from golden.units.unit_file import unit_to_toml
from rtl.designs.design import VECTORS, FromComponent, Paragraph, indented, unit_lines
from rtl.designs.ports import Elements
from rtl.designs.tile import MMATile, TileShape, check_tile, product_of
from rtl.designs.weight_array import WeightArray

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
        rows = self.shape.at_once if self.keeps_weights else i.m
        products = rows * i.n * i.operation.length
        if products > MAX_TILE_PRODUCTS:
            raise ValueError(
                f"a tile must have at most {MAX_TILE_PRODUCTS} products a step, m * n * L; "
                f"got {rows} * {i.n} * {i.operation.length} = {products}: take fewer rows or columns"
            )

    @property
    def shape(self) -> TileShape:
        """What its transfers bring."""
        return TileShape(self.instruction, self.array)

    @property
    def keeps_weights(self) -> bool:
        """Whether it is an array whose weights stay."""
        return self.array is not None and self.array.keeps_weights

    @property
    def name(self) -> str:
        i = self.instruction
        if self.array is not None:
            return f"{i.arch} {i.name}, {self.array.rows}x{self.array.columns} array"
        return f"{i.arch} {i.name}, {i.m}x{i.n} tile"

    @property
    def title(self) -> str:
        i = self.instruction
        return f"{i.m} x {i.n} x {i.k} {'tile' if self.unit is None else 'array'} of {i.arch} {i.name}"

    @property
    def operation(self) -> Operation:
        return self.instruction.operation

    @property
    def meanings(self) -> dict[str, str]:
        i, shape = self.instruction, self.shape
        of_row, of_column = ("a row", "each column") if self.keeps_weights else ("each row", "each column")
        meanings = {}
        for name, elements in shape.operands.items():
            side, count = (of_row, shape.rows) if name.endswith("a") else (of_column, i.n)
            if name not in ("c", "d"):
                meanings[name] = f"{replace(elements, count=elements.count // count)} of {side}"
            if name.endswith("b") and self.keeps_weights:
                meanings[name] += ", read with the first row of each step"
        return meanings | {
            "c": f"{i.m} rows of {Elements(i.c, i.n)}, read with step {shape.c_step}",
            "d": f"{i.m} rows of {Elements(i.d, i.n)}",
        }

    @property
    def operands(self) -> dict[str, Elements]:
        return self.shape.operands

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        i, shape = self.instruction, self.shape
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
        kind = WeightArray if self.keeps_weights else MMATile
        return kind(self.instruction, self.implementation, self.array)

    def as_table(self) -> dict[str, Any]:
        if self.unit is not None:
            return {"array": unit_to_toml(self.unit)}
        i = self.instruction
        return {
            "tile": {"arch": i.arch, "name": i.name, "m": i.m, "n": i.n},
            "implementation": self.implementation.as_table(),
        }
