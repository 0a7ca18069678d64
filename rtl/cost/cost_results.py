"""The results of the cost flow for a design: records, and their report as text and as JSON."""

from dataclasses import asdict, dataclass
from math import floor, log10
from typing import Any

from golden.text import table
from rtl.cost.liberty import DEFAULT, short_name


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
        module: name of its Verilog module.
        count: number of instances in the design.
        cost: cost of one instance, without the components inside it.
    """

    module: str
    count: int
    cost: Cost


@dataclass(frozen=True)
class StageDelay:
    """One stage of a pipeline.

    Attributes:
        register: the step that its register follows.
        delay_ns: the shortest clock period that its paths meet: from the registers before it, or the operand ports, to its
            own, with their set-up time and the handshake that enables them.
    """

    register: str
    delay_ns: float


@dataclass(frozen=True)
class PipelineTiming:
    """The figures of a datapath's mapped netlist by static timing analysis.

    Attributes:
        stages: every stage in order; empty for a combinational datapath.
        delay_ns: the shortest clock period that every path meets, those of the handshake and of the ports included.
        area_um2: area of the whole netlist (µm²).
        energy_pj: energy of one step (pJ).
        products: number of products that a step takes.
    """

    stages: tuple[StageDelay, ...]
    delay_ns: float
    area_um2: float
    energy_pj: float
    products: int

    @property
    def balance(self) -> float | None:
        """Delay of the longest stage divided by the mean of all stages, 1 if all are alike; None without stages."""
        delays = [stage.delay_ns for stage in self.stages]
        return max(delays) * len(delays) / sum(delays) if delays else None

    def lines(self, clock_ns: float) -> list[str]:
        """Lines of text: every stage with its worst slack under a clock, the whole, and the balance of the stages."""
        found = [
            f"  stage {number}, to the register after {stage.register}: {stage.delay_ns:.3f} ns, "
            f"worst slack {clock_ns - stage.delay_ns:.3f} ns"
            for number, stage in enumerate(self.stages, 1)
        ]
        found.append(f"  all paths: {self.delay_ns:.3f} ns, worst slack {clock_ns - self.delay_ns:.3f} ns")
        return found if self.balance is None else [*found, f"  longest stage / mean of the stages: {self.balance:.2f}"]


def _digits(value: float, decimals: int) -> str:
    """A number above 0 with so many decimals, or with those that make three digits: a step in 7 nm takes tenths of a pJ."""
    return f"{value:.{max(decimals, 2 - floor(log10(value)))}f}"


@dataclass(frozen=True)
class CostReport:
    """A design's cost.

    Attributes:
        whole: of the design, flattened; gates are shared across its parts, so the parts' sum differs.
        parts: of its components, the largest in sum first; last the design's own glue and registers, without a depth (0).
        area: in the cells of the library (µm²), None where that is not installed.
        latency: cycles.
        products: that a step takes; None of a design that is no single unit.
        curve: area and energy against delay, one entry a number of stages, the fewest first; of a unit with `clock_ns`.
        library: of area and curve: its name, or the path of its Liberty file.
    """

    whole: Cost
    parts: tuple[PartCost, ...]
    area: float | None
    latency: int
    products: int | None
    curve: tuple[PipelineTiming, ...] = ()
    library: str = DEFAULT

    def as_dict(self) -> dict[str, Any]:
        """The report as values for JSON."""
        return asdict(self)

    def text(self, name: str) -> str:
        """The report as text: the whole design, then a table of its components."""
        rows = [("component", "count", "cells each", "transistors each", "depth")]
        for part in self.parts:
            each = part.cost
            rows.append((part.module, str(part.count), str(each.cells), str(each.transistors), str(each.depth or "-")))
        whole = self.whole
        area = f"not measured (no qflow-tech-{self.library})" if self.area is None else f"{self.area:.0f} µm², without wires"
        shared = (
            [] if self.products is None else [f"per product, {self.products} a step: {self._per_product(self.products)}"]
        )
        return "\n".join(
            [
                f"{name}: {whole.cells} cells ({whole.registers} flip-flops), about {whole.transistors} transistors, "
                f"logic depth {whole.depth}, latency {self.latency} cycles",
                f"area in {self._cells}: {area}",
                *shared,
                "components, each synthesised by itself (the whole shares gates across them):",
                table(rows),
                *self._curve_lines(),
            ]
        )

    def _curve_lines(self) -> list[str]:
        if not self.curve:
            return []
        rows = [
            ("stages", "shortest clock", "area", "energy of a step", "area per product", "energy per product", "balance")
        ]
        for point in self.curve:
            area, energy = point.area_um2, point.energy_pj
            costs = (
                f"{_digits(area, 0)} µm²",
                f"{_digits(energy, 1)} pJ",
                f"{_digits(area / point.products, 0)} µm²",
                f"{_digits(energy / point.products, 2)} pJ",
            )
            balance = "-" if point.balance is None else f"{point.balance:.2f}"
            rows.append((str(len(point.stages)), f"{point.delay_ns:.3f} ns", *costs, balance))
        return [f"area and energy against delay, in {self._cells}, without wires and a clock tree:", table(rows)]

    @property
    def _cells(self) -> str:
        """The library's cells in words."""
        return f"{short_name(self.library)} cells"

    def _per_product(self, products: int) -> str:
        """The cost per product as text, by which units of different L are compared."""
        area = "" if self.area is None else f", {self.area / products:.0f} µm²"
        return f"{self.whole.cells / products:.0f} cells, {self.whole.transistors / products:.0f} transistors{area}"
