"""Records: what one step hands to the next, as frozen dataclasses of Amaranth values."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields
from typing import Any, Self

from amaranth import Cat, Value
from amaranth.hdl import ValueCastable

from golden.arithmetic.rounding import Mode

LABEL = "name"
"""Name of the field whose text names the record: in names of values it replaces the path to the record."""

INLINE = {"inline": True}
"""Metadata of a field whose name is left out of the names of the values in it."""

COLUMNS = {"columns": True}
"""Metadata of a tuple of records whose members carry the index (`sign_0`, `aligned_0`, `sign_1`); the field's own name is
left out."""


class WidthError(ValueError):
    """A value of a record has another width than the record declares."""


class Record:
    """Base of the hand-offs between steps; a subclass is a dataclass, `@dataclass(frozen=True, eq=False)`.

    A field holds a value, a record, a tuple of these, or None where this unit has no such value. Whatever else it holds
    (a format, a number, a label) is a constant of the record, not hardware. A field without a default that is left out is
    an error where the record is made. Other containers and views of values are refused: their values would get no registers.

    The values of a record have names, by which registers are called. A name joins the fields on the path to the value by
    `_`, with the index behind a tuple's field: `x_0_exp`. `INLINE` and `COLUMNS` change what a field adds to the path; a
    record with a field `name` is called by that text alone.

    Raises:
        WidthError: a value that has not the bits which `widths` declares.
        TypeError: from `values` and `mapped`, a field that holds a list, a dict, a set or a view.
    """

    def __post_init__(self) -> None:
        for name, bits in self.widths().items():
            value = getattr(self, name)
            if len(value) != bits:
                raise WidthError(f"{name} of {type(self).__name__} must have {bits} bits, got {len(value)}")

    def widths(self) -> dict[str, int]:
        """Fields whose width is declared, and their bits: flags, significands by their format, exponents by their range."""
        return {}

    def values(self) -> Iterator[tuple[str, Value]]:
        """Every value with its name, in the order of the fields."""
        found: list[tuple[str, Value]] = []

        def note(name: str, value: Value) -> Value:
            found.append((name, value))
            return value

        self.mapped(note)
        return iter(found)

    def mapped(self, change: Callable[[str, Value], Value]) -> Self:
        """The record with every value replaced by what `change` makes of its name and it; constants stay."""
        return self._mapped("", "", change)

    def _mapped(self, path: str, index: str, change: Callable[[str, Value], Value]) -> Self:
        path = getattr(self, LABEL, path)
        changed: dict[str, Any] = {}
        for item in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            name = path if "inline" in item.metadata else _joined(path, item.name + index)
            value = getattr(self, item.name)
            if "columns" in item.metadata:
                changed[item.name] = tuple(row._mapped(path, f"_{k}", change) for k, row in enumerate(value))
            else:
                changed[item.name] = _mapped(value, name, change)
        return type(self)(**changed)


def _mapped(node: Any, name: str, change: Callable[[str, Value], Value]) -> Any:
    match node:
        case Record():
            return node._mapped(name, "", change)
        case tuple():
            return tuple(_mapped(element, f"{name}_{k}", change) for k, element in enumerate(node))
        case Value():
            return change(name, node)
        case list() | dict() | set() | frozenset() | ValueCastable():
            raise TypeError(f"{name} of a record must be a value, a record or a tuple of these, got {type(node).__name__}")
    return node


def _joined(path: str, name: str) -> str:
    return f"{path}_{name}" if path and name else path or name


@dataclass(frozen=True, eq=False)
class Modes(Record):
    """The rounding mode that an input chooses.

    Attributes:
        code: the input. table: the mode that each code chooses.
    """

    code: Value
    table: tuple[tuple[int, Mode], ...]

    @property
    def all(self) -> tuple[Mode, ...]:
        """Each mode once."""
        return tuple(dict.fromkeys(mode for _, mode in self.table))

    def is_any(self, modes: Collection[Mode]) -> Value:
        """High where one of these modes is chosen."""
        return Cat(*(is_code(self.code, code) for code, mode in self.table if mode in modes)).any()


@dataclass(frozen=True, eq=False)
class Beside(Record):
    """An operand that passes by all steps to the last one, beside their records.

    Attributes:
        random: random bits.
    """

    random: Value


def is_code(value: Value, code: int) -> Value:
    """High where a value is a code: of 0 without Yosys' `!`, at whose width Verilator takes offence."""
    return value == code if code else ~value.any()
