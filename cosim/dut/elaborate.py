"""The ports of an elaborated design: names, directions, widths and arrays, as Verilator reads them."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from cosim.dut.description import Dut
from cosim.dut.log import first_error
from golden.checks import listed
from rtl.tools import run_tool

AROUND = "mmau_elaboration"
"""Name of the module whose instance the design is while it is read."""


INSTANCE = "dut"
"""Name of the design's instance in what is put around it."""


class ElaborationError(Exception):
    """Verilator cannot read the design; the message is its first error."""


@dataclass(frozen=True)
class Range:
    """A dimension `[left:right]`."""

    left: int
    right: int

    @property
    def count(self) -> int:
        """Indices in it."""
        return abs(self.left - self.right) + 1

    @property
    def indices(self) -> range:
        """The indices, ascending."""
        return range(min(self.left, self.right), max(self.left, self.right) + 1)

    def __str__(self) -> str:
        return f"[{self.left}:{self.right}]"


@dataclass(frozen=True)
class Port:
    """A port of the top module.

    Attributes:
        name: as declared.
        direction: "input", "output" or "inout".
        unpacked: dimensions behind the name, outermost first.
        packed: dimensions before the name but the innermost, outermost first; `logic [3:0][15:0]` has one.
        word: bits of the innermost packed dimension, or of a struct.
        signed: whether it is declared so.
    """

    name: str
    direction: str
    unpacked: tuple[Range, ...]
    packed: tuple[Range, ...]
    word: int
    signed: bool = False

    @property
    def vector(self) -> int:
        """Bits of one unpacked element."""
        return self.word * prod(dimension.count for dimension in self.packed)

    @property
    def width(self) -> int:
        """Bits of the whole port."""
        return self.vector * prod(dimension.count for dimension in self.unpacked)

    def __str__(self) -> str:
        array = "".join(map(str, self.unpacked))
        return f"{self.direction} {self.name}{array} of {self.vector} bits"


def compiler_arguments(dut: Dut) -> list[str]:
    """What every simulator needs beside the files: folders, macros."""
    defines = [f"-D{name}={value}" if value else f"-D{name}" for name, value in dut.defines.items()]
    return [*(f"-I{folder.resolve()}" for folder in dut.include), *defines]


def elaborated_ports(dut: Dut) -> tuple[Port, ...]:
    """The ports of the top module, its parameters applied, in the order of the declaration.

    Raises:
        ElaborationError: Verilator cannot read the design, or finds no such top module; the first error is the message.
        ValueError: a port that cannot be driven as bits, such as an interface.
    """
    with tempfile.TemporaryDirectory(prefix="mmau-elaborate-") as folder:
        # Verilator's -G takes numbers alone: an instance takes constants of packages and types too.
        around = Path(folder) / f"{AROUND}.sv"
        around.write_text(f"module {AROUND}; {instance(dut)} (); endmodule\n", encoding="utf-8")
        command = [
            "verilator", "--json-only", "--no-json-edit-nums", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--no-timing",
            "--top-module", AROUND, "--Mdir", folder, *compiler_arguments(dut), *dut.verilator_args,
            *(str(source.resolve()) for source in dut.sources), str(around),
        ]  # fmt: skip
        result = run_tool(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tree = Path(folder) / f"V{AROUND}.tree.json"
        if result.returncode or not tree.is_file():
            error = first_error(result.stderr or result.stdout)
            if f"{AROUND}.sv" in error and f"module: '{dut.top}'" in error:
                raise ElaborationError(
                    f"none of the sources holds the top module {dut.top}; got {listed(map(str, dut.sources))}"
                )
            raise ElaborationError(f"verilator cannot read {dut.top}: {error}")
        return ports_of_tree(json.loads(tree.read_text(encoding="utf-8")), dut.top)


def instance(dut: Dut) -> str:
    """`top #(parameters) dut`, to which the connections are added."""
    parameters = ", ".join(f".{name}({value})" for name, value in dut.parameters.items())
    return f"{dut.top} {f'#({parameters}) ' if parameters else ''}{INSTANCE}"


def ports_of_tree(tree: dict[str, Any], top: str) -> tuple[Port, ...]:
    """The ports of module `top` in a tree that `verilator --json-only` wrote.

    Raises:
        ElaborationError: no such module. ValueError: a port that cannot be driven as bits.
    """
    types = {node["addr"]: node for node in _nodes(tree) if "DTYPE" in str(node.get("type", ""))}
    modules = [
        node for node in tree["modulesp"] if node.get("type") == "MODULE" and node.get("origName", node["name"]) == top
    ]
    if not modules:
        raise ElaborationError(f"verilator found no module {top}")
    variables = [node for node in modules[0]["stmtsp"] if node.get("type") == "VAR"]
    ports = [n for n in variables if n.get("direction", "NONE") != "NONE" or "IFACE" in str(types[n["dtypep"]]["type"])]
    return tuple(_port(node, types) for node in ports)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _port(node: dict[str, Any], types: dict[str, Any]) -> Port:
    name, kind = str(node["origName"]), _resolved(types[node["dtypep"]], types)
    unpacked: list[Range] = []
    while kind["type"] == "UNPACKARRAYDTYPE":
        unpacked.append(_range(kind["declRange"]))
        kind = _resolved(types[kind["refDTypep"]], types)
    packed: list[Range] = []
    while kind["type"] == "PACKARRAYDTYPE":
        packed.append(_range(kind["declRange"]))
        kind = _resolved(types[kind["refDTypep"]], types)
    word = _bits(kind, types, name)
    return Port(name, str(node["direction"]).lower(), tuple(unpacked), tuple(packed), word, bool(kind.get("signed")))


def _resolved(kind: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """The type behind names, parameters and enumerations."""
    while kind["type"] in ("REFDTYPE", "PARAMTYPEDTYPE", "ENUMDTYPE", "CONSTDTYPE", "MEMBERDTYPE"):
        kind = types[kind["refDTypep"] if kind["type"] == "ENUMDTYPE" else kind["dtypep"]]
    return kind


def _bits(kind: dict[str, Any], types: dict[str, Any], name: str) -> int:
    """Bits of a packed type."""
    kind = _resolved(kind, types)
    match kind["type"]:
        case "BASICDTYPE" if kind["keyword"] not in ("real", "shortreal", "realtime", "string", "event", "chandle"):
            return _range(f"[{kind['range']}]").count if "range" in kind else 1
        case "PACKARRAYDTYPE":
            return _range(kind["declRange"]).count * _bits(types[kind["refDTypep"]], types, name)
        case "STRUCTDTYPE" | "UNIONDTYPE" if kind.get("packed"):
            members = [_bits(types[member["dtypep"]], types, name) for member in kind["membersp"]]
            return max(members) if kind["type"] == "UNIONDTYPE" else sum(members)
    found = kind.get("keyword") or kind["type"]
    raise ValueError(f"port {name} must be made of bits: vectors, packed structs, or arrays of these; got {found}")


def _range(text: str) -> Range:
    left, right = text.strip("[]").split(":")
    return Range(int(left), int(right))
