"""Orders of accumulation in files: gemm.toml holds one of a user, `golden/recipes.toml` the named ones of libraries and
kernels, each with its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from golden.catalogue import architecture
from golden.catalogue import instruction as find_instruction
from golden.catalogue import instructions as catalogue_instructions
from golden.checks import check_choice, check_name, unknown
from golden.files import read_toml
from golden.products.gemm_order import GemmOrder
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from golden.units.unit_file import load_unit

KEYS = ("instruction", "unit", *(field.name for field in fields(GemmOrder) if field.name != "model"))
"""The keys of a gemm.toml."""


def load_order(path: str | Path) -> GemmOrder:
    """Read a gemm.toml: the order of accumulation of a whole matrix product.

    Its keys are the attributes of `GemmOrder` without `model`, and at most one of `instruction` ("ARCH:NAME" of the
    catalogue) and `unit` (the path of a unit file, relative to this file).

    Raises:
        ValueError: not TOML, or a key that is unknown or out of range; the message names key, rule and value.
        OSError: the file, or that of the unit, cannot be read.
    """
    table = read_toml(path)
    try:
        return order_from_table(table, Path(path).parent)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def order_from_table(table: dict[str, Any], folder: Path) -> GemmOrder:
    """The order that a parsed TOML table describes.

    Args:
        folder: the folder that the path of a unit's file is relative to.

    Raises:
        ValueError, TypeError, OSError: as `load_order`, without the path.
    """
    for key in table:
        if key not in KEYS:
            raise ValueError(unknown("key", key, KEYS, shown=len(KEYS)))
    keys = dict(table)
    name, unit = keys.pop("instruction", None), keys.pop("unit", None)
    if name is not None and unit is not None:
        raise ValueError(f"give instruction or unit, not both; got instruction = {name!r}, unit = {unit!r}")
    model: Instruction | Unit | None = None
    if name is not None:
        model = _named(name)
    if unit is not None:
        if not isinstance(unit, str) or not unit:
            raise ValueError(f"unit must be the path of a unit's file, got {unit!r}")
        model = load_unit(folder / unit)
    return GemmOrder(model=model, **keys)


def _named(name: Any) -> Instruction:
    arch, colon, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not colon:
        raise ValueError(
            f'instruction must be "ARCH:NAME", as "sm_90:wgmma.m64n128k32.f32.e4m3.e4m3"; got {name!r}'
        )  # fmt: skip
    return find_instruction(arch, rest)


FILE = Path(__file__).parents[1] / "recipes.toml"

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

    @property
    def takes(self) -> list[str]:
        """The formats of A and B."""
        model = self.order.model
        if self.order.converts or model is None:
            return ["fp32", "fp32"]
        return [model.a.name, model.b.name]

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


FORMATS_OF_DTYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz", "float4_e2m1fn": "e2m1",
    "float4_e2m1fn_x2": "e2m1", "int8": "int8",
}  # fmt: skip
"""The format of each dtype that says one."""


def order_of_library(part: str | None, library: str | None, A: Any, B: Any) -> GemmOrder:
    """The order, with its instruction, in which a library on a part multiplies two matrices, where one recorded recipe
    says it.

    Raises:
        ValueError: no recipe says it, or several; the message lists the candidates.
    """
    if part is None:
        raise ValueError("part is missing: used_by names a library on a part, as part='H100'")
    arch = architecture(part)
    if any(len(getattr(x, "shape", ())) < 2 for x in (A, B)):
        got = " and ".join(str(tuple(x.shape)) if hasattr(x, "shape") else type(x).__name__ for x in (A, B))
        raise TypeError(f"A and B must be arrays or tensors, [M, K] and [K, N], whose dtype says the format; got {got}")
    dtypes = [str(getattr(x, "dtype", type(x).__name__)).removeprefix("torch.") for x in (A, B)]
    formats = [FORMATS_OF_DTYPES.get(dtype, dtype) for dtype in dtypes]
    M, K, N = A.shape[-2], A.shape[-1] * (2 if dtypes[0].endswith("_x2") else 1), B.shape[-1]
    named = [
        found
        for name, found in recipes().items()
        if isinstance(found.order.model, Instruction)
        and found.order.model.arch == arch
        and (library is None or name.startswith(f"{library}."))
    ]
    fitting = [found for found in named if found.evidence == "recorded" and found.takes == formats]
    of_shape = [found for found in fitting if (M, N, K) in found.shapes] or [found for found in fitting if not found.shapes]
    if len(of_shape) != 1:
        operands = [(entry.a.name, entry.b.name, entry.name) for entry in catalogue_instructions(arch)]
        instructions = [name for a, b, name in operands if [a, b] == formats][:3]
        rounded = [name for a, b, name in operands if formats == ["fp32", "fp32"] and a == b == "tf32"][:3]
        near = fitting or [found for found in named if found.takes == formats]
        candidates = [f"order=golden.recipes.recipe({found.name!r}).order" for found in near]
        candidates += [f"instruction=golden.instruction({arch!r}, {name!r})" for name in instructions]
        candidates += [
            f"instruction=golden.instruction({arch!r}, {name!r}) with order=golden.GemmOrder(convert='rne', 'rna' or 'rz')"
            for name in rounded
        ]
        what = "several recorded orders are" if of_shape else "no recorded order is"
        raise ValueError(
            f"{what} known of {library or 'a library'} on {part} for {' by '.join(formats)} and M x N x K = "
            f"{M}x{N}x{K}; give in their place one of: {', '.join(candidates) or 'an instruction of golden.instructions'}"
        )
    return of_shape[0].order


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
