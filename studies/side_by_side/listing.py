"""The designs that are compared: `designs.toml` has groups of designs that compute one function, published ones and ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from golden import Unit
from golden.checks import listed, unknown
from golden.files import read_toml
from golden.unit_file import unit_from_table

TABLE = Path(__file__).with_name("designs.toml")

FIGURES = {
    "cells": "cells",
    "depth": "depth",
    "area_um2": "area (µm²)",
    "delay_ns": "delay (ns)",
    "power_mw": "power (mW)",
}
"""The figures of a design, and the headings of their columns."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """A published design.

    Attributes:
        key: of its row, and of its description's folder. name: on the page.
        sources: repository and commit of everything that is read for it.
        digest: of the files that are read from there (`studies.side_by_side.sources.digest_of`).
        note: what the row is of.
    """

    key: str
    name: str
    sources: tuple[str, ...]
    digest: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """The designs that compute one function.

    Attributes:
        name: on the page.
        builds: our units, by what they are called on the page; the first is the default.
        published: those of others.
        why: for a figure at which ours lose, the cause.
    """

    name: str
    builds: Mapping[str, Unit]
    published: tuple[Published, ...]
    why: Mapping[str, str]

    @property
    def unit(self) -> Unit:
        """The function: every design of the group is held to it."""
        return next(iter(self.builds.values()))

    def row_of(self, build: str) -> str:
        """The key of the row of one of our units."""
        return f"{self.unit.name} | {build}"


@dataclass(frozen=True)
class Listing:
    """All of the table.

    Attributes:
        groups: in the order of the page. absent: published designs that cannot be measured, and why.
    """

    groups: tuple[Group, ...]
    absent: Mapping[str, str]


def listing(path: Path = TABLE) -> Listing:
    """The contents of a table.

    Raises:
        ValueError: it is not such a table; the message names the file.
    """
    try:
        table = read_toml(path)
        found = tuple(_group(each) for each in table["group"])
        absent = {each["name"]: each["reason"] for each in table.get("absent", ())}
        keys = [each.key for group in found for each in group.published]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise ValueError(f"each published design must have a key of its own, got {listed(twice)} twice")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    return Listing(found, absent)


def _group(table: Mapping[str, Any]) -> Group:
    builds = {
        name: unit_from_table({**table["unit"], "implementation": dict(keys)} if keys else dict(table["unit"]))
        for name, keys in table["builds"].items()
    }
    why = dict(table.get("why", {}))
    for figure in why:
        if figure not in FIGURES:
            raise ValueError(unknown("a key of `why`", figure, FIGURES))
    published = tuple(Published(**{**each, "sources": tuple(each["sources"])}) for each in table["published"])
    return Group(name=table["name"], builds=builds, published=published, why=why)
