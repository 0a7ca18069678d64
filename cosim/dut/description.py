"""`dut.toml`: the description of a user design: its sources, ports, timing, widths of operands and rules of comparison."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from cosim.bench.assumed import assumed_of
from cosim.bench.comparison_rules import Compare, is_hexadecimal
from cosim.bench.operand_widths import THE_UNITS, FixedPoint, OperandWidths
from cosim.bench.protocol import HANDSHAKES, PROTOCOLS, Timing
from cosim.dut.files_read import VHDL, FileRead
from cosim.dut.sequence import MARKS, Beats, Matrix, beats_of, matrix_of, product_design
from golden import Unit
from golden.arithmetic.flags import FLAGS
from golden.checks import check_choice, check_int, listed, unknown
from golden.files import read_toml
from golden.units.controls import PORT, Control, controls_from_table
from rtl.designs.design import Design
from rtl.designs.ports import OPERANDS
from rtl.designs.product_design import ProductDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

MOST_BITS_OF_C = 32
"""Number of bits of a unit's integer c."""


def widths_from_table(table: Mapping[str, Any]) -> OperandWidths:
    """The widths that a parsed table `[operands]` gives.

    Raises:
        ValueError: a key that is unknown, missing or out of range; the message names key, rule and value.
    """
    for key in table:
        if key not in ("c", "d"):
            raise ValueError(unknown("[operands] key", key, ("c", "d")))
    return OperandWidths(_c_bits(table["c"]) if "c" in table else None, _fixed(table["d"]) if "d" in table else None)


def _c_bits(given: Any) -> int:
    if given == "none":
        return 0
    if not isinstance(given, dict) or set(given) != {"bits"}:
        raise ValueError(f'[operands] c must be "none" or {{bits = 16}}, got {given!r}')
    check_int("[operands] c bits", given["bits"], 1, MOST_BITS_OF_C)
    return int(given["bits"])


def _fixed(given: Any) -> FixedPoint:
    if not isinstance(given, dict) or not {"bits"} <= set(given) <= {"bits", "fraction"}:
        raise ValueError(f"[operands] d must be {{bits = 73, fraction = 32}}, got {given!r}")
    return FixedPoint(given["bits"], given.get("fraction", 0))


START_DONE, EACH = "start-done", "operand-handshakes"
"""Protocols that the wrapper turns into `in-ready` and `valid-ready`: start and done, one dot product at a time; a
handshake of its own for each operand."""

DUT_PROTOCOLS = (*PROTOCOLS, START_DONE, EACH)

INPUT_SIGNALS = ("in_valid", "out_ready", "start", "a_valid", "b_valid", "c_valid", *MARKS)
"""The signals of a protocol, or of `[beats]`, that are inputs of the design."""

MAX_LATENCY = 1024
MAX_PRODUCTS = 1024
MAX_RESULTS = 64


@dataclass(frozen=True)
class Reset:
    """The reset input.

    Attributes:
        name: name of the port. active: "high" or "low". asynchronous: whether it acts without a clock edge.
    """

    name: str
    active: str = "high"
    asynchronous: bool = False

    def __post_init__(self) -> None:
        _check_text("[reset] name", self.name)
        check_choice("[reset] active", self.active, ("high", "low"))
        if not isinstance(self.asynchronous, bool):
            raise TypeError(f"[reset] asynchronous must be true or false, got {self.asynchronous!r}")


@dataclass(frozen=True, kw_only=True)
class Dut:
    """A user design, as its description gives it.

    Attributes:
        top: the top module.
        sources: source files in the order in which they are read.
        include: folders of included files. defines: macros. parameters: parameters of the top module.
        verilator_args: further arguments of Verilator, for example to waive warnings. ghdl_args: of GHDL's analysis.
        protocol: one of `DUT_PROTOCOLS`. latency: cycles from operands to result, for `fixed-latency` only.
        hold_operands: whether operands stay after `start`, until the result.
        clock, enable: names of ports, None where there is none. reset: the reset input, or None.
        ports: the design's port names for this project's names (`a`, `in_valid` …); several names are the lanes of one
            operand, in order of the elements. `operands_i[1]` is one element of an array, `data_i[31:16]` a range of bits.
        order: "ascending", element 0 first; or "descending", element 0 in the highest bits or the last place.
        results: number of dot products in a vector. widths: the widths of c and d, where they differ from the unit's.
        products: of a transfer, where the unit's step has fewer; None for those of a step.
        matrix, beats: the tables `[matrix]` and `[beats]`, or None.
        tie: value of each input that is held at a value.
        controls: inputs that choose the arithmetic. echo: the input that each such output returns, by its name. flags: the
            exception flags of each such output, bit 0 first. All names are words; `ports` has those of the design where
            these are others.
        compare: the permitted differences. ignore_outputs: outputs that are not compared on purpose.
        lists: the filelists that name its sources.
        translated: for a circuit that GHDL wrote, the VHDL files that it is made from, as they were read.
    """

    top: str
    sources: tuple[Path, ...]
    include: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    verilator_args: tuple[str, ...] = ()
    ghdl_args: tuple[str, ...] = ()
    protocol: str = "combinational"
    latency: int = 0
    clock: str | None = None
    reset: Reset | None = None
    enable: str | None = None
    ports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    order: str = "ascending"
    results: int = 1
    widths: OperandWidths = THE_UNITS
    products: int | None = None
    matrix: Matrix | None = None
    beats: Beats | None = None
    hold_operands: bool = False
    tie: Mapping[str, int | str] = field(default_factory=dict)
    controls: tuple[Control, ...] = ()
    echo: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compare: Compare = field(default_factory=Compare)
    ignore_outputs: tuple[str, ...] = ()
    lists: tuple[Path, ...] = ()
    translated: Mapping[str, FileRead] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_text("top", self.top)
        if not isinstance(self.hold_operands, bool):
            raise TypeError(f"hold_operands must be true or false, got {self.hold_operands!r}")
        check_choice("protocol", self.protocol, DUT_PROTOCOLS)
        check_choice("order", self.order, ("ascending", "descending"))
        check_int("results", self.results, 1, MAX_RESULTS)
        self._check_timing()
        self._check_sequence()
        known = [port for port in (*OPERANDS, *self.signals, *self._optional) if port != "c" or self.widths.c_bits != 0]
        for port in self.ports:
            if port not in (*known, *self.further):
                raise ValueError(unknown(f"[ports] of a design with protocol {self.protocol!r}: port", port, known))
        missing = [source for source in self.sources if not source.is_file()]
        if missing:
            raise ValueError(f"sources must be Verilog files that exist; not found: {listed(map(str, missing))}")
        if not self.sources:
            raise ValueError("a design needs at least one Verilog file, got none")
        self._check_language()

    def _check_language(self) -> None:
        others = [source.name for source in self.sources if source.suffix.lower() not in VHDL]
        if others and len(others) < len(self.sources):
            raise ValueError(f"sources must be all VHDL or all Verilog, got VHDL and {', '.join(others)}")
        if not others and (self.include or self.defines):
            raise ValueError("a design in VHDL has no include folders and no macros: leave include and defines out")
        if others and self.ghdl_args:
            raise ValueError(f"ghdl_args are for a design in VHDL, got {', '.join(others)}")

    def _check_timing(self) -> None:
        clocked = self.protocol != "combinational"
        if clocked and self.clock is None:
            raise ValueError(f'protocol {self.protocol!r} needs a clock: clock = "clk_i"')
        for key in ("clock", "reset", "enable"):
            if not clocked and getattr(self, key) is not None:
                raise ValueError(f"a combinational design has no {key}; leave {key} out, tie the port, or change protocol")
        if self.protocol == "fixed-latency":
            check_int("latency", self.latency, 1, MAX_LATENCY)
        elif self.latency:
            raise ValueError(f"latency goes with protocol 'fixed-latency', got {self.latency} with {self.protocol!r}")

    def _check_sequence(self) -> None:
        if self.hold_operands and self.protocol != START_DONE:
            raise ValueError(f"hold_operands goes with protocol {START_DONE!r}, got {self.protocol!r}")
        if self.products is not None:
            check_int("products", self.products, 1, MAX_PRODUCTS)
        if self.has_product and self.results != 1:
            raise ValueError(f"results goes without products, [matrix] and [beats], got {self.results}")
        if self.protocol in (START_DONE, EACH) and self.results != 1:
            raise ValueError(f"results must be 1 with protocol {self.protocol!r}, got {self.results}")
        if self.has_product and self.widths.d is not None:
            raise ValueError("a fixed-point d goes without products, [matrix] and [beats]")
        beats, parts = self.beats, self.matrix.parts if self.matrix else 1
        if beats is not None and self.protocol in ("combinational", START_DONE, EACH):
            raise ValueError(
                f"[beats] goes with protocols 'fixed-latency', 'valid', 'in-ready' and 'valid-ready', got {self.protocol!r}"
            )
        if beats is not None and self.protocol == "fixed-latency":
            if beats.results != "last":
                raise ValueError("[beats] results = \"each\" needs out_valid, which 'fixed-latency' has not")
            if "in_valid" not in self.ports and not {"first", "load", "clear"} & set(beats.marks):
                raise ValueError(
                    "[beats] of a design without in_valid needs first, load or clear, which drop what came between"
                )
        if parts > 1 and (
            self.protocol in ("combinational", "fixed-latency") or (beats is not None and beats.results == "each")
        ):
            raise ValueError('[matrix] d = "rows" and "elements" need out_valid, and one result for all of d')

    @property
    def _optional(self) -> tuple[str, ...]:
        """Signals that a design may have or not."""
        if self.protocol == EACH:
            return tuple(f"{name}_{way}" for name in "abc" for way in ("valid", "ready"))
        return ("busy",) if self.protocol == START_DONE else ("in_valid",) if self._reads_out_later else ()

    @property
    def _reads_out_later(self) -> bool:
        """Whether a sum is read out so many cycles after its last transfer."""
        return self.beats is not None and self.protocol == "fixed-latency"

    @property
    def signals(self) -> tuple[str, ...]:
        """The design's signals of its handshake, and the marks of its transfers."""
        if self.protocol == START_DONE:
            found: tuple[str, ...] = ("start", "done")
        elif self.protocol == EACH:
            operands = [name for name in "abc" if f"{name}_valid" in self.ports]
            found = (*(f"{name}_{way}" for name in operands for way in ("valid", "ready")), "out_valid", "out_ready")
        else:
            found = HANDSHAKES[self.protocol]
        marks = () if self.beats is None else tuple(self.beats.marks)
        further = () if self.protocol == EACH else (name for name in self._optional if name in self.ports)
        return (*found, *further, *marks)

    @property
    def is_adapted(self) -> bool:
        """Whether the wrapper turns its protocol into another one."""
        return (
            self.beats is not None
            or self.protocol in (START_DONE, EACH)
            or (self.matrix is not None and self.matrix.parts > 1)
        )

    def adapts(self, is_simulated: bool) -> bool:
        """Whether its wrapper, of a simulation or of a proof, has an adapter: a proof knows the signals of each protocol."""
        return self.is_adapted and (is_simulated or self.beats is not None or (self.matrix or Matrix()).parts > 1)

    @property
    def has_waiting_parts(self) -> bool:
        """Whether several results of the design make one, and each waits until it is taken."""
        several = (self.matrix or Matrix()).parts > 1 or (self.beats is not None and self.beats.results == "each")
        return several and "out_ready" in self.signals

    @property
    def has_inner_operands(self) -> bool:
        """Whether the operands of its ports are other ones than those of a result, or stand in another order."""
        return self.is_adapted or self.matrix is not None

    @property
    def has_product(self) -> bool:
        """Whether a result is more than a step of the unit."""
        return self.products is not None or self.matrix is not None or self.beats is not None

    def reference(self, design: Design) -> Design:
        """The design that the results are compared with: of a unit, or of its dot products over several transfers.

        Raises:
            ValueError: the tables are of another design than a unit's, or its operation has no c to add up in.
        """
        if not self.has_product:
            return design
        if not isinstance(design, UnitDesign | ProductDesign | TileDesign) or design.unit is None:
            raise ValueError(f"products, [matrix] and [beats] are for a unit, {design.name} is a design of another kind")
        return self.product(design.unit)

    def product(self, unit: Unit) -> ProductDesign:
        """The dot products of a unit that are compared, if they are more than a step.

        Raises:
            ValueError: its operation has no c to add up in.
        """
        for operation in (choice.unit.operation for choice in unit.choices if self.beats is not None):
            if "c" not in operation.operands or operation.c != operation.d:
                got = (
                    f"{operation.c} and {operation.d}" if "c" in operation.operands else f"{operation.name}, which has no c"
                )
                raise ValueError(f"[beats] needs a unit whose c and d are one format, got {got}")
        return product_design(unit, self.matrix, self.beats, self.products)

    @property
    def further(self) -> tuple[str, ...]:
        """The names of the inputs and outputs of its controls, echoes and flags."""
        return (*(control.port for control in self.controls), *self.echo, *self.echo.values(), *self.flags)

    @property
    def is_vhdl(self) -> bool:
        """Whether its sources are VHDL."""
        return self.sources[0].suffix.lower() in VHDL

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that describe it, as far as they are named: its sources and filelists, not what these include."""
        return (*self.sources, *self.lists)

    @property
    def timing(self) -> Timing:
        """The timing for the testbench."""
        reset = "none" if self.reset is None else "asynchronous" if self.reset.asynchronous else "synchronous"
        protocol, latency = self.protocol, self.latency
        if self.beats is not None and protocol != "valid-ready":
            protocol, latency = "in-ready", 0
        protocol = {START_DONE: "in-ready", EACH: "valid-ready"}.get(protocol, protocol)
        return Timing(protocol, latency, self.enable is not None, reset)

    def name_of(self, port: str) -> tuple[str, ...]:
        """The design's names for one of this project's ports: the same name, unless `ports` or `beats` gives others."""
        if self.beats is not None and port in self.beats.marks:
            return (self.beats.marks[port],)
        return self.ports.get(port, (port,))


def load_dut(path: str | Path) -> Dut:
    """Read a `dut.toml`; relative paths in it start at its folder.

    Raises:
        ValueError: not TOML, or a key that is unknown, missing, contradictory or out of range; the message names file, key,
            rule and value. OSError: the file cannot be read.
    """
    try:
        return dut_from_table(read_toml(path), Path(path).parent)
    except (TypeError, ValueError) as error:
        text = str(error)
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from error


_FURTHER_KEYS = {"assume", "filelist", "formats", "operands"}
"""Keys of the file that are not fields of `Dut`: a filelist is read, `[formats]` describes designs without a unit, and
`[operands]` is the field `widths`."""


def dut_from_table(table: Mapping[str, Any], folder: Path) -> Dut:
    """The design that a parsed `dut.toml` describes; relative paths start at `folder`.

    Raises:
        ValueError, TypeError: as `load_dut`, without the path.
    """
    known = {f.name for f in fields(Dut)} - {"widths", "lists", "ignore_outputs", "translated"} | _FURTHER_KEYS
    for key in table:
        if key not in known:
            raise ValueError(unknown("key", key, sorted(known)))
    if "top" not in table:
        raise ValueError('key top is missing: the name of the top module, like top = "dot4"')
    if ("sources" in table) == ("filelist" in table):
        raise ValueError('give either sources = ["dot4.sv"] or filelist = "dot4.f", and not both')
    from cosim.dut.filelist import Filelist, read_filelist  # a generated design does without

    filelist = read_filelist(folder / _text("filelist", table["filelist"])) if "filelist" in table else Filelist()
    sources = [folder / name for name in _texts("sources", table.get("sources", []))]
    include = [folder / name for name in _texts("include", table.get("include", []))]
    compare = {**_table("compare", table.get("compare", {}))}
    ports = {port: _names(port, names) for port, names in _table("ports", table.get("ports", {})).items()}
    controls = controls_from_table(_table("controls", table.get("controls", {})))
    echo = {_echo(output): _echo(given) for output, given in _table("echo", table.get("echo", {})).items()}
    flags = {_echo(output): _flags(output, names) for output, names in _table("flags", table.get("flags", {})).items()}
    further = (*(control.port for control in controls), *echo, *echo.values(), *flags)
    words = {name: _word(name) for name in further}
    ports |= {word: (name,) for name, word in words.items() if name != word and word not in ports}
    ignored = compare.pop("ignore_outputs", [])
    plain = ("top", "protocol", "latency", "enable", "clock", "order", "results", "hold_operands", "products")
    keys: dict[str, Any] = {key: table[key] for key in plain if key in table}
    for key in ("enable", "clock"):
        if key in keys:
            _check_text(key, keys[key])
    widths = widths_from_table(_table("operands", table.get("operands", {})))
    widths = replace(widths, assumed=assumed_of(_table("assume", table.get("assume", {}))))
    beats = beats_of(_table("beats", table["beats"]), widths.c_bits != 0) if "beats" in table else None
    return Dut(
        **keys,
        sources=(*filelist.sources, *sources),
        include=(*filelist.include, *include),
        defines=filelist.defines | _values("defines", table.get("defines", {})),
        parameters=_values("parameters", filelist.parameters | _table("parameters", table.get("parameters", {}))),
        verilator_args=tuple(_texts("verilator_args", table.get("verilator_args", []))),
        ghdl_args=tuple(_texts("ghdl_args", table.get("ghdl_args", []))),
        reset=_record("reset", table["reset"], Reset) if "reset" in table else None,
        ports=ports,
        controls=tuple(replace(control, port=words[control.port]) for control in controls),
        echo={words[output]: words[given] for output, given in echo.items()},
        flags={words[output]: names for output, names in flags.items()},
        tie={name: _tied(name, value) for name, value in _table("tie", table.get("tie", {})).items()},
        widths=widths if beats is None else replace(widths, c_is_zero=beats.start == "zero"),
        matrix=matrix_of(_table("matrix", table["matrix"])) if "matrix" in table else None,
        beats=beats,
        compare=_record("compare", compare, Compare),
        ignore_outputs=tuple(_texts("[compare] ignore_outputs", ignored)),
        lists=tuple(filelist.lists),
    )


def _record(key: str, value: Any, kind: type[Any]) -> Any:
    keys = _table(key, value)
    known = [f.name for f in fields(kind)]
    for name in keys:
        if name not in known:
            raise ValueError(unknown(f"[{key}] key", name, known))
    missing = [f.name for f in fields(kind) if f.name not in keys and f.default is MISSING]
    if missing:
        raise ValueError(f"[{key}] is missing {listed(missing)}; its keys are {listed(known)}")
    return kind(**keys)


def _names(port: str, value: Any) -> tuple[str, ...]:
    names = tuple(value) if isinstance(value, list) else (value,)
    if not names or not all(isinstance(name, str) and _SELECTED.fullmatch(name) for name in names):
        raise ValueError(f'[ports] {port} must be a port like "a_i" or "ops_i[0]", or a list of lanes; got {value!r}')
    return names


_SELECTED = re.compile(PORT, re.ASCII)


def _echo(name: Any) -> str:
    if not isinstance(name, str) or not _SELECTED.fullmatch(name):
        raise ValueError(f'[echo] must be like tag_o = "tag_i", an output and the input that it returns; got {name!r}')
    return name


def _flags(output: str, names: Any) -> tuple[str, ...]:
    known = isinstance(names, list) and all(isinstance(name, str) and name in FLAGS for name in names)
    if not known or not names or len({*names}) < len(names):
        raise ValueError(f"[flags] {output} must list some of {listed(FLAGS)}, each once, bit 0 first; got {names!r}")
    return tuple(names)


def _word(name: str) -> str:
    """A name for a port around the design that no other port there has."""
    word = re.sub(r"\W+", "_", name).strip("_")
    return f"{word}_" if word in RESERVED else word


RESERVED = ("a", "b", "c", "d", "scale_a", "scale_b", "clk", "rst", "en", *HANDSHAKES["valid-ready"])
"""The names of the other ports around a design."""


def _tied(name: str, value: Any) -> int | str:
    if not _SELECTED.fullmatch(name):
        raise ValueError(f'[tie] must name inputs like "mode_i" or "data_i[31:16]", got {name!r}')
    constant = isinstance(value, int) and not isinstance(value, bool)
    if constant or (isinstance(value, str) and (is_hexadecimal(value) or _CONSTANT.fullmatch(value))):
        return int(value, 16) if isinstance(value, str) and is_hexadecimal(value) else value
    raise ValueError(f'[tie] {name} must be a number, "0x…", or a constant of a package like "pkg::NAME"; got {value!r}')


_CONSTANT = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)?", re.ASCII)


def _values(key: str, value: Any) -> dict[str, str]:
    table = _table(key, value)
    for name, given in table.items():
        if isinstance(given, bool) or not isinstance(given, (int, str)):
            raise ValueError(f"[{key}] {name} must be a number or a text, got {given!r}")
        if not _SELECTED.fullmatch(name) or {*"[."} & {*name} or not str(given).isprintable():
            raise ValueError(f"[{key}] {name} must be a name, and its value one line of text; got {given!r}")
        if key == "parameters" and not _is_one_value(str(given)):
            raise ValueError(f"[{key}] {name} must be one value, without a comma, a semicolon or a comment; got {given!r}")
        if key == "parameters" and re.fullmatch(r"\s*'[01xXzZ]\s*", str(given)):  # Verilator keeps a default of 1 for '1
            raise ValueError(
                f"[{key}] {name} must say its width, like 4'hf, which not every tool takes from it; got {given!r}"
            )
    return {name: str(given) for name, given in table.items()}


def _is_one_value(text: str) -> bool:
    """Whether a text stays within the brackets into which it is put."""
    outside, depth = re.sub(r'"(?:[^"\\]|\\.)*"', "", text), 0
    for letter in outside:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or letter in ';"`' or (letter == "," and not depth):
            return False
    return not depth and "//" not in outside and "/*" not in outside


def _table(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{key} must be a table, got {value!r}")
    return value


def _texts(key: str, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise ValueError(f"{key} must be a list of texts, got {value!r}")
    return [_text(key, item) for item in value]


def _text(key: str, value: Any) -> str:
    _check_text(key, value)
    return str(value)


def _check_text(key: str, value: Any) -> None:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(f"{key} must be a non-empty text, got {value!r}")
