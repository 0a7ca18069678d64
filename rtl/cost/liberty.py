"""What the evaluation of a netlist needs to know of a cell library, read from its Liberty text."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import inf
from pathlib import Path

from golden import Unit
from rtl.cost.library_files import files_of, groups, joined, without_comments

Function = Callable[[Mapping[str, int], int], int]
"""A function from the values of a cell's inputs, by pin, and a mask to the value of a pin. Bit i of every value belongs to
vector i; the mask has the bits of all vectors."""

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[01!'^&*|+()])")

_STARTS = re.compile(r"[A-Za-z_01!(]")
"""First tokens of an operand; a space between two operands stands for AND."""


def function_of(text: str) -> Function:
    """Parse a Liberty expression to a function.

    Operators from tight to loose: `!` before and `'` behind an operand, `^`, AND (`&`, `*` or nothing between two operands),
    OR (`+` or `|`), as the Liberty reference manual orders them.

    Raises:
        ValueError: not a Liberty expression.
    """
    tokens, position = [], 0
    stripped = text.strip()
    while position < len(stripped):
        token = _TOKEN.match(stripped, position)
        if token is None:
            raise ValueError(f"a pin's function must consist of names, !, ', ^, &, *, |, + and parentheses, got {text!r}")
        tokens.append(token[1])
        position = token.end()
    reader = _Reader(tokens)
    try:
        function = reader.sum()
    except IndexError:
        raise ValueError(f"a pin's function ends too early: {text!r}") from None
    if reader.tokens:
        raise ValueError(f"a pin's function must be one expression, {reader.tokens[0]!r} remains in {text!r}")
    return function


class _Reader:
    """A parser by recursive descent, with a method for each level of operators."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def _next_is(self, choices: str) -> bool:
        return bool(self.tokens) and self.tokens[0] in choices

    def sum(self) -> Function:
        found = self._product()
        while self._next_is("+|"):
            self.tokens.pop(0)
            found = _joined(found, self._product(), int.__or__)
        return found

    def _product(self) -> Function:
        found = self._difference()
        while self.tokens and (self._next_is("&*") or _STARTS.match(self.tokens[0])):
            if self._next_is("&*"):
                self.tokens.pop(0)
            found = _joined(found, self._difference(), int.__and__)
        return found

    def _difference(self) -> Function:
        found = self._operand()
        while self._next_is("^"):
            self.tokens.pop(0)
            found = _joined(found, self._operand(), int.__xor__)
        return found

    def _operand(self) -> Function:
        token = self.tokens.pop(0)
        if token == "!":
            return _inverted(self._operand())
        if token == "(":
            found = self.sum()
            if self.tokens.pop(0) != ")":
                raise ValueError("a pin's function lacks a closing parenthesis")
        elif token in "01":
            found = _constant(token == "1")
        elif _STARTS.match(token):
            found = _value_of(token)
        else:
            raise ValueError(f"a pin's function must have an operand where it has {token!r}")
        while self._next_is("'"):
            self.tokens.pop(0)
            found = _inverted(found)
        return found


def _joined(left: Function, right: Function, operator: Callable[[int, int], int]) -> Function:
    return lambda pins, mask: operator(left(pins, mask), right(pins, mask))


def _inverted(function: Function) -> Function:
    return lambda pins, mask: function(pins, mask) ^ mask


def _value_of(name: str) -> Function:
    return lambda pins, mask: pins[name]


def _constant(high: bool) -> Function:
    return lambda pins, mask: mask if high else 0


_AREA = re.compile(r"(\bcell\s*\(\s*(\w+)\s*\)\s*\{[^{}]*?\barea\s*:\s*)([^;]+?)(\s*;)")


@cache
def outline_areas(liberty: Path) -> Mapping[str, float]:
    """The area in µm² of every cell that the LEF file beside a Liberty file outlines, by name.

    Raises:
        ValueError: the LEF file outlines no cell.
        OSError: the LEF file cannot be read.
    """
    lef = liberty.with_suffix(".lef")
    size = r"^MACRO (\w+)$(?:(?!^MACRO ).)*?^\s*SIZE\s+([\d.]+)\s+BY\s+([\d.]+)\s*;"
    found = re.findall(size, lef.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"{lef} must have cells (MACRO) with a SIZE, and none was found")
    return {name: round(float(width) * float(height), 6) for name, width, height in found}


@cache
def outlined_library(liberty: Path) -> str:
    """The text of a Liberty file in which every cell has the area of its outline; those without one keep theirs.

    Raises:
        ValueError: its LEF file outlines none. OSError: one of the files cannot be read.
    """
    areas = outline_areas(liberty)
    return _AREA.sub(lambda cell: _with_area(cell, areas), liberty.read_text(encoding="utf-8"))


def _with_area(cell: re.Match[str], areas: Mapping[str, float]) -> str:
    before, name, stated, after = cell.groups()
    return f"{before}{areas[name]:g}{after}" if name in areas else f"{before}{stated}{after}"


def cells_of(unit: Unit, otherwise: str) -> str:
    """The cell library of a unit's circuit: the one that it names, or another."""
    return unit.implementation.library or otherwise


OUTLINED = ("osu018", "osu035")
"""The libraries of `SOURCES` whose areas are those of the outlines in the LEF file beside them: OSU's, whose Liberty files
and layout differ."""

DEFAULT = "osu018"
"""The library that is used if none is named."""

PICOFARADS = {"pf": 1.0, "ff": 1e-3}
"""The units in which a library may state capacitances."""

OUTPUT_GATES = 3
"""Load of a unit's output, as a number of inputs of the smallest inverter."""

OSU_OUTPUT_LOAD = 0.03
"""Load of a unit's output in OSU's libraries (pF), about `OUTPUT_GATES` inputs."""


@dataclass(frozen=True)
class Register:
    """The next state of a flip-flop at the rising edge of its clock pin.

    Attributes:
        names: names, in the functions of its pins, of the bit that it holds and of that bit's inverse.
    """

    clock: str
    next_state: Function
    names: tuple[str, str]


@dataclass(frozen=True)
class Cell:
    """A cell of a library.

    Attributes:
        area: area (µm²).
        inputs: its input pins. functions: function of each output pin.
        register: the register of a flip-flop clocked by a rising edge without set and reset; None for other cells.
    """

    area: float
    inputs: tuple[str, ...]
    functions: Mapping[str, Function]
    register: Register | None


@dataclass(frozen=True)
class Library:
    """A cell library.

    Attributes:
        name: name of its file, as scripts of the tools can hold it.
        text: text of the Liberty file; for one of `OUTLINED` the areas in it are those of the cells' outlines.
        cells: the cells that the evaluation of a netlist supports, by name.
        output_load: load of every output of a unit (pF).
    """

    name: str
    text: str
    cells: Mapping[str, Cell]
    output_load: float


def library(name: str) -> Library:
    """Read a library, given as for `rtl.cost.library_files.check_library`.

    Raises:
        MissingTool: the library is one of `SOURCES` and is not installed.
        ValueError: no such library, a cell or a unit of capacitances that cannot be read, no cells, or no inverter.
    """
    paths = files_of(name)
    if name in OUTLINED:
        return read_library(paths[0])
    return _own(name, paths, tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in paths))


@cache
def read_library(path: Path) -> Library:
    """One of `OUTLINED` by its Liberty file, beside a LEF file. Cells without an outline, latches, three-state cells and
    flip-flops with set or reset are left out: no unit has them.

    Raises:
        ValueError: a cell that cannot be read, or no cells. OSError: a file cannot be read.
    """
    whole, outlined = outlined_library(path), outline_areas(path)
    bodies = [each for each in _bodies(path, without_comments(whole)) if each[0] in outlined]
    return Library(path.name, whole, _cells(path, bodies), OSU_OUTPUT_LOAD)


@cache
def _own(name: str, paths: tuple[Path, ...], changed: tuple[tuple[int, int], ...]) -> Library:
    """Another library as long as its files have these times and sizes.

    Raises:
        ValueError: a cell or a unit of capacitances that cannot be read, no cells, or no inverter.
    """
    whole, path = joined(paths), paths[0]
    text = without_comments(whole)
    bodies = _bodies(path, text)
    cells = _cells(path, bodies)
    usable = [body for each, body in bodies if each in cells and not re.search(r"dont_use\s*:\s*\"?true\b", body)]
    load = OUTPUT_GATES * _smallest_inverter(path, text, usable)
    return Library(f"{re.sub(r'[^a-zA-Z0-9_.]', '_', short_name(name))}.lib", whole, cells, load)


def short_name(name: str) -> str:
    """A library's name in words: without folder and suffix."""
    return re.sub(r"\.lib(\.gz)?$", "", name.rpartition("/")[2])


def _bodies(path: Path, text: str) -> list[tuple[str, str]]:
    """Name and contents of every cell."""
    try:
        return groups(text, "cell")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _cells(path: Path, bodies: Sequence[tuple[str, str]]) -> dict[str, Cell]:
    found = {name: cell for name, body in bodies if (cell := _cell(path, name, body)) is not None}
    if not found:
        raise ValueError(f"{path}: a library must have cells, and none was found")
    return found


def cells_digest(name: str) -> str:
    """The digest of a library's contents; raises what `library` raises."""
    return sha256(library(name).text.encode()).hexdigest()[:16]


def smallest_gate(cells: Library, inputs: int, table: int) -> tuple[str, Cell]:
    """The smallest cell of one output with a truth table, its name first.

    Args:
        table: bit i is the output where the inputs, in any order, are the bits of i.

    Raises:
        ValueError: the library has none.
    """
    mask = (1 << (1 << inputs)) - 1
    columns = [sum(1 << row for row in range(1 << inputs) if row >> place & 1) for place in range(inputs)]
    fitting = [
        (cell.area, name)
        for name, cell in cells.cells.items()
        if len(cell.inputs) == inputs and len(cell.functions) == 1 and cell.register is None and cell.area > 0
        for function in cell.functions.values()
        if function(dict(zip(cell.inputs, columns, strict=True)), mask) == table
    ]
    if not fitting:
        raise ValueError(f"{cells.name} must have a gate of {inputs} inputs with the truth table {table:#b}, and has none")
    name = min(fitting)[1]
    return name, cells.cells[name]


def nand2_area(cells: Library) -> float:
    """The area of the smallest NAND gate of two inputs (µm²)."""
    return smallest_gate(cells, 2, 0b0111)[1].area


def _smallest_inverter(path: Path, text: str, bodies: Sequence[str]) -> float:
    """The smallest capacitance of an inverter's input (pF)."""
    unit = re.search(r"capacitive_load_unit\s*\(\s*([\d.]+)\s*,\s*\"?(\w+)\"?\s*\)", text)
    if unit is None or unit[2].lower() not in PICOFARADS:
        stated = None if unit is None else unit[0]
        raise ValueError(f"{path}: capacitive_load_unit must be (number, pf) or (number, ff), got {stated}")
    found = []
    for body in bodies:
        pins = groups(body, "pin")
        functions = [re.sub(r"[\s()\"]", "", attribute(contents, "function") or "") for _, contents in pins]
        outputs = [function for function in functions if function]
        inputs = [contents for name, contents in pins if outputs in ([f"!{name}"], [f"{name}'"])]
        found += [_number(path, "a capacitance", attribute(contents, "capacitance") or "0") for contents in inputs]
    least = min((value for value in found if value > 0), default=None)
    if least is None:
        raise ValueError(f"{path}: a library must have an inverter whose input has a capacitance, and none was found")
    return least * float(unit[1]) * PICOFARADS[unit[2].lower()]


def attribute(text: str, key: str) -> str | None:
    """The value of the first `key : value ;`; the end of a line may replace the semicolon."""
    found = re.search(rf"\b{key}\s*:\s*(\"[^\"]*\"|[^;\n]+?)\s*[;\n]", text)
    return None if found is None else found[1]


def _number(path: Path, what: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{path}: {what} must be a number, got {text}") from None


def _function(path: Path, cell: str, text: str) -> Function:
    try:
        return function_of(text.strip('"'))
    except ValueError as error:
        raise ValueError(f"{path}: cell {cell}: {error}") from None


def _cell(path: Path, name: str, body: str) -> Cell | None:
    stated = attribute(body, "area")
    area = -1.0 if stated is None else _number(path, f"the area of cell {name}", stated)
    if not 0 <= area < inf:
        raise ValueError(f"{path}: cell {name} must have an area, got {stated}")
    registers = [(head, contents) for head, contents in groups(body, "ff") if not re.search(r"\b(clear|preset)\b", contents)]
    if not registers and any(re.search(word, body) for word in (r"ff\s*\(", r"latch\s*\(", r"three_state\s*:")):
        return None
    register = None
    for head, contents in registers:
        clock, following = attribute(contents, "clocked_on"), attribute(contents, "next_state")
        if clock is None or following is None:
            raise ValueError(f"{path}: flip-flop {name} must say next_state and clocked_on")
        if not re.fullmatch(r'"\w+"', clock):
            return None  # clocked by a falling edge
        register = Register(clock.strip('"'), _function(path, name, following), _pair(path, name, head))
    pins = {pin: attribute(contents, "function") for pin, contents in groups(body, "pin")}
    functions = {pin: _function(path, name, function) for pin, function in pins.items() if function is not None}
    return Cell(area, tuple(pin for pin in pins if pin not in functions), functions, register)


def _pair(path: Path, cell: str, head: str) -> tuple[str, str]:
    names = [part.strip() for part in head.split(",")]
    if len(names) != 2:
        raise ValueError(f"{path}: flip-flop {cell} must name its state and the inverse, got ({head})")
    return names[0], names[1]
