"""`[controls]` of a `unit.toml` or a `dut.toml`: inputs of a circuit that choose its arithmetic anew for each vector.

A value may map operands to other ports, or negate them. `Unit.choices` has every combination of values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from golden.arithmetic.conversion import conversion, rounding_to, spelled
from golden.arithmetic.formats import Format
from golden.arithmetic.random_bits import RandomBits
from golden.checks import listed, unknown
from golden.operations import OPERATIONS, Operation
from golden.operations.base import format_of
from golden.units.own_formats import formats_of, with_formats

MASK = "mask"
"""The key of an input with one bit for each product: an idle product counts as +0 · +0."""

METADATA = "metadata"
"""The key of an input that says which elements of b, two of each four, are multiplied (`golden.units.selection`)."""

ZERO_POINTS = {"zero_a": "a", "zero_b": "b"}
"""The keys of inputs with the zero points of a or b, of which an element q then stands for q minus that of its block."""

RANDOM = "random"
"""The key of an input with the random bits of a result, which is then rounded stochastically."""

OPERANDS = (MASK, METADATA, *ZERO_POINTS, RANDOM)
"""The keys of inputs that are operands: they have no values to choose among."""

MOST_CHOICES = 256
"""Most combinations of the values of controls."""

PORT = r"[A-Za-z_][\w.]*(\[\d+(:\d+)?\])*"
"""Pattern of a port, an element of an array, or a range of bits."""

_CONSTANT = r"[A-Za-z_]\w*(::[A-Za-z_]\w*)?"
_NUMBER = r"0x[0-9a-fA-F]+|0b[01]+|\d+"
_PLACE = r"-?[abc]"


class Source(NamedTuple):
    """Where an operand of a chosen unit comes from: a port a, b or c, or its negative."""

    port: str
    is_negated: bool = False


@dataclass(frozen=True)
class Value:
    """A value of a control.

    Attributes:
        name: the value as the table writes it: a number, or a constant of a package.
        keys: the keys of the unit that it replaces. places: the ports that operands come from, where they are others.
    """

    name: str
    keys: tuple[tuple[str, Any], ...] = ()
    places: tuple[tuple[str, Source], ...] = ()

    @property
    def number(self) -> int | None:
        """The value; None for a constant of a package, which the design knows."""
        return int(self.name, 0) if re.fullmatch(_NUMBER, self.name) else None

    @property
    def meaning(self) -> str:
        """What it chooses, as text."""
        placed = [f"{'-' if s.is_negated else ''}{s.port}" for _, s in self.places]
        names = [name for name, _ in self.places]
        shown = [text if text == f"-{name}" else f"{name} = {text}" for name, text in zip(names, placed, strict=True)]
        keys = [str(value) if key in ("operation", "rho", "formats") else f"{key} = {value}" for key, value in self.keys]
        return ", ".join([*keys, *shown]) or "as the unit"

    def __str__(self) -> str:
        return f"{self.name} ({self.meaning})"


@dataclass(frozen=True)
class Control:
    """An input that chooses the arithmetic.

    Attributes:
        port: name of the port. key: the key of the unit that it chooses, `operation`, `formats` …, or one of `OPERANDS`.
        values: its values; none of an operand. random: what random bits do.
    """

    port: str
    key: str
    values: tuple[Value, ...] = ()
    random: RandomBits | None = None

    @property
    def codes(self) -> tuple[int, ...]:
        """The number that stands for each value: itself, or where any is a constant of a package its place in the table."""
        numbers = [value.number for value in self.values]
        known = [number for number in numbers if number is not None]
        return tuple(known) if len(known) == len(numbers) else tuple(range(len(numbers)))

    @property
    def has_constants(self) -> bool:
        """Whether a value is a constant of a package."""
        return any(value.number is None for value in self.values)

    @property
    def width(self) -> int:
        """Bits of the largest of its codes, or of its random bits."""
        return max(1, max(self.codes, default=0).bit_length()) if self.random is None else self.random.bits

    def as_table(self) -> dict[str, Any]:
        """The control as the file has it."""
        if self.random is not None:
            return {"key": self.key, "bits": self.random.bits} | ({"half": True} if self.random.half else {})
        if self.key in OPERANDS:
            return {"key": self.key}
        return {"key": self.key, "values": {value.name: _given(self.key, value) for value in self.values}}


def _given(key: str, value: Value) -> Any:
    places = {name: f"{'-' if source.is_negated else ''}{source.port}" for name, source in value.places}
    keys = {name: given if isinstance(given, int) else str(given) for name, given in value.keys}
    return keys[key] if not places and set(keys) == {key} else keys | places


def controls_from_table(table: Mapping[str, Any], formats: Mapping[str, Format] | None = None) -> tuple[Control, ...]:
    """The controls that a parsed table `[controls]` describes.

    Args:
        formats: the unit's own formats by name.

    Raises:
        ValueError: an entry of another form; the message names it, the rule and the value.
    """
    found = tuple(_with_own(_control(port, given), formats or {}) for port, given in table.items())
    for key in OPERANDS:
        alike = [control.port for control in found if control.key == key]
        if len(alike) > 1:
            raise ValueError(f'[controls] has one input with key = "{key}", got {listed(alike)}')
    return found


def _with_own(control: Control, formats: Mapping[str, Format]) -> Control:
    """A control whose values have a unit's own formats in place of their names."""
    values = (replace(value, keys=tuple(with_formats(dict(value.keys), formats).items())) for value in control.values)
    return replace(control, values=tuple(values))


def _control(port: str, given: Any) -> Control:
    if not re.fullmatch(PORT, port, re.ASCII):
        raise ValueError(f'[controls] must name inputs like "op_i" or "mode_i[1:0]", got {port!r}')
    if not isinstance(given, dict) or not isinstance(given.get("key"), str):
        raise ValueError(f'[controls] {port} must be like {{key = "rho", values = {{0 = "RNE-FP16"}}}}, got {given!r}')
    key, values = given["key"], given.get("values")
    allowed = ("key", "bits", "half") if key == RANDOM else ("key", "values")
    for name in given:
        if name not in allowed:
            raise ValueError(unknown(f"[controls] {port}: key", name, allowed))
    if key == RANDOM:
        if "bits" not in given:
            raise ValueError(f'[controls] {port} must have bits, like {{key = "random", bits = 8}}; got {given!r}')
        return Control(port, key, random=RandomBits(given["bits"], given.get("half", False)))
    if key in OPERANDS:
        if values is not None:
            named = {MASK: "a mask has no values, one bit for each product", METADATA: "metadata have no values"}
            what = named.get(key, "zero points have no values")
            raise ValueError(f"[controls] {port}: {what}; got {values!r}")
        return Control(port, key)
    if not isinstance(values, dict) or not values:
        raise ValueError(f'[controls] {port} must have values, like values = {{0 = "RNE-FP16"}}; got {values!r}')
    control = Control(port, key, tuple(_value(f"[controls] {port}", key, *each) for each in values.items()))
    if len(set(control.codes)) < len(control.codes):
        raise ValueError(f"[controls] {port} must have each value once, got {listed(values)}")
    return control


def _value(where: str, key: str, name: str, given: Any) -> Value:
    if not re.fullmatch(f"{_NUMBER}|{_CONSTANT}", name, re.ASCII):
        raise ValueError(f'{where}: a value must be a number from 0 on, or a constant like "pkg::NAME"; got {name!r}')
    if not isinstance(given, dict):
        if not isinstance(given, (str, int)):
            raise ValueError(f"{where} = {name} must be a value of {key}, or a table of keys of the unit; got {given!r}")
        return Value(name, ((key, given),))
    if key not in ("operation", "formats"):
        raise ValueError(
            f"{where} = {name} must be a value of {key}, got {given!r}: only operation and formats take a table"
        )
    for inner, value in given.items():
        if not isinstance(value, (str, int)):
            raise ValueError(f"{where} = {name}: {inner} must be a number or a text, got {value!r}")
    placed = {n: v for n, v in given.items() if n in "abc" and isinstance(v, str) and re.fullmatch(_PLACE, v)}
    keys = tuple((n, v) for n, v in given.items() if n not in placed)
    return Value(name, keys, tuple((n, Source(v.lstrip("-"), v.startswith("-"))) for n, v in placed.items()))


def arithmetic(base: Operation, values: Sequence[Value]) -> tuple[Operation, dict[str, Source]]:
    """The operation that values choose, and where its operands come from."""
    formats = {form.name: form for form in formats_of(base)}  # which the controls of a dut.toml may name too
    keys: dict[str, Any] = with_formats({key: value for each in values for key, value in each.keys}, formats)
    places: dict[str, Source] = {}
    for value in values:  # one after the other, the last one to the ports
        own = dict(value.places)
        for operand in "abc":
            port, negated = places.get(operand, Source(operand))
            source = own.get(port, Source(port))
            places[operand] = Source(source.port, source.is_negated != negated)
    named = keys.pop("operation", base.name)
    if named not in OPERATIONS:
        raise ValueError(unknown("operation", named, list(OPERATIONS)))
    kind = OPERATIONS[named]
    ports: dict[str, Any] = {port: getattr(base, port) for port in "abc"}  # a name says too little of a unit's own format
    one = keys.pop("formats", None)
    if one is not None:
        one = format_of("formats", one, None)
        ports |= {port: one for port in "abc" if port != "c" or base.c == base.a}
    ports |= {port: keys.pop(port) for port in "abc" if port in keys}
    allowed = kind.unit_keys()
    table = {key: getattr(base, key) for key in base.parameters() if key in allowed and key not in "abc"} | keys
    table |= {operand: ports[places[operand].port] for operand in kind.operands if operand in allowed}
    if one is not None and "rho" in table and base.c == base.a:
        rho = conversion(table["rho"])
        table["rho"] = spelled(rounding_to(rho.mode, one)) if rho.rounding_format == base.a else table["rho"]
    operation = kind.of_keys(table, named)
    read = {operand: places[operand] for operand in operation.operands}
    return operation, {operand: source for operand, source in read.items() if source != Source(operand)}


def check_places(base: Operation, operation: Operation, places: Mapping[str, Source]) -> None:
    """Raise ValueError where the unit has no port for an operand, or a smaller one, or a format without a sign."""
    for operand in operation.operands:
        port, is_negated = places.get(operand, Source(operand))
        if port not in base.operands:
            raise ValueError(f"{operation.name} reads {operand} from {port}, which {base.name} has not")
        needs, has = _bits(operation, operand), _bits(base, port)
        if needs > has:
            raise ValueError(f"{operand} needs {needs} bits, and {port} of the unit has {has}")
        codes: Format = getattr(operation, operand)
        if is_negated and codes.negative_zero == 0:
            raise ValueError(f"{operand} in {codes} has no sign bit that negates every number")
    if operation.d.width > base.d.width:
        raise ValueError(f"d needs {operation.d.width} bits, and that of the unit has {base.d.width}")
    if operation.scale_format != base.scale_format or operation.scales_per_step != base.scales_per_step:
        raise ValueError("scales must be those of the unit")


def _bits(operation: Operation, operand: str) -> int:
    width: int = getattr(operation, operand).width
    return width * (1 if operand == "c" else operation.length)
