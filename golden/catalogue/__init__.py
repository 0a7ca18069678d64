"""The catalogue: every instruction of every architecture, read from the tables beside this file.

One TOML file an architecture holds a row for each pattern of names; `load` turns it into `Instruction`s. To see what a part
does, open its table.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from golden.chain import ORDERS, Chain, ConvertedChain, steps_for
from golden.checks import check_choice, unknown
from golden.instruction import EVIDENCE, Instruction
from golden.names import ParsedName, expand, parse_name
from golden.operations import OPERATIONS, TFDPA, Operation
from golden.paired_chain import PairedChain
from golden.unit import Unit

ARCHITECTURES = (
    "sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120", "gfx908", "gfx90a", "gfx942", "x86-amx", "x86-avx512",
    "aarch64",
)  # fmt: skip

PROCESSORS = ("x86-amx", "x86-avx512", "aarch64")
"""Those of processors; the others are GPUs'."""


@cache
def _table(arch: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / f"{arch}.toml").read_text(encoding="utf-8"))


@cache
def _aliases() -> dict[str, str]:
    """Every name of an architecture, its words in lower case joined by one blank, to the architecture."""
    spellings = {}
    for arch in ARCHITECTURES:
        for name in (arch, *_table(arch)["marketing"]):
            spellings[_words(name)] = spellings[_words(name.replace(" ", ""))] = arch
    return spellings


@cache
def _recorded(arch: str) -> frozenset[str]:
    """The instructions of an architecture whose recordings the project keeps; these count over a table's evidence."""
    recorded = tomllib.loads((files(__package__) / "recorded.toml").read_text(encoding="utf-8"))
    return frozenset(recorded.get(arch, ()))


_SPELLING = re.compile(r"[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*")
_WORD = re.compile(r"[a-z]+|[0-9]+[a-z]*")


def _words(name: str) -> str:
    """A name's words, joined by one blank: `sm_90`, `SM90` and `sm-90` are `sm 90`; a blank within a word tells it apart."""
    return " ".join(_WORD.findall(name.lower()))


def marketing_names(arch: str) -> tuple[str, ...]:
    """What the vendor calls an architecture."""
    return tuple(_table(arch)["marketing"])


def architecture(name: str) -> str:
    """The architecture of that name or marketing name, capital or not, its words joined by a blank, `-` or `_`; nothing
    is needed between a letter and a digit.

    Raises:
        ValueError: no such architecture; the message lists them and near spellings.
    """
    spelt = isinstance(name, str) and _SPELLING.fullmatch(name)
    arch = _aliases().get(_words(name)) if spelt else None
    if arch is None:
        known = [spelling for a in ARCHITECTURES for spelling in (a, *marketing_names(a))]
        raise ValueError(unknown("architecture", name, known, shown=len(known)))
    return arch


@cache
def load(arch: str) -> dict[str, Instruction]:
    """All instructions of one architecture, by name, in the order of its table."""
    instructions: dict[str, Instruction] = {}
    for row in _table(arch)["instructions"]:
        for name in expand(row["name"]):
            instructions[name] = _instruction(arch, name, row)
    return instructions


def instruction(arch: str, name: str) -> Instruction:
    """One catalogue entry.

    Args:
        arch: `sm_90`, `gfx942` …, or the marketing name (`Hopper`, `CDNA3` …).
        name: as in numerics.md, sections 7 and 11.

    Raises:
        ValueError: no such architecture or instruction; the message suggests near spellings.
    """
    found = load(architecture(arch))
    if not isinstance(name, str) or name not in found:
        raise ValueError(unknown(f"{architecture(arch)} instruction", name, found))
    return found[name]


def instructions(arch: str | None = None) -> list[Instruction]:
    """Every catalogue entry, of one architecture or of all."""
    archs = ARCHITECTURES if arch is None else (architecture(arch),)
    return [entry for a in archs for entry in load(a).values()]


def representatives() -> list[Instruction]:
    """Every catalogue entry but those that differ from others in K alone and have no unit of their own."""
    return [entry for arch in ARCHITECTURES for entry in load(arch).values() if entry.name not in _without_unit(arch)]


@cache
def _without_unit(arch: str) -> frozenset[str]:
    """The instructions of the rows that say `unit = false`."""
    rows = _table(arch)["instructions"]
    return frozenset(name for row in rows if not row.get("unit", True) for name in expand(row["name"]))


def catalogue_units() -> list[Unit]:
    """Every distinct operation of the catalogue's `representatives`, named after the first instruction that uses it."""
    units: dict[Operation, Unit] = {}
    for entry in representatives():
        units.setdefault(entry.operation, Unit(name=f"{entry.arch} {entry.name}", operation=entry.operation))
    return list(units.values())


def parameter_set(operation: Operation) -> tuple[object, ...]:
    """What distinguishes published operations, beside the formats of a and b."""
    return operation.name, *((key, value) for key, value in operation.parameters().items() if key not in ("a", "b"))


def parameter_set_units() -> list[Unit]:
    """The first of `catalogue_units` of each parameter set."""
    units: dict[tuple[object, ...], Unit] = {}
    for unit in catalogue_units():
        units.setdefault(parameter_set(unit.operation), unit)
    return list(units.values())


def _instruction(arch: str, name: str, row: dict[str, Any]) -> Instruction:
    parts = parse_name(name)
    check_choice("evidence", row["evidence"], EVIDENCE)
    order = row.get("fp16_order")
    operation = steps_for(_operation(row, parts, converted=order is not None), parts.k)
    chain: Chain | ConvertedChain = Chain(operation)
    if order is not None:
        check_choice("fp16_order", order, ORDERS)
        assert isinstance(operation, TFDPA)
        chain = ConvertedChain(operation, parts.a, parts.b, order)
    if row.get("paired"):
        chain = PairedChain(operation)
    return Instruction(
        arch=arch, name=name, m=parts.m, n=parts.n, k=parts.k, a=parts.a, b=parts.b, operation=operation, chain=chain,
        evidence="recorded" if name in _recorded(arch) else row["evidence"], note=row.get("note", ""),
    )  # fmt: skip


def _operation(row: dict[str, Any], parts: ParsedName, converted: bool) -> Operation:
    cls = OPERATIONS[row["operation"]]
    known = cls.unit_keys()
    keys = {key: row[key] for key in known if key in row}
    keys |= {"a": "fp16", "b": "fp16"} if converted else {"a": parts.a, "b": parts.b}
    keys["c"] = parts.c
    if parts.block_size is not None:
        keys["K_block"] = parts.block_size
    if "scale" in known:
        keys["scale"] = parts.scale
    return cls(**keys)
