"""What a design under test should be: a unit, a datapath of several formats, or (cosim.bench.tile) an instruction's tile."""

import random
import tomllib
from dataclasses import dataclass
from typing import Any, Protocol

from cosim.bench.packing import packed
from cosim.bench.vectors import DotProducts, Element, Vectors
from golden import Implementation, Unit
from golden.stimulus import OperandShape, generate
from golden.unit import unit_from_table, unit_to_toml
from rtl import multi_format_verilog, unit_verilog
from rtl.designs.multi_format import check_units

HANDSHAKE_WIDTHS = {"clk": 1, "rst": 1, "in_valid": 1, "in_ready": 1, "out_valid": 1, "out_ready": 1}
"""Ports of a design with pipeline stages, beside its operands and result: width (bits)."""


class Subject(Protocol):
    """What a design should be, as the runner, the testbench and the scoreboard need it."""

    @property
    def name(self) -> str:
        """For tables."""

    @property
    def operation(self) -> str:
        """For tables: the operation's name."""

    @property
    def implementation(self) -> Implementation:
        """How the generated design is built; its stages also say how a design is driven."""

    def operand_widths(self) -> dict[str, int]:
        """Ports of operands and result, and their widths (bits)."""

    def verilog(self, top: str) -> str:
        """The generated design.

        Raises:
            ValueError: parameters that no datapath can hold.
        """

    def vectors(self, count: int, seed: int) -> Vectors:
        """Fresh stimulus for `count` results, and the golden model's answers to it."""

    def as_table(self) -> dict[str, Any]:
        """For JSON: what `cosim.runner.job.subject_from_table` makes an equal one of."""


def port_widths(subject: Subject) -> dict[str, int]:
    """Every port that the design must have, and its width (bits)."""
    return subject.operand_widths() | (HANDSHAKE_WIDTHS if subject.implementation.stages else {})


@dataclass(frozen=True)
class OneUnit:
    """The datapath of a unit."""

    unit: Unit

    @property
    def name(self) -> str:
        """The unit's."""
        return self.unit.name

    @property
    def operation(self) -> str:
        """The unit's."""
        return self.unit.operation.name

    @property
    def implementation(self) -> Implementation:
        """The unit's."""
        return self.unit.implementation

    def operand_widths(self) -> dict[str, int]:
        operation = self.unit.operation
        widths = {
            "a": operation.length * operation.a.width,
            "b": operation.length * operation.b.width,
            "c": operation.c.width,
            "d": operation.d.width,
        }
        if operation.scale_format is not None:
            scales = operation.scales_per_step * operation.scale_format.width
            widths |= {"scale_a": scales, "scale_b": scales}
        return widths

    def verilog(self, top: str) -> str:
        return unit_verilog(self.unit, top)

    def vectors(self, count: int, seed: int) -> Vectors:
        products = dot_products(self.unit, count, seed)
        return Vectors(transfers(products), [[Element(products, row)] for row in range(count)])

    def as_table(self) -> dict[str, Any]:
        return {"unit": unit_to_toml(self.unit)}


@dataclass(frozen=True)
class MultiFormat:
    """One datapath for T-FDPA units of several formats (rtl.designs.multi_format), any of which may come next.

    Raises:
        ValueError: units that cannot share a datapath.
    """

    units: tuple[Unit, ...]

    def __post_init__(self) -> None:
        check_units(self.units)

    @property
    def name(self) -> str:
        """The first unit's, and how many share its datapath."""
        return f"{self.units[0].name} in {len(self.units)} formats"

    @property
    def operation(self) -> str:
        """The units'."""
        return self.units[0].operation.name

    @property
    def implementation(self) -> Implementation:
        """The units'."""
        return self.units[0].implementation

    def operand_widths(self) -> dict[str, int]:
        return OneUnit(self.units[0]).operand_widths() | {"format": max(1, (len(self.units) - 1).bit_length())}

    def verilog(self, top: str) -> str:
        return multi_format_verilog(self.units, top)

    def vectors(self, count: int, seed: int) -> Vectors:
        """About as many of each format, in random order.

        Raises:
            ValueError: a count that leaves a format without any.
        """
        check_count(self, count)
        both: list[tuple[dict[str, int], list[Element]]] = []
        for number, unit in enumerate(self.units):
            share = len(range(number, count, len(self.units)))
            products = dot_products(unit, share, seed, name=f"format {number} ({unit.name})")
            shown = [transfer | {"format": number} for transfer in transfers(products)]
            both += zip(shown, ([Element(products, row)] for row in range(share)), strict=True)
        random.Random(seed).shuffle(both)
        return Vectors([transfer for transfer, _ in both], [elements for _, elements in both])

    def as_table(self) -> dict[str, Any]:
        return {"formats": [unit_to_toml(unit) for unit in self.units]}


def as_subject(design: Unit | Subject) -> Subject:
    """A unit as what a design should be."""
    return OneUnit(design) if isinstance(design, Unit) else design


def check_count(subject: Subject, count: int) -> None:
    """Raise ValueError for fewer vectors than a datapath has formats: one would pass unseen."""
    if isinstance(subject, MultiFormat) and count < len(subject.units):
        raise ValueError(f"vectors must be at least the {len(subject.units)} formats of the datapath, got {count}")


def dot_products(unit: Unit, count: int, seed: int, name: str = "") -> DotProducts:
    """Fresh stimulus for one step of a unit, and golden's results."""
    operation = unit.operation
    stimulus = generate(OperandShape.of_operation(operation), count, seed)
    return DotProducts(name, operation, stimulus, unit.dot(*stimulus.operands).tolist(), (operation.a, operation.b))


def transfers(products: DotProducts) -> list[dict[str, int]]:
    """What the operand ports of a datapath show for each row."""
    operation, operands = products.operation, products.stimulus.operands
    columns = {
        "a": packed(operands.a, operation.a),
        "b": packed(operands.b, operation.b),
        "c": packed(operands.c[:, None], operation.c),
    }
    if operation.scale_format is not None and operands.scale_a is not None and operands.scale_b is not None:
        columns["scale_a"] = packed(operands.scale_a, operation.scale_format)
        columns["scale_b"] = packed(operands.scale_b, operation.scale_format)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def unit_from_toml(text: str) -> Unit:
    """The unit that `unit_to_toml` wrote."""
    return unit_from_table(tomllib.loads(text))
