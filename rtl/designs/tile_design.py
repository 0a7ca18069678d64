"""The tile of an instruction as a design."""

from dataclasses import dataclass
from typing import Any

from golden import Implementation, Instruction, Operation, Unit
from rtl.designs.design import VECTORS, FromComponent, Paragraph, indented, unit_lines
from rtl.designs.ports import Elements, tile_operands
from rtl.designs.tile import MMATile, TileShape, check_tile

MAX_TILE_PRODUCTS = 4096
"""Largest number of products that a tile may multiply in a step, m·n·L: 16 x 8 elements of 32 products each. A tile of 1,024
products takes 17 s and 0.5 GiB to write; both grow with the number of products."""


@dataclass(frozen=True)
class TileDesign(FromComponent):
    """The tile of an instruction of the catalogue, whose m or n `dataclasses.replace` may have changed.

    Raises:
        ValueError: a tile that cannot be built, or is too large.
    """

    instruction: Instruction
    implementation: Implementation

    def __post_init__(self) -> None:
        check_tile(self.instruction, self.implementation)
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
        return f"{i.arch} {i.name}, {i.m}x{i.n} tile"

    @property
    def title(self) -> str:
        i = self.instruction
        return f"{i.m} x {i.n} x {i.k} tile of {i.arch} {i.name}"

    @property
    def operation(self) -> Operation:
        return self.instruction.operation

    @property
    def meanings(self) -> dict[str, str]:
        i, L = self.instruction, self.operation.length
        meanings = {"a": f"{Elements(i.a, L)} of each row", "b": f"{Elements(i.b, L)} of each column"}
        if i.scale is not None:
            scales = Elements(i.scale, self.operation.scales_per_step)
            meanings |= {"scale_a": f"{scales} of each row", "scale_b": f"{scales} of each column"}
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
        unit = Unit(name=i.step_name, operation=i.operation, implementation=self.implementation)
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
        return MMATile(self.instruction, self.implementation)

    def as_table(self) -> dict[str, Any]:
        i = self.instruction
        return {
            "tile": {"arch": i.arch, "name": i.name, "m": i.m, "n": i.n},
            "implementation": self.implementation.as_table(),
        }
