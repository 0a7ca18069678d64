"""Which designs the table of costs holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from golden import Implementation, Operation, Unit
from golden.catalogue import catalogue_units, parameter_set_units
from golden.operations import EFDPA, TFDPA
from golden.unit import ENCODINGS, WAYS, operation_from_table
from rtl.cost.baseline import DiscreteDatapath
from rtl.datapath.base import Datapath
from rtl.designs.multi_format import WORD_16, MultiFormatDatapath
from rtl.designs.unit import unit_datapath
from rtl.verilog.emit import modules

_FP16_4 = {"a": "fp16", "b": "fp16", "c": "fp32", "L": 4}
TARGET_NAME = "fp16 L=4 F=24"
TARGET = operation_from_table({"operation": "T-FDPA", **_FP16_4, "F": 24, "rho": "RZ-FP32", "e_zero": -132})
"""The unit whose size others have published figures for."""

FMA_NAME = "FMA fp32"
FMA_FP32 = operation_from_table({"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"})

SHARED = tuple(
    TFDPA(a=name, b=name, c="fp32", L=2 * count, F=25, rho="RZ-FP32", e_zero=-133)  # type: ignore[arg-type]
    for name, count in WORD_16.items()
)
"""What shares the datapath of several formats: two slots."""

DISCRETE_NAME = "four fp16 multipliers, four fp32 adders"
DISCRETE = operation_from_table({"operation": "E-FDPA", **_FP16_4, "rho": "RNE-FP32"})
"""Formats and L of the benchmark."""


@dataclass(frozen=True)
class Design:
    """What is measured: a unit, a datapath of several formats, or the benchmark of multipliers and adders, built in one way.

    Attributes:
        name, operation, implementation: as a unit's.
        discrete: whether it is the benchmark.
        joined: whether its components are mapped by themselves and joined, or all as one.
        formats: of a datapath of several formats, the operations that share it; else none.
    """

    name: str
    operation: Operation
    implementation: Implementation
    discrete: bool = False
    joined: bool = False
    formats: tuple[TFDPA, ...] = ()

    @property
    def key(self) -> str:
        """Its name among the records."""
        ways = [f"{key}={way}" for key, choices in WAYS.items() if (way := getattr(self.implementation, key)) != choices[0]]
        return " | ".join([self.name, self.implementation.encoding, *ways, *(["joined"] if self.joined else [])])

    def verilog(self) -> str:
        """Its Verilog, without names that do not matter to its cost."""
        if self.discrete:
            assert isinstance(self.operation, EFDPA)
            component: Datapath = DiscreteDatapath(self.operation, self.implementation)
        elif self.formats:
            component = MultiFormatDatapath(self.formats, self.implementation)
        else:
            component = unit_datapath(Unit(name=self.name, operation=self.operation, implementation=self.implementation))
        return modules(component, "unit")


def designs() -> list[Design]:
    """All that is measured."""
    return [*target_designs(), *(design for row in [*shared_rows(), *table_rows()] for design in row)]


def target_designs() -> list[Design]:
    """In every encoding: the target, built in every way; the benchmark; the FMA."""
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    return [
        *(Design(TARGET_NAME, TARGET, implementation) for implementation in (*encoded, *ways())),
        *(Design(DISCRETE_NAME, DISCRETE, implementation, discrete=True) for implementation in encoded),
        *(Design(FMA_NAME, FMA_FP32, implementation) for implementation in encoded),
    ]


def shared_rows() -> list[list[Design]]:
    """In every encoding: one datapath of all formats of a slot, then each of them on a datapath of its own."""
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    name = f"{', '.join(WORD_16)} on one datapath"
    return [
        [Design(name, SHARED[0], implementation, joined=True, formats=SHARED) for implementation in encoded],
        *([Design(f"{o.a} L={o.L} F={o.F}", o, implementation, joined=True) for implementation in encoded] for o in SHARED),
    ]


def table_rows() -> list[list[Design]]:
    """The target, then the catalogue's distinct datapaths, each in every encoding.

    A datapath whose a and b have each other's formats is the same one with its ports exchanged: it stands once. One datapath
    of each parameter set comes before the others, which have the same parameters in other formats; within both the smallest
    comes first.
    """
    first = {unit.operation for unit in parameter_set_units()}
    units = sorted(unmirrored(catalogue_units()), key=lambda unit: (unit.operation not in first, rough_size(unit.operation)))
    named = [(TARGET_NAME, TARGET), *((unit.name, unit.operation) for unit in units)]
    return [
        [Design(name, operation, Implementation(encoding=encoding), joined=True) for encoding in ENCODINGS]
        for name, operation in named
    ]


def unmirrored(units: Sequence[Unit]) -> list[Unit]:
    """The units without those that an earlier one becomes when its a and b are exchanged."""
    kept: dict[Operation, Unit] = {}
    for unit in units:
        if replace(unit.operation, a=unit.operation.b, b=unit.operation.a) not in kept:
            kept[unit.operation] = unit
    return list(kept.values())


def ways() -> list[Implementation]:
    """In every encoding, every way to build one step that is not the default."""
    others = [{key: choice} for key, choices in WAYS.items() for choice in choices[1:]]
    return [Implementation(encoding=encoding, **other) for other in others for encoding in ENCODINGS]  # type: ignore[arg-type]


def rough_size(operation: Operation) -> int:
    """About how large a datapath is, to order by: partial products of the multipliers, and bits that are aligned."""
    x, y = operation.a, operation.b
    partial_products = (x.man_bits + 1) * (y.man_bits + 1)
    aligned = x.e_max + y.e_max - x.e_min - y.e_min if isinstance(operation, EFDPA) else 30
    return operation.length * (partial_products + 5 * aligned)
