"""Points of a space: a unit each, or the reason why there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import golden
from golden import Implementation, Unit
from golden.text import value_as_text
from golden.unit_file import unit_from_table, unit_to_toml
from mmau.explore.space.axes import Axis
from mmau.explore.space.keys import Value, nested, parameters

POINT, REFERENCE = "point", "reference"


@dataclass(frozen=True)
class Point:
    """One unit of a space, or a catalogue instruction beside it.

    Attributes:
        name: made of its swept keys.
        kind: `POINT` or `REFERENCE`.
        parameters: its keys, flat; all of them where it is a unit, those of the file where it is none.
        unit: the unit; None where the keys are not those of one.
        message: the reason why it is not a unit, or not one of this space; empty if it is valid.
    """

    name: str
    kind: str
    parameters: Mapping[str, Value]
    unit: Unit | None
    message: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether it is to be evaluated."""
        return self.unit is not None and not self.message

    @property
    def file_name(self) -> str:
        """Of its files, without suffix."""
        return "".join(each if each.isalnum() or each in "-_." else "-" for each in self.name.replace(" ", "_"))

    @property
    def toml(self) -> str:
        """The unit's file; empty where there is none."""
        return "" if self.unit is None else unit_to_toml(self.unit)


def point_of(name: str, fixed: Mapping[str, Value], axes: Sequence[Axis], values: Sequence[Value]) -> Point:
    """The point with these values of the axes."""
    swept = {axis.key: value for axis, value in zip(axes, values, strict=True)}
    flat = {**fixed, **swept}
    chosen = " ".join(f"{axis.label}={value_as_text(value)}" for axis, value in zip(axes, values, strict=True)) or name
    try:
        unit = unit_from_table({"name": chosen, **nested(flat)})
    except (TypeError, ValueError) as error:
        return Point(chosen, POINT, flat, None, str(error))
    return Point(chosen, POINT, parameters(unit, flat), unit)


def reference_of(instruction: str) -> Point:
    """The point of a catalogue instruction, `ARCH:NAME`.

    Raises:
        ValueError: there is none.
    """
    arch, _, name = instruction.partition(":")
    if not name:
        raise ValueError(f"an instruction must be written ARCH:NAME, like sm_90:{EXAMPLE}; got {instruction!r}")
    found = golden.instruction(arch, name)
    chain = found.chain_table
    if chain is None:
        raise ValueError(f"{instruction} rounds products and sums by themselves, which no unit does: omit it")
    converted = None if chain.convert is None else (found.a, found.b)
    unit = Unit(name=f"{found.arch}:{found.name}", operation=found.operation, chain=chain, converted=converted)
    return Point(unit.name, REFERENCE, parameters(unit), unit)


EXAMPLE = "mma.m16n8k16.f32.f16.f16.f32"


def arithmetic_of(unit: Unit) -> Unit:
    """The unit that stands for all that compute the same: without its name and its implementation."""
    return replace(unit, name="unit", implementation=Implementation())
