"""An elaborated design: its ports with names, directions, widths and arrays, and the files that Verilator read for it."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from cosim.dut.description import Dut
from cosim.dut.files_read import FileRead, files_read
from cosim.dut.tool_log import ElaborationError, first_error
from golden.checks import listed, near
from golden.files import temporary_folder
from golden.processes import run_tool

AROUND = "mmau_elaboration"
"""Name of the module that instantiates the design while its ports are read."""

WRAPPER = "mmau_dut"
"""Name of the module around the design in a simulation and a proof."""

INSTANCE = "dut"
"""Name of the design's instance in the module around it."""

ELSEWHERE = "mmau_elsewhere"
"""Name of the instance while its ports are read: a text that rests on the name of its own instance is not read."""

_NUMBER = re.compile(r"\??(\d+)\??'")
"""A constant of bits, which begins with their number, `4'h8`; a real number and a text begin otherwise."""

_ESCAPED = re.compile(r"\\(?:([0-7]{3})|.)")
"""A byte as in C, or a character that JSON escapes."""


@dataclass(frozen=True)
class Range:
    """A dimension `[left:right]` of an array or of a packed type."""

    left: int
    right: int

    @property
    def count(self) -> int:
        """The number of its indices."""
        return abs(self.left - self.right) + 1

    @property
    def indices(self) -> range:
        """The indices of the dimension, in ascending order."""
        return range(min(self.left, self.right), max(self.left, self.right) + 1)

    def __str__(self) -> str:
        return f"[{self.left}:{self.right}]"


@dataclass(frozen=True)
class Port:
    """A port of the top module.

    Attributes:
        name: name in the declaration.
        direction: "input", "output" or "inout".
        unpacked: dimensions after the name, outermost first.
        packed: dimensions before the name without the innermost, outermost first; `logic [3:0][15:0]` has one.
        word: bits of the innermost packed dimension, or of a struct.
        signed: whether it is declared as signed.
        bits: the range of the innermost packed dimension as it is declared, None for `[word - 1:0]`.
    """

    name: str
    direction: str
    unpacked: tuple[Range, ...]
    packed: tuple[Range, ...]
    word: int
    signed: bool = False
    bits: Range | None = None

    @property
    def vector(self) -> int:
        """The width of one unpacked element (bits)."""
        return self.word * prod(dimension.count for dimension in self.packed)

    @property
    def width(self) -> int:
        """The width of the whole port (bits)."""
        return self.vector * prod(dimension.count for dimension in self.unpacked)

    def __str__(self) -> str:
        array = "".join(map(str, self.unpacked))
        return f"{self.direction} {self.name}{array} of {self.vector} bits"


@dataclass(frozen=True)
class Elaborated:
    """A design as Verilator reads it.

    Attributes:
        ports: the ports of the top module with its parameters applied, in the order of the declaration.
        read: the files that Verilator read, by path, also those that it found itself.
        opens: the names of the files that the design opens when it runs, "" for a name that is not constant.
        loaded: the SHA-256 of each file that it loads into a memory when it runs, by path, as far as the names are constant.
        edges: the names of signals, of any module, at whose edges its registers act, with the direction: "POS" or "NEG".
        parameters: for each parameter of the top module that holds a number its width (bits), and whether it has a sign.
    """

    ports: tuple[Port, ...]
    read: Mapping[str, FileRead]
    opens: tuple[str, ...]
    loaded: Mapping[str, str]
    edges: Mapping[str, str]
    parameters: Mapping[str, tuple[int, bool]]


def compiler_arguments(dut: Dut) -> list[str]:
    """The arguments of every simulator beside the files: folders of included files, macros."""
    defines = [f"-D{name}={value}" if value else f"-D{name}" for name, value in dut.defines.items()]
    return [*(f"-I{folder.resolve()}" for folder in dut.include), *defines]


def elaborated(dut: Dut) -> Elaborated:
    """Elaborate a design.

    Raises:
        ElaborationError: Verilator cannot read the design, does not find the top module, or finds a text of the design that
            is or changes the module around it.
        ValueError: a port that cannot be driven as bits, such as an interface.
    """
    with temporary_folder("mmau-elaborate-") as folder:
        # Verilator's -G takes only numbers; an instance takes constants of packages and types too.
        around = Path(folder) / f"{AROUND}.sv"
        found = instance(dut, ELSEWHERE)
        text = f"module {AROUND}; {found} (); {WRAPPER} around (); endmodule\nmodule {WRAPPER}; endmodule\n"
        around.write_text(text, encoding="utf-8")
        command = [
            "verilator", "--json-only", "--no-json-edit-nums", "--MMD", "-Wno-fatal", "-Wno-lint", "-Wno-style",
            "--no-timing", "--top-module", AROUND, "--Mdir", folder, *compiler_arguments(dut), *dut.verilator_args,
            *(str(source.resolve()) for source in dut.sources), str(around),
        ]  # fmt: skip
        result = run_tool(command)
        tree = Path(folder) / f"V{AROUND}.tree.json"
        if result.returncode or not tree.is_file():
            error = first_error(result.stderr or result.stdout)
            if f"{AROUND}.sv" in error and f"module: '{dut.top}'" in error:
                got = listed(map(str, dut.sources)) + near(dut.top, _modules(dut))
                raise ElaborationError(f"none of the sources holds the top module {dut.top}; got {got}")
            raise ElaborationError(f"verilator cannot read {dut.top}: {error}")
        nodes = read_tree(tree)
        _check_wrapper(nodes, read_tree(tree.with_suffix(".meta.json")))
        read, ports = files_read(Path(folder), Path.cwd(), [around]), ports_of_tree(nodes, dut.top)
        return Elaborated(ports, read, _opened(nodes), _loaded(nodes), _edges(nodes), _parameters(nodes, dut.top))


def _modules(dut: Dut) -> list[str]:
    """The names of modules in the text of a design's files, for a message."""
    text = "\n".join(source.read_text(encoding="utf-8", errors="replace") for source in dut.sources)
    return re.findall(r"^\s*module\s+(\w+)", text, re.MULTILINE)


def read_tree(path: Path) -> Any:
    """Read a file of `verilator --json-only`, which escapes bytes of names that are not ASCII as C does and JSON does
    not."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return json.loads(_ESCAPED.sub(lambda found: f"\\u{int(found[1], 8):04x}" if found[1] else found[0], text))


def instance(dut: Dut, name: str = INSTANCE) -> str:
    """The text `top #(parameters) name` of an instance, without its connections."""
    parameters = ", ".join(f".{name}({value})" for name, value in dut.parameters.items())
    return f"{dut.top} {f'#({parameters}) ' if parameters else ''}{name}"


def ports_of_tree(tree: dict[str, Any], top: str) -> tuple[Port, ...]:
    """The ports of module `top` in the tree of `verilator --json-only`.

    Raises:
        ElaborationError: there is no such module. ValueError: a port that cannot be driven as bits.
    """
    types = _types(tree)
    return tuple(_port(node, types) for node in _variables(tree, top) if _is_port(node, types))


def _types(tree: dict[str, Any]) -> dict[str, Any]:
    """The types of a tree, by their addresses."""
    return {node["addr"]: node for node in nodes_of(tree) if "DTYPE" in str(node.get("type", ""))}


def _variables(tree: dict[str, Any], top: str) -> list[dict[str, Any]]:
    """The ports, parameters and variables of module `top`."""
    modules = [
        node for node in tree["modulesp"] if node.get("type") == "MODULE" and node.get("origName", node["name"]) == top
    ]
    if not modules:
        raise ElaborationError(f"verilator found no module {top}")
    return [node for node in modules[0]["stmtsp"] if node.get("type") == "VAR"]


def _parameters(tree: dict[str, Any], top: str) -> dict[str, tuple[int, bool]]:
    """The widths of the parameters of module `top` that are vectors of bits, and whether they have a sign."""
    types, found = _types(tree), dict[str, tuple[int, bool]]()
    for node in _variables(tree, top):
        value = node["valuep"][0] if node["varType"] == "GPARAM" else {"type": "no constant"}
        if value["type"] == "CONST" and (number := _NUMBER.match(str(value["name"]))):
            found[str(node["origName"])] = int(number[1]), bool(resolved_type(types[value["dtypep"]], types).get("signed"))
    return found


def _is_port(variable: dict[str, Any], types: dict[str, Any]) -> bool:
    """Whether a variable of a module is a port, and not an interface inside, which Verilator gives another name."""
    is_interface = "IFACE" in str(types[variable["dtypep"]]["type"]) and not variable["origName"].endswith("__Viftop")
    return is_interface or variable.get("direction", "NONE") != "NONE"


def _check_wrapper(tree: dict[str, Any], meta: dict[str, Any]) -> None:
    """Raise ElaborationError unless the module of the wrapper's name is the empty one that stands for the wrapper: the
    simulator would take another one in its place, or bind an instance into it."""
    modules = {str(node.get("origName", node["name"])): node for node in tree["modulesp"]}
    for statement in modules[WRAPPER]["stmtsp"] if WRAPPER in modules else modules[AROUND]["stmtsp"]:
        file = meta["files"][statement["loc"].partition(",")[0]]["filename"]
        raise ElaborationError(
            f"{file}: defines {WRAPPER} or {AROUND}, or binds something into it: these are names of modules around the "
            "design, which no design may use"
        )


def _opened(tree: dict[str, Any], kinds: Sequence[str] = ("READMEM", "FOPEN", "FOPENMCD")) -> tuple[str, ...]:
    """The names of the files of $readmemh, $readmemb and $fopen, as far as they are constant, else ""."""
    named = [node["filenamep"][0] for node in nodes_of(tree) if node.get("type") in kinds]
    return tuple(sorted({node["name"].strip('\\"') if node["type"] == "CONST" else "" for node in named}))


def _loaded(tree: dict[str, Any]) -> dict[str, str]:
    """The SHA-256 of each file of $readmemh and $readmemb, by its path; a path within the folder of the run is left out."""
    paths = [Path(name) for name in _opened(tree, ("READMEM",)) if Path(name).is_absolute()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}


def _edges(tree: dict[str, Any]) -> dict[str, str]:
    """The names of the signals in sensitivity lists, with the edges at which registers act."""
    items = [node for node in nodes_of(tree) if node.get("type") == "SENITEM" and node.get("edgeType") in ("POS", "NEG")]
    return {str(signal["name"]): str(item["edgeType"]) for item in items for signal in item["sensp"] if "varp" in signal}


def nodes_of(tree: Any) -> Iterator[dict[str, Any]]:
    """Every node of a tree, or of a part of a tree, of `verilator --json-only`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _port(node: dict[str, Any], types: dict[str, Any]) -> Port:
    name, kind = str(node["origName"]), resolved_type(types[node["dtypep"]], types)
    unpacked: list[Range] = []
    while kind["type"] == "UNPACKARRAYDTYPE":
        unpacked.append(_range(kind["declRange"]))
        kind = resolved_type(types[kind["refDTypep"]], types)
    packed: list[Range] = []
    while kind["type"] == "PACKARRAYDTYPE":
        packed.append(_range(kind["declRange"]))
        kind = resolved_type(types[kind["refDTypep"]], types)
    word = width_of_type(kind, types, name)
    bits = _range(f"[{kind['range']}]") if "range" in kind else None
    return Port(name, str(node["direction"]).lower(), tuple(unpacked), tuple(packed), word, bool(kind.get("signed")), bits)


def resolved_type(kind: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """The type that remains when names, parameters and enumerations are resolved."""
    while kind["type"] in ("REFDTYPE", "PARAMTYPEDTYPE", "ENUMDTYPE", "CONSTDTYPE", "MEMBERDTYPE"):
        kind = types[kind["refDTypep"] if kind["type"] == "ENUMDTYPE" else kind["dtypep"]]
    return kind


def width_of_type(kind: dict[str, Any], types: dict[str, Any], name: str) -> int:
    """The width of a packed type (bits)."""
    kind = resolved_type(kind, types)
    match kind["type"]:
        case "BASICDTYPE" if kind["keyword"] not in ("real", "shortreal", "realtime", "string", "event", "chandle"):
            return _range(f"[{kind['range']}]").count if "range" in kind else 1
        case "PACKARRAYDTYPE":
            return _range(kind["declRange"]).count * width_of_type(types[kind["refDTypep"]], types, name)
        case "STRUCTDTYPE" | "UNIONDTYPE" if kind.get("packed"):
            members = [width_of_type(types[member["dtypep"]], types, name) for member in kind["membersp"]]
            return max(members) if kind["type"] == "UNIONDTYPE" else sum(members)
    found = kind.get("keyword") or kind["type"]
    raise ValueError(f"port {name} must be made of bits: vectors, packed structs, or arrays of these; got {found}")


def _range(text: str) -> Range:
    left, right = text.strip("[]").split(":")
    return Range(int(left), int(right))
