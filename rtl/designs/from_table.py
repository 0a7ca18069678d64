"""Designs made from the tables of `Design.as_table`, the form in which they travel into the simulator."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import golden
from golden import Implementation, Unit
from golden.units.unit_file import unit_from_table
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign


def design_from_table(table: Mapping[str, Any]) -> Design:
    """The design that `Design.as_table` described."""
    if "unit" in table:
        return UnitDesign(_unit(table["unit"]))
    if "formats" in table:
        return MultiFormatDesign(tuple(map(_unit, table["formats"])))
    arch, name, m, n = (table["tile"][key] for key in ("arch", "name", "m", "n"))
    return TileDesign(replace(golden.instruction(arch, name), m=m, n=n), Implementation(**table["implementation"]))


def _unit(text: str) -> Unit:
    return unit_from_table(tomllib.loads(text))
