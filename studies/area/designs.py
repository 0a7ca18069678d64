"""Lists the designs in the table of costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from amaranth import Value

from golden import Implementation, Operation, Unit
from golden.catalogue import catalogue_units, parameter_set_units
from golden.operations import EFDPA, TFDPA
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from golden.units.unit_file import operation_from_table
from rtl.datapath import depths
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Code, Operands
from rtl.datapath.rounded_adder import (
    RNE_FP32,
    ExactProducts,
    RoundedAdder,
    RoundedOperands,
    multiply_elements,
    product_to_fp32,
)
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import decode_vector
from rtl.designs.design import Design
from rtl.designs.identity import design_from_table
from rtl.designs.multi_format_design import WORD_16, MultiFormatDesign
from rtl.designs.unit_design import UnitDesign
from rtl.steps.step_record import Record
from rtl.verilog.emit import modules


@dataclass(frozen=True, eq=False)
class Values(Record):
    """fp32 codes: the sum so far, from c on, and the products that are not yet added (None in place of the others)."""

    c: Value
    value: tuple[Value | None, ...]


class DiscreteDatapath(Datapath):
    """d = (…((c + a_0·b_0) + a_1·b_1) + …): L multipliers to fp32 and L fp32 adders in a chain, all of them IEEE 754, RNE.

    The products are normalised to fp32 codes, which hold them exactly where a and b are fp16; every adder decodes,
    normalises, rounds and knows subnormals, infinities and NaN.

    Args:
        operation: only its formats and L are used.
        implementation: how the adders are built.
    """

    operation: EFDPA

    def __init__(self, operation: EFDPA, implementation: Implementation) -> None:
        super().__init__(operation, implementation)

    def steps(self) -> Steps[Any, Code]:
        operation = self.operation
        values = (
            Steps(Step("decode", depths.DECODE, self.decode))
            .then(Step("multiply", depths.multiply(operation.a, operation.b), self.multiply))
            .then(Step("products", depths.NORMALISE + depths.encode(RNE_FP32), self.round_products))
        )
        sum_depth = depths.DECODE + depths.max_exp(2) + depths.ALIGN + depths.accumulate(2)
        depth = sum_depth + depths.NORMALISE + depths.encode(RNE_FP32)
        for k in range(operation.L - 1):
            values = values.then(Step(f"add_{k}", depth, self._addition(k)))
        return values.then(Step(f"add_{operation.L - 1}", depth, self.add_last))

    def decode(self, build: Build, operands: Operands) -> RoundedOperands:
        """Step decode; c waits as a code."""
        operation = self.operation
        x = decode_vector(build, "x", operands.a, operation.a, operation.L)
        y = decode_vector(build, "y", operands.b, operation.b, operation.L)
        return RoundedOperands(x, y, operands.c)

    def multiply(self, build: Build, operands: RoundedOperands) -> ExactProducts:
        """Build step multiply."""
        return multiply_elements(build, operands, self.operation, self.implementation)

    def round_products(self, build: Build, products: ExactProducts) -> Values:
        """Step products: every product as an fp32 code."""
        codes = [
            product_to_fp32(build, f"prod_{k}", product, self.implementation, flush=False)
            for k, product in enumerate(products.products)
        ]
        return Values(products.c, tuple(codes))

    def _addition(self, k: int) -> Callable[[Build, Values], Values]:
        def add(build: Build, values: Values) -> Values:
            return Values(self._add(build, values, k), (*[None] * (k + 1), *values.value[k + 1 :]))

        return add

    def add_last(self, build: Build, values: Values) -> Code:
        """Build the last addition."""
        return Code(self._add(build, values, self.operation.L - 1))

    def _add(self, build: Build, values: Values, k: int) -> Value:
        product = values.value[k]
        assert product is not None
        adder = RoundedAdder(f"add_{k}", RNE_FP32, self.implementation, canonical=False, flush=False)
        return adder.encode(build, *adder.accumulate(build, adder.align(build, values.c, product)))


_FP16_4 = {"a": "fp16", "b": "fp16", "c": "fp32", "L": 4}
TARGET_NAME = "fp16 L=4 F=24"
TARGET = operation_from_table({"operation": "T-FDPA", **_FP16_4, "F": 24, "rho": "RZ-FP32", "e_zero": -132})
"""The unit whose size others have published figures for."""

FMA_NAME = "FMA fp32"
FMA_FP32 = operation_from_table({"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"})

EXACT_NAME = "E-FDPA fp16 L=4"
EXACT = operation_from_table({"operation": "E-FDPA", **_FP16_4})
"""The exact sum whose window is much wider than its products."""

SHARED = tuple(
    TFDPA(a=name, b=name, c="fp32", L=2 * count, F=25, rho="RZ-FP32", e_zero=-133)  # type: ignore[arg-type]
    for name, count in WORD_16.items()
)
"""The formats that share a datapath: two words."""

SHALLOW: Mapping[str, str] = {"max_exp": "pairwise", "result_exp": "parallel", "adder": "kogge-stone"}
"""The choices that together give the shallowest path of the target without anticipation."""

SHALLOW_BOOTH: Mapping[str, str] = {**SHALLOW, "multiplier": "booth"}
"""The choices of `SHALLOW` with the multiplier that has the fewest rows: the shallowest path of all."""

SMALLEST: Mapping[str, str] = {"result_exp": "parallel", "multiplier": "booth"}
"""The choices that together give the target with the fewest cells."""

SHALLOW_FMA: Mapping[str, str] = {"result_exp": "parallel", "adder": "kogge-stone", "multiplier": "carry-save"}
"""The choices that together give the shallowest path of the FMA."""

ROUNDED: Mapping[str, str] = {"normaliser": "narrowing", "rounder": "compound"}
"""The choices behind the sum, which spare cells where ρ needs all bits of the total."""

LONG: Mapping[str, str] = {**ROUNDED, "accumulator": "long"}
"""The choices of `ROUNDED` with a sum in which each term has only the places that it can reach."""

KEYS: Mapping[str, tuple[str, ...]] = {**CIRCUIT_CHOICES, **LATER_KEYS}
"""The keys that choose the circuit of one step, the default first."""

DISCRETE_NAME = "four fp16 multipliers, four fp32 adders"
DISCRETE = EFDPA(a="fp16", b="fp16", c="fp32", L=4, rho="RNE-FP32")  # type: ignore[arg-type]
"""Formats and L of the benchmark."""


@dataclass(frozen=True)
class DiscreteDesign:
    """The benchmark of separate multipliers and adders.

    Attributes:
        operation: names formats and L alone.
    """

    operation: EFDPA
    implementation: Implementation

    def component(self) -> Datapath:
        """The circuit; see `Design.component`."""
        return DiscreteDatapath(self.operation, self.implementation)

    def as_table(self) -> dict[str, Any]:
        """The design as plain data; see `Design.as_table`."""
        return {"discrete": asdict(self.implementation)}


@dataclass(frozen=True)
class Row:
    """A design of the table.

    Attributes:
        name: in the table.
        design: a design, or the benchmark.
        joined: whether its components are mapped by themselves and joined, or all as one.
    """

    name: str
    design: Design | DiscreteDesign
    joined: bool = False

    @property
    def key(self) -> str:
        """The key of the row among the records."""
        built = self.design.implementation
        chosen = [f"{key}={own}" for key, choices in KEYS.items() if (own := getattr(built, key)) != choices[0]]
        return " | ".join([self.name, built.encoding, *chosen, *(["joined"] if self.joined else [])])

    def verilog(self) -> str:
        """The Verilog of the design without its header, which does not affect the cost."""
        return modules(self.design.component(), "unit")

    def as_table(self) -> dict[str, Any]:
        """The row as plain data."""
        return {"name": self.name, "joined": self.joined, "design": self.design.as_table()}


def row_from_table(table: Mapping[str, Any]) -> Row:
    """The row that `Row.as_table` described."""
    design = table["design"]
    if "discrete" in design:
        return Row(table["name"], DiscreteDesign(DISCRETE, Implementation(**design["discrete"])), table["joined"])
    return Row(table["name"], design_from_table(design), table["joined"])


def row_of(name: str, operation: Operation, implementation: Implementation, joined: bool = False) -> Row:
    """The row of a unit's datapath."""
    return Row(name, UnitDesign(Unit(name=name, operation=operation, implementation=implementation)), joined)


def rows() -> list[Row]:
    """All rows that are measured."""
    return [*target_rows(), *exact_rows(), *(row for encoded in [*shared_rows(), *datapath_rows()] for row in encoded)]


def target_rows() -> list[Row]:
    """In every encoding: the target built with every choice, the benchmark, and the FMA."""
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    return [
        *(row_of(TARGET_NAME, TARGET, implementation) for implementation in (*encoded, *other_choices())),
        *(Row(DISCRETE_NAME, DiscreteDesign(DISCRETE, implementation)) for implementation in encoded),
        *(row_of(FMA_NAME, FMA_FP32, implementation) for implementation in (*encoded, *other_fma())),
    ]


def exact_rows() -> list[Row]:
    """An exact sum by default, with each key that matters to it, and with these together; mapped as the datapaths."""
    changes: list[Mapping[str, str]] = [{}, *({key: choice} for key, choice in LONG.items()), ROUNDED, LONG]
    return [row_of(EXACT_NAME, EXACT, Implementation(**change), joined=True) for change in changes]  # type: ignore[arg-type]


def shared_rows() -> list[list[Row]]:
    """In every encoding: one datapath for all formats of a word, then a separate datapath for each format."""
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    name = f"{', '.join(WORD_16)} on one datapath"
    return [
        [Row(name, shared_design(implementation), joined=True) for implementation in encoded],
        *([row_of(f"{o.a} L={o.L} F={o.F}", o, implementation, joined=True) for implementation in encoded] for o in SHARED),
    ]


def shared_design(implementation: Implementation) -> MultiFormatDesign:
    """One datapath for all formats of a word."""
    units = (Unit(name=str(o.a), operation=o, implementation=implementation) for o in SHARED)
    return MultiFormatDesign(tuple(units))


def datapath_rows() -> list[list[Row]]:
    """The target, then the catalogue's distinct datapaths, each in every encoding.

    A datapath that only exchanges the formats of a and b equals the other with exchanged ports, and is listed once. One
    datapath
    of each parameter set comes before the others, which have the same parameters in other formats; within both the smallest
    comes first.
    """
    first = {unit.operation for unit in parameter_set_units()}
    units = sorted(unmirrored(catalogue_units()), key=lambda unit: (unit.operation not in first, rough_size(unit.operation)))
    named = [(TARGET_NAME, TARGET), *((unit.name, unit.operation) for unit in units)]
    return [
        [row_of(name, operation, Implementation(encoding=encoding), joined=True) for encoding in ENCODINGS]
        for name, operation in named
    ]


def unmirrored(units: Sequence[Unit]) -> list[Unit]:
    """The units without those that an earlier one becomes when its a and b are exchanged."""
    kept: dict[Operation, Unit] = {}
    for unit in units:
        if replace(unit.operation, a=unit.operation.b, b=unit.operation.a) not in kept:
            kept[unit.operation] = unit
    return list(kept.values())


def other_choices() -> list[Implementation]:
    """In every encoding: the target with one step built by a choice other than the default, for each choice; then choices
    together."""
    kept = LONG.keys()  # of a total that RZ truncates they change next to nothing
    others: list[Mapping[str, str]] = [{key: c} for key, choices in KEYS.items() if key not in kept for c in choices[1:]]
    others += [SHALLOW, SHALLOW_BOOTH, SMALLEST]
    return [Implementation(encoding=encoding, **other) for other in others for encoding in ENCODINGS]  # type: ignore[arg-type]


def other_fma() -> list[Implementation]:
    """Every last adder, multiplier, normaliser and rounder other than the default, in the default encoding. Then
    `SHALLOW_FMA`, and `ROUNDED` with and without the multiplier of `SHALLOW_FMA`."""
    others = [{key: choice} for key, choices in LATER_KEYS.items() if key != "accumulator" for choice in choices[1:]]
    together = (SHALLOW_FMA, ROUNDED, {**ROUNDED, "multiplier": SHALLOW_FMA["multiplier"]})
    return [Implementation(**other) for other in (*others, *together)]  # type: ignore[arg-type]


def rough_size(operation: Operation) -> int:
    """About how large a datapath is, to order by: partial products of the multipliers, and bits that are aligned."""
    x, y = operation.a, operation.b
    partial_products = (x.man_bits + 1) * (y.man_bits + 1)
    aligned = x.e_max + y.e_max - x.e_min - y.e_min if operation.structure.is_exact_dot_product else 30
    return operation.length * (partial_products + 5 * aligned)
