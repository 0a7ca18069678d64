"""User designs in VHDL: GHDL elaborates the entity, which gives its ports; a wrapper in VHDL gives it the ports of a unit.

The wrapper has plain vectors, element 0 in the low bits, as the wrapper of a design in Verilog. GHDL simulates the two; for
volume mode and proofs its synthesis writes both as Verilog (`cosim.runner.vhdl_circuit`).
"""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cosim.dut.adapter import adapter, inner_operands
from cosim.dut.connection import (
    Connection,
    Operand,
    Place,
    connect,
    narrower_results,
    operands_of,
    ports_around,
    selected_places,
)
from cosim.dut.description import Dut
from cosim.dut.elaborate import INSTANCE, Port, Range
from cosim.dut.files_read import FileRead, state_of
from cosim.dut.tool_log import ElaborationError
from cosim.dut.vhdl_adapter import HELPERS, Translation
from golden.checks import listed, near
from golden.files import temporary_folder
from golden.processes import run_tool
from rtl.designs.design import Design
from rtl.tools import MissingTool

STANDARD = "--std=08"
"""The revision of VHDL that is read, unless `ghdl_args` name another: 2008 includes nearly everything of older revisions."""

_UNKNOWN = re.compile(r"--.*\b(rtl_synthesis\s+off|read_comments_as_HDL\s+on)\b", re.IGNORECASE)
"""Comments that change what other synthesis tools read, but not what GHDL reads; it knows `translate_off`."""

_ERROR = re.compile(r":\d+:\d+:(?!\s*(warning|note)\b)|\berror\b", re.IGNORECASE)
"""A line of GHDL that is an error, which it marks by a place in a file alone, or by the word."""

# what `ghdl -r --dump-rti --disp-tree=port` prints: an indented line for each object of the elaborated design
_BLOCK = re.compile(r"ghdl_rtik_(package|entity), D=1, sloc=\d+:\d+: (\w+)")
_DECLARED = re.compile(r"ghdl_rtik_(?:sub)?type_\w+(?:, D=\d+)?: (\w+) is (.+)")
_FIELD = re.compile(r"ghdl_rtik_element: (\w+): (.+)")
_PORT = re.compile(r"ghdl_rtik_port, D=\d+, sloc=\d+:\d+; (\w+): (.*?) :=.*")
_DIRECTION = re.compile(r"[+`]-(\w+) \[port (\w+)\]")
_PACKAGE = re.compile(r"(\w+)\.(\w+) \[package\]")

_TYPE = re.compile(r"(\w+)((?: \([^()]*\))*)(?: range (\S+) (?:to|downto) (\S+))?")
"""A type: its name, the ranges of an array, the limits of a number or an enumeration."""

_ARRAY = re.compile(r"\w+ \(([^()]*)\) of (.+)")
"""The declaration of an array: its ranges, `natural range <>` where a port gives them, and the type of its elements."""

_RANGE = re.compile(r"(-?\d+) (to|downto) (-?\d+)")
_LITERAL = re.compile(r"'.'|\w+")

CONVERSIONS = {"std_ulogic": ("{}", "{}"), "bit": ("to_bit({})", "to_stdulogic({})")}
"""The types of one bit: how std_logic is converted into it, and it into std_logic."""

INTEGER = 32
"""Most bits of a number."""

DIRECTIONS = {"in": "input", "out": "output", "buffer": "output"}


@dataclass(frozen=True)
class Leaf:
    """A port of bits, or such a field of a record, as `req.a`.

    Attributes:
        port: its name, direction and dimensions. groups: for each pair of brackets behind it, the number of indices in it.
        inwards: the conversion of a vector of std_logic into its type. outwards: the reverse.
        is_bit: whether the conversions are of one bit, not of a vector.
    """

    port: Port
    groups: tuple[int, ...]
    inwards: str
    outwards: str
    is_bit: bool

    @property
    def elements(self) -> Iterator[tuple[str, int]]:
        """The text of each unpacked element, and the number of its lowest bit in the whole port."""
        for place in selected_places(self.port, ()) or ():
            index, text = iter(place.index), f"port_{self.port.name}"
            for count in self.groups:
                text += f"({', '.join(str(next(index)) for _ in range(count))})"
            yield text, min(place.bits)


@dataclass(frozen=True)
class Entity:
    """An elaborated entity.

    Attributes:
        leaves: its ports and fields of ports, in order. declared: the type of each port. libraries: those of these types.
    """

    leaves: tuple[Leaf, ...]
    declared: Mapping[str, str]
    libraries: tuple[str, ...]

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports, fields of records as ports of their own."""
        return tuple(leaf.port for leaf in self.leaves)


def files_of(dut: Dut) -> dict[str, FileRead]:
    """The present state of each source, by path."""
    return {str(path.resolve()): state_of(path) for path in dut.sources}


def lower_case(dut: Dut) -> Dut:
    """The description with the names of ports in lower case, as GHDL gives them: VHDL does not tell them apart."""
    return replace(
        dut,
        clock=dut.clock and dut.clock.lower(),
        enable=dut.enable and dut.enable.lower(),
        reset=dut.reset and replace(dut.reset, name=dut.reset.name.lower()),
        ports={ours: tuple(name.lower() for name in names) for ours, names in dut.ports.items()},
        tie={name.lower(): value for name, value in dut.tie.items()},
        controls=tuple(replace(control, port=control.port.lower()) for control in dut.controls),
        echo={output.lower(): given.lower() for output, given in dut.echo.items()},
        flags={output.lower(): names for output, names in dut.flags.items()},
        ignore_outputs=tuple(name.lower() for name in dut.ignore_outputs),
    )


def analysis_arguments(dut: Dut) -> tuple[str, ...]:
    """The arguments of GHDL's analysis."""
    has_standard = any(argument.startswith("--std") for argument in dut.ghdl_args)
    return (*(() if has_standard else (STANDARD,)), *dut.ghdl_args)


def run_ghdl(dut: Dut, command: str, folder: Path, files: Sequence[Path] = (), further: Sequence[str] = ()) -> str:
    """Run a command of GHDL on the library `work` in a folder, and return what it prints.

    Raises:
        MissingTool: GHDL is not installed. ElaborationError: it fails; the message is its first error.
    """
    if shutil.which("ghdl") is None:
        raise MissingTool(
            f"{dut.sources[0].name} is VHDL, which GHDL must read, and ghdl is not found on PATH: install it "
            "(Debian: apt install ghdl), or give the design in Verilog"
        )
    paths = [str(path.resolve()) for path in files]
    result = run_tool(["ghdl", command, *analysis_arguments(dut), f"--workdir={folder}", *paths, *further], cwd=folder)
    if result.returncode:
        lines = [line.strip() for line in [*result.stderr.splitlines(), *result.stdout.splitlines()] if line.strip()]
        message = next((line for line in lines if _ERROR.search(line)), [*lines, "it printed no message"][0])
        what = "synthesise" if command == "--synth" else "read"
        raise ElaborationError(f"ghdl cannot {what} {dut.top}: {message}")
    return result.stdout


def entity_of(dut: Dut) -> Entity:
    """Elaborate a design.

    Raises:
        MissingTool: GHDL is not installed. ElaborationError: GHDL cannot read the design, or does not find the entity.
        ValueError: a port that is not made of bits, or comments that GHDL alone does not follow.
    """
    for source in dut.sources:
        comment = _UNKNOWN.search(source.read_text(encoding="utf-8", errors="replace"))
        if comment is not None:
            raise ValueError(
                f"{source}: {comment[1]!r} changes what other synthesis tools read, and GHDL does not follow it: hide text "
                "by `synthesis translate_off`, show it without comment marks"
            )
    generics = ["-g{}={}".format(name, value.strip('"')) for name, value in dut.parameters.items()]
    with temporary_folder("mmau-ghdl-") as name:
        folder = Path(name)
        run_ghdl(dut, "-i", folder, dut.sources)
        try:
            run_ghdl(dut, "-m", folder, further=[dut.top])
        except ElaborationError as error:
            entities = _entities(dut)
            if dut.top.lower() in map(str.lower, entities):
                raise
            got = listed(map(str, dut.sources)) + near(dut.top, entities)
            raise ElaborationError(f"none of the sources holds the entity {dut.top}; got {got}") from error
        shown = ["--dump-rti", "--disp-tree=port", "--stop-time=0ns", "--ieee-asserts=disable", "--assert-level=none"]
        return _read(dut.top.lower(), run_ghdl(dut, "-r", folder, further=[dut.top, *generics, *shown]))


def _entities(dut: Dut) -> list[str]:
    """The names of entities in the text of a design's files, for a message."""
    text = "\n".join(source.read_text(encoding="utf-8", errors="replace") for source in dut.sources)
    return re.findall(r"^\s*entity\s+(\w+)", text, re.MULTILINE | re.IGNORECASE)


def _read(top: str, printed: str) -> Entity:
    """The entity from what GHDL prints of an elaborated design."""
    types, within, ports, ways = _Types(), "", dict[str, str](), dict[str, str]()
    for whole in printed.splitlines():
        line = whole.strip()
        if block := _BLOCK.fullmatch(line):
            within = block[2] if block[1] == "package" else "" if block[2] == top else within
        elif found := _DECLARED.fullmatch(line):
            types.add(within, *found.groups())
        elif found := _FIELD.fullmatch(line):
            types.add_field(*found.groups())
        elif found := _PORT.fullmatch(line):
            ports.setdefault(*found.groups())
        elif found := _DIRECTION.fullmatch(whole):  # ports of instances are indented
            ways[found[1]] = found[2]
        elif found := _PACKAGE.fullmatch(line):
            types.libraries.setdefault(found[2], found[1])
    ports = {name: kind for name, kind in ports.items() if name in ways}  # ports of components are left out
    if not ports or ports.keys() != ways.keys():
        raise ElaborationError(f"ghdl does not say which ports {top} has: it must be GHDL 2.0 or newer")
    kinds = [(name, DIRECTIONS.get(ways[name], "inout"), kind) for name, kind in ports.items()]
    leaves = [leaf for port in kinds for leaf in types.leaves(*port)]
    libraries = tuple(sorted({*types.libraries.values()} - {"std", "ieee", "work"}))
    return Entity(tuple(leaves), {name: types.text(kind) for name, kind in ports.items()}, libraries)


class _Types:
    """The types that GHDL prints, by name. `libraries`: the library of each package."""

    def __init__(self) -> None:
        self.libraries: dict[str, str] = {}
        self._declared: dict[str, dict[str, str]] = {}
        self._fields: dict[str, dict[str, str]] = {}
        self._last = ""

    def add(self, package: str, name: str, declaration: str) -> None:
        """Add a declaration of a package."""
        self._declared.setdefault(name, {})[package] = declaration
        self._last = name

    def add_field(self, name: str, kind: str) -> None:
        """Add a field to the record that was declared last."""
        self._fields.setdefault(self._last, {})[name] = kind

    def text(self, kind: str) -> str:
        """A type for a declaration, with the library and the package of its name."""
        mark = kind.partition(" ")[0]
        packages = self._declared.get(mark, {})
        if len(packages) != 1:
            where = listed(packages) if packages else "no package"
            raise ValueError(f"the type {mark} of a port is declared in {where}: give the ports std_logic_vector")
        (package,) = packages
        return f"{self.libraries[package]}.{package}.{kind}"

    def leaves(self, name: str, direction: str, kind: str, around: tuple[tuple[Range, ...], ...] = ()) -> Iterator[Leaf]:
        """The leaves of a port, or of a field or an element of it.

        Args:
            around: ranges of the arrays around it, outermost first.

        Raises:
            ValueError: it is not made of bits.
        """
        mark, bounds, *limits = self._resolved(kind)
        said = self._said(mark)
        array = _ARRAY.fullmatch(said)
        numbers = [int(limit) for limit in limits if re.fullmatch(r"-?\d+", limit)]
        if mark in CONVERSIONS:
            yield _leaf(name, direction, around, None, *CONVERSIONS[mark])
        elif array is not None:
            first, *further = [each.strip(" ()") for each in re.findall(r" \([^()]*\)", bounds)] or [""]
            ranges = _ranges(name, first if "<>" in array[1] else array[1])
            element = array[2] + "".join(f" ({each})" for each in further)
            of_bits = self._resolved(element)[0]
            if len(ranges) > 1 or of_bits not in CONVERSIONS:
                yield from self.leaves(name, direction, element, (*around, ranges))
            elif of_bits == "bit":
                conversions = f"{self.text(mark)}(to_bitvector({{}}))", "to_stdlogicvector(bit_vector({}))"
                yield _leaf(name, direction, around, ranges[0], *conversions)
            else:
                yield _leaf(name, direction, around, ranges[0], f"{self.text(mark)}({{}})", "std_logic_vector({})")
        elif mark in self._fields and not around:
            for field, inner in self._fields[mark].items():
                yield from self.leaves(f"{name}.{field}", direction, inner)
        elif said.startswith("("):
            width, path = max(1, (len(_LITERAL.findall(said)) - 1).bit_length()), self.text(mark)
            conversions = (
                f"{path}'val(to_integer(unsigned({{}})))",
                f"std_logic_vector(to_unsigned({path}'pos({{}}), {width}))",
            )
            yield _leaf(name, direction, around, Range(width - 1, 0), *conversions)
        elif len(numbers) == 2:
            sign, most = "signed" if min(numbers) < 0 else "unsigned", max(max(numbers), -min(numbers) - 1)
            width = max(1, most.bit_length() + (min(numbers) < 0))
            if width > INTEGER:
                raise _not_of_bits(name, mark)
            conversions = f"to_integer({sign}({{}}))", f"std_logic_vector(to_{sign}({{}}, {width}))"
            yield _leaf(name, direction, around, Range(width - 1, 0), *conversions)
        else:
            raise _not_of_bits(name, f"an array of {mark}" if mark in self._fields else mark)

    def _said(self, mark: str) -> str:
        return next(iter(self._declared.get(mark, {}).values()), "")

    def _resolved(self, kind: str) -> tuple[str, str, str, str]:
        """The type itself behind the names of its subtypes: its name, ranges and limits."""
        mark, bounds, low, high = (found or "" for found in _matched(_TYPE, kind))
        said = self._said(mark)
        if said and mark not in CONVERSIONS and not said.startswith(("(", "record", "array (", f"{mark} (")):
            subtype = re.fullmatch(r"(-?\d[\d.e+-]*) to (-?\d[\d.e+-]*)", said)
            if subtype is not None:
                return mark, bounds, low or subtype[1], high or subtype[2]
            mark, inner, *limits = self._resolved(said)
            return mark, inner + bounds, low or limits[0], high or limits[1]
        return mark, bounds, low, high


def _matched(pattern: re.Pattern[str], text: str) -> tuple[str | None, ...]:
    found = pattern.fullmatch(text)
    return (text, "", None, None) if found is None else found.groups()


def _not_of_bits(name: str, kind: str) -> ValueError:
    return ValueError(f"port {name} must be made of bits: vectors, numbers, arrays or records of these; got {kind}")


def _ranges(name: str, text: str) -> tuple[Range, ...]:
    found = [(int(left), way, int(right)) for left, way, right in _RANGE.findall(text)]
    if not found or any(left < right if way == "downto" else left > right for left, way, right in found):
        raise ValueError(f"port {name} must have at least one bit in each dimension, got the range ({text})")
    return tuple(Range(left, right) for left, _, right in found)


def _leaf(
    name: str, direction: str, around: tuple[tuple[Range, ...], ...], bits: Range | None, inwards: str, outwards: str
) -> Leaf:
    unpacked = tuple(each for ranges in around for each in ranges)
    port = Port(name, direction, unpacked, (), 1 if bits is None else bits.count, bits=bits)
    return Leaf(port, tuple(map(len, around)), inwards, outwards, bits is None)


def wrapped(name: str, design: Design, dut: Dut) -> tuple[str, list[Operand], Connection]:
    """The text of an entity `name` around a design in VHDL, and what it connects.

    Raises:
        PortMismatch: the ports do not fit the description; and as `entity_of`.
    """
    dut, entity = lower_case(dut), entity_of(dut)
    operands = operands_of(design, dut.widths)
    inner = inner_operands(dut, operands) if dut.has_inner_operands else operands
    connection = connect(dut, inner, entity.ports, narrower_results(design, dut.widths))
    return wrapper(name, dut, operands, inner, connection, entity), operands, connection


def wrapper(
    name: str, dut: Dut, operands: Sequence[Operand], inner: Sequence[Operand], connection: Connection, entity: Entity
) -> str:  # fmt: skip
    """The text of an entity `name` with the ports a, b, c, d …, and, if the design has them, clk, rst (active high), en and
    handshake.

    The bits of each port of the design are a vector `bits_0`, `bits_1` … in it, in the order of `entity.leaves`.
    """
    number = {leaf.port.name: f"bits_{k}" for k, leaf in enumerate(entity.leaves)}
    ways = {"input": "in", "output": "out"}
    around = ports_around(operands, dut.results)
    ports = [f"{port} : {ways[direction]} {_vector(width)}" for port, (direction, width) in around.items()]
    controls = {control: place.port.direction for control, place in connection.controls.items()}
    if dut.is_adapted:
        controls = {
            control: "output" if control in ("in_ready", "out_valid") else "input" for control in dut.timing.controls
        }
    ports += [f"{control} : {ways[direction]} std_logic" for control, direction in controls.items()]
    signals = [f"signal port_{port} : {kind};" for port, kind in entity.declared.items()]
    lines = list[str]()
    for leaf in entity.leaves:
        vector = number[leaf.port.name]
        signals.append(f"signal {vector} : {_vector(leaf.port.width)};")
        for element, low in leaf.elements:
            bits = f"{vector}({low})" if leaf.is_bit else f"{vector}({low + leaf.port.word - 1} downto {low})"
            if leaf.port.direction == "input":
                lines.append(f"{element} <= {leaf.inwards.format(bits)};")
            else:
                lines.append(f"{bits} <= {leaf.outwards.format(element)};")
    helpers = ""
    if dut.is_adapted:
        made = Translation(adapter(dut, operands, inner, is_simulated=True), around, controls.items())
        signals += made.signals
        lines += made.statements
        helpers = f"{HELPERS}\n"
    for operand in inner:
        for k, place in enumerate(connection.elements[operand.name]):
            if operand.values:
                raise ValueError(
                    f"[controls] {operand.name} of a design in VHDL must have numbers, got {operand.values[0]!r}"
                )
            port, low = operand.outside(k, operand.width if dut.is_adapted else operand.pitch)
            outside = f"{port}({low + operand.width - 1} downto {low})"
            if dut.is_adapted:
                outside = f"std_logic_vector(n_inner_{outside})" if operand.direction == "input" else f"n_inner_{outside}"
            lines.append(_assigned(number, place, outside, operand.direction == "input"))
    for control, place in connection.controls.items():
        inverted = control == "rst" and dut.reset is not None and dut.reset.active == "low"
        (bit,) = place.bits
        outside = f"n_inner_{control}(0)" if dut.is_adapted and control in dut.signals else control
        ends = f"{number[place.port.name]}({bit})", f"{'not ' if inverted else ''}{outside}"
        lines.append("{} <= {};".format(*ends if place.port.direction == "input" else reversed(ends)))
    for place, value in connection.ties:
        if isinstance(value, str):
            raise ValueError(f"[tie] {place.port.name} of a design in VHDL must be a number, got {value!r}")
        lines.append(_assigned(number, place, f'"{value % (1 << place.width):0{place.width}b}"', True))
    generics = ", ".join(f"{generic} => {value}" for generic, value in dut.parameters.items())
    links = ", ".join(f"{port} => port_{port}" for port in entity.declared)
    libraries = "".join(f"library {each}; " for each in entity.libraries)
    return "\n".join(
        [
            f"library ieee; {libraries}use ieee.std_logic_1164.all; use ieee.numeric_std.all;",
            f"entity {name} is port (",
            ";\n".join(f"  {port}" for port in ports),
            f"); end entity;\narchitecture around of {name} is",
            *(f"  {signal}" for signal in signals),
            f"{helpers}begin",
            *(f"  {line}" for line in lines),
            f"  {INSTANCE} : entity work.{dut.top}{f' generic map ({generics})' if generics else ''} port map ({links});",
            "end architecture;",
            "",
        ]
    )


def _vector(width: int) -> str:
    return f"std_logic_vector({width - 1} downto 0)"


def _assigned(number: Mapping[str, str], place: Place, outside: str, inwards: bool) -> str:
    low = min(place.bits)
    bits = f"{number[place.port.name]}({low + place.width - 1} downto {low})"
    if inwards:
        return f"{bits} <= {outside};"
    return f"{outside} <= {f'unsigned({bits})' if outside.startswith('n_inner_') else bits};"
