"""The results of the cost flow for a design: records, and their report as text and as JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from golden.text import table


@dataclass(frozen=True)
class Cost:
    """The gates of one module.

    Attributes:
        cells: two-input NAND and NOR gates, inverters and flip-flops.
        transistors: in static CMOS, as Yosys estimates them.
        depth: gates on the longest path between registers or ports; it ranks designs and is not a delay.
        registers: the flip-flops among the cells.
    """

    cells: int
    transistors: int
    depth: int
    registers: int


@dataclass(frozen=True)
class PartCost:
    """A component of a design, synthesised by itself.

    Attributes:
        module: its Verilog module.
        count: how many the design has.
        cost: of one, without the components in it.
    """

    module: str
    count: int
    cost: Cost


@dataclass(frozen=True)
class CostReport:
    """A design's cost.

    Attributes:
        whole: of the design, flattened; gates are shared across its parts, so the parts' sum differs.
        parts: of its components, the largest in sum first; last the design's own glue and registers, without a depth (0).
        area: in the cells of `rtl.cost.flow.LIBERTY` (µm²), None where that is not installed.
        latency: cycles.
        products: that a step takes; None of a design that is no single unit.
    """

    whole: Cost
    parts: tuple[PartCost, ...]
    area: float | None
    latency: int
    products: int | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def text(self, name: str) -> str:
        """For people: the whole, then the components in a table."""
        rows = [("component", "count", "cells each", "transistors each", "depth")]
        for part in self.parts:
            each = part.cost
            rows.append((part.module, str(part.count), str(each.cells), str(each.transistors), str(each.depth or "-")))
        whole = self.whole
        area = "not measured (no qflow-tech-osu018)" if self.area is None else f"{self.area:.0f} µm²"
        shared = (
            [] if self.products is None else [f"per product, {self.products} a step: {self._per_product(self.products)}"]
        )
        return "\n".join(
            [
                f"{name}: {whole.cells} cells ({whole.registers} flip-flops), about {whole.transistors} transistors, "
                f"logic depth {whole.depth}, latency {self.latency} cycles",
                f"area in osu018 cells: {area}",
                *shared,
                "components, each synthesised by itself (the whole shares gates across them):",
                table(rows),
            ]
        )

    def _per_product(self, products: int) -> str:
        """The cost of equal work, which units of unequal L are compared by."""
        area = "" if self.area is None else f", {self.area / products:.0f} µm²"
        return f"{self.whole.cells / products:.0f} cells, {self.whole.transistors / products:.0f} transistors{area}"
