"""Designs as tables, and the digests that identify a design and the text of its Verilog.

`Design.as_table` writes the table in which a design travels into the simulator, and `design_from_table` reads it. Evidence
about a circuit (simulations, proofs) is recorded under the digests: a circuit with another digest has no evidence yet.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import golden
from golden import Implementation, Operation, Unit
from golden.text import canonical
from golden.units.unit_file import unit_from_table, unit_to_toml

if TYPE_CHECKING:
    from rtl.designs.design import Design


def design_from_table(table: Mapping[str, Any]) -> "Design":
    """The design that `Design.as_table` described."""
    # the designs import amaranth, which digests do without
    from rtl.designs.controlled_design import ControlledDesign
    from rtl.designs.multi_format_design import MultiFormatDesign
    from rtl.designs.product_design import ProductDesign
    from rtl.designs.tile_design import TileDesign
    from rtl.designs.unit_design import as_design

    if "unit" in table:
        return as_design(_unit(table["unit"]))
    if "controlled" in table:
        return ControlledDesign.from_table(table)
    if "formats" in table:
        return MultiFormatDesign(tuple(map(_unit, table["formats"])))
    if "product" in table:
        return ProductDesign.from_table(table["product"])
    if "array" in table:
        return TileDesign.of_unit(_unit(table["array"]))
    arch, name, m, n = (table["tile"][key] for key in ("arch", "name", "m", "n"))
    return TileDesign(replace(golden.instruction(arch, name), m=m, n=n), Implementation(**table["implementation"]))


def _unit(text: str) -> Unit:
    return unit_from_table(tomllib.loads(text))


TOP = "unit"
"""The top module's name under which the digest of a Verilog text is taken."""

TOKENS = re.compile(r"//[^\n]*|/\*.*?\*/|[A-Za-z_][\w$]*", re.DOTALL)
"""Pattern of a comment or a name in Verilog."""


def design_key(table: Mapping[str, Any]) -> str:
    r"""SHA-256 of a design, independent of the names of its units.

    Args:
        table: the table of `rtl.Design.as_table`.

    >>> design_key({"unit": 'name = "x"\nL = 4'}) == design_key({"unit": 'name = "y"\nL = 4'})
    True
    """
    nameless = dict(table)
    for key in {"unit", "formats", "controlled", "array"} & {*table}:
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
    """SHA-256 of generated Verilog without the comment that opens it, its top module called `unit`. One circuit has the same
    digest under several names; any other change gives another digest.

    Args:
        top: the top module's name, with which the names of the other modules begin.
    """
    lines = verilog.split("\n")
    first = next((number for number, line in enumerate(lines) if line and not line.startswith("//")), len(lines))
    text = "\n".join(lines[first:])
    return _digest((text if top == TOP else _renamed(text, top)).encode())


def _renamed(text: str, top: str) -> str:
    """The text with `top` renamed to `unit`; unchanged if a name would then denote two things."""

    def is_called(name: str, token: str) -> bool:
        return token == name or token.startswith(f"{name}_")

    if any(is_called(TOP, token) and not is_called(top, token) for token in TOKENS.findall(text)):
        return text
    return TOKENS.sub(lambda found: TOP + found[0][len(top) :] if is_called(top, found[0]) else found[0], text)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
