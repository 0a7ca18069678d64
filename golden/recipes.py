"""Named orders in which libraries and kernels spend K, with the evidence for each (golden/recipes.toml).

>>> from golden.recipes import recipe
>>> recipe("deepgemm.sm90.e4m3").order.promote_every
4
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from golden.checks import check_choice, check_name, unknown
from golden.files import read_toml
from golden.products.gemm_file import order_from_table
from golden.products.gemm_order import GemmOrder

FILE = Path(__file__).with_name("recipes.toml")

EVIDENCE = ("recorded", "agrees with an emulator", "stated by its source", "inferred")
"""Kinds of evidence for a recipe, strongest first. `recorded`: the order reproduces every element that this project recorded
of the library on that GPU."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A named order.

    Attributes:
        name: library, GPU or architecture, formats and kind, joined by dots.
        order: the order of accumulation, its instruction included.
        evidence: one of `EVIDENCE`.
        source: where the order is documented or was measured.
        note: the part that is not known, or empty.
        shapes: (M, N, K) for which the source says that the library uses this order.
    """

    name: str
    order: GemmOrder
    evidence: str
    source: str
    note: str = ""
    shapes: tuple[tuple[int, int, int], ...] = ()

    def __post_init__(self) -> None:
        check_name("name of a recipe", self.name)
        check_choice(f"evidence of {self.name}", self.evidence, EVIDENCE)


@cache
def recipes() -> Mapping[str, Recipe]:
    """Every recipe by its name."""
    table = read_toml(FILE)
    made = (_recipe(dict(entry), table["sources"]) for entry in table["recipe"])
    return MappingProxyType({recipe.name: recipe for recipe in made})


def _recipe(entry: dict[str, Any], sources: Mapping[str, str]) -> Recipe:
    own = {key: entry.pop(key) for key in ("name", "evidence", "note") if key in entry}
    shapes = tuple((M, N, K) for M, N, K in entry.pop("shapes", ()))
    return Recipe(source=sources[entry.pop("source")], shapes=shapes, order=order_from_table(entry, FILE.parent), **own)


def recipe(name: str) -> Recipe:
    """The recipe of that name.

    Raises:
        ValueError: no such recipe; the message has near spellings.
    """
    if name not in recipes():
        raise ValueError(unknown("recipe", name, list(recipes())))
    return recipes()[name]


def recipe_of_shape(library: str, M: int, N: int, K: int) -> Recipe:
    """Return the recipe that a library ("cublas.a100.bf16") uses for a shape.

    Raises:
        ValueError: none is known; the message lists the shapes that are.
    """
    mine = [found for name, found in recipes().items() if name.startswith(f"{library}.")]
    fitting = [found for found in mine if (M, N, K) in found.shapes]
    if not fitting:
        known = ", ".join(f"{m}x{n}x{k}" for found in mine for m, n, k in found.shapes) or "none"
        raise ValueError(f"no recipe of {library} is known for M x N x K = {M}x{N}x{K}; known: {known}")
    return fitting[0]
