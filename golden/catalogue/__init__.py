"""The catalogue: every instruction of every architecture, read from the tables beside this file.

Each architecture has one TOML file with a row for each pattern of names; `load` turns the rows into `Instruction`s.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from golden.arithmetic.formats import FORMATS
from golden.catalogue.parts import Part, find_part, is_spelt, part_names, words
from golden.chains.chain import ORDERS, PAIRED, Chain, steps_for
from golden.checks import check_choice, near, unknown
from golden.operations import OPERATIONS, Operation
from golden.units.instruction import EVIDENCE, Instruction
from golden.units.names import ParsedName, expand, parse_name
from golden.units.unit import Unit

ARCHITECTURES = (
    "sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120", "gfx908", "gfx90a", "gfx942", "gfx950",
    "gfx1100", "gfx1151", "gfx1201", "x86-amx", "x86-avx512", "aarch64", "armv9-sme",
    "riscv-zvbdota",
)  # fmt: skip

PROCESSORS = ("x86-amx", "x86-avx512", "aarch64", "armv9-sme", "riscv-zvbdota")
"""Architectures of processors; all other architectures of the catalogue are GPUs."""

SHOWN = 8
"""Number of instructions that a message lists."""


@cache
def _table(arch: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / f"{arch}.toml").read_text(encoding="utf-8"))


@cache
def _aliases() -> dict[str, str]:
    """Every spelling of an architecture's names (words in lower case, joined by one blank), mapped to the architecture."""
    spellings = {}
    for arch in ARCHITECTURES:
        for name in (arch, *_table(arch)["marketing"]):
            spellings[words(name)] = spellings[words(name.replace(" ", ""))] = arch
    return spellings


@cache
def _recorded(arch: str) -> dict[str, str]:
    """Name to evidence, for the instructions of an architecture whose models reproduce recorded rows of silicon."""
    recorded = tomllib.loads((files(__package__) / "recorded.toml").read_text(encoding="utf-8"))
    return {name: key for key in reversed(EVIDENCE) for name in recorded.get(key, {}).get(arch, ())}


@cache
def table_evidence(arch: str) -> dict[str, str]:
    """Name to evidence as the table of an architecture states it. `Instruction.evidence` is stronger where rows of silicon
    are recorded."""
    rows = _table(arch)["instructions"] + _table(arch).get("sparse", [])
    return {name: row["evidence"] for row in rows for name in expand(row["name"])}


def marketing_names(arch: str) -> tuple[str, ...]:
    """The vendor's names of an architecture."""
    return tuple(_table(arch)["marketing"])


def architecture(name: str) -> str:
    """The architecture of a name, a marketing name or a part, such as `sm_90` for "SM90", "Hopper" or "H100".

    Case does not matter. Words are joined by a blank, `-` or `_`, which may be omitted between a letter and a digit.

    Raises:
        ValueError: an unknown architecture; the message lists them and near spellings.
    """
    arch = _aliases().get(words(name)) if is_spelt(name) else None
    found = find_part(name) if arch is None else None
    if found is not None:
        arch = found.arch
    if arch is None:
        known = [spelling for a in ARCHITECTURES for spelling in (a, *marketing_names(a))]
        hint = near(name, list(dict.fromkeys((*known, *part_names()))))
        raise ValueError(f"architecture must be one of {', '.join(known)}; got {name!r}{hint}")
    return arch


def part(name: str) -> Part:
    """The part that a name means, such as "H100" or "sm_86": its target, the architecture whose arithmetic it is read as,
    and what that rests on.

    Raises:
        ValueError: an unknown name; the message has near spellings.
    """
    found = find_part(name)
    if found is None:
        found = Part(name, *[_architecture_or_refusal(name)] * 2)
    return found


def _architecture_or_refusal(name: Any) -> str:
    """The architecture of a name that is no part's.

    Raises:
        ValueError: an unknown name.
    """
    try:
        return architecture(name)
    except ValueError as error:
        raise ValueError(
            f"part must be an architecture or a part such as H100, A100 or MI300X; got {name!r}{near(name, part_names())}"
        ) from error


@cache
def load(arch: str) -> dict[str, Instruction]:
    """The dense instructions of one architecture, by name, in the order of its table."""
    return _entries(arch, "instructions")


@cache
def _sparse(arch: str) -> dict[str, Instruction]:
    """The sparse instructions of one architecture, by name, in the order of its table."""
    return _entries(arch, "sparse")


def _entries(arch: str, key: str) -> dict[str, Instruction]:
    rows = _table(arch).get(key, [])
    return {name: _instruction(arch, name, row) for row in rows for name in expand(row["name"])}


def instruction(arch: str, name: str) -> Instruction:
    """Return one entry of the catalogue.

    Args:
        arch: `sm_90`, `gfx942` …, or the marketing name (`Hopper`, `CDNA3` …).
        name: as in numerics.md, sections 7 and 11; also a `wmma` of CUDA, such as wmma.m16n16k16.f32.f16.f16.f32, which
            `instructions` does not list; and a sparse instruction, such as mma.sp.m16n8k32.f32.f16.f16.f32
            (`sparse_instructions`). Full names of PTX, names of SASS, builtins of compilers and names of libraries' kernels
            are taken where they mean one instruction (golden/catalogue/names_meant.py).

    Raises:
        ValueError: an unknown architecture or instruction; the message suggests near spellings, or says what is known of an
            instruction that the catalogue leaves out.
    """
    arch = architecture(arch)
    found, sparse = load(arch), _sparse(arch)
    if name in found or name in sparse:
        return found.get(name) or sparse[name]
    if not isinstance(name, str):
        raise ValueError(unknown(f"{arch} instruction", name, found))
    from golden.catalogue.names_meant import as_assembly, meant_by  # the catalogue's own names do without
    from golden.catalogue.spellings import made_of, unrecorded, wmma

    chains = made_of(arch)
    meant, hint = ([name], "") if name in chains else meant_by(name, [*found, *sparse, *chains])
    if len(meant) == 1:
        return wmma(arch, meant[0], found) if meant[0] in chains else found.get(meant[0]) or sparse[meant[0]]
    hint = hint and f"; {hint}"
    if meant:
        listed = ", ".join(meant[:SHOWN]) + (f" and {len(meant) - SHOWN} more" if len(meant) > SHOWN else "")
        raise ValueError(f"{name!r} can be several instructions of {arch}: {listed}; name one{hint}")
    if name.startswith("wmma."):
        return wmma(arch, name, found)
    known = unrecorded(arch, as_assembly(name) if "amdgcn" in name else name)
    raise ValueError(known or unknown(f"{arch} instruction", name, sparse if sparse and ".sp." in name else found) + hint)


def instructions(
    arch: str | None = None, *, part: str | None = None, a: str | None = None, b: str | None = None, c: str | None = None,
    d: str | None = None, operation: str | None = None, used_by: str | None = None,
) -> list[Instruction]:  # fmt: skip
    """All dense entries of the catalogue, of one architecture or of all, and of those what the other arguments name.

    Args:
        arch: an architecture. part: the same, by the name of a part.
        a, b, c, d: names of the formats. operation: name of the operation.
        used_by: a library, whose recorded or stated orders name the instruction ("cublas", "triton").

    Raises:
        ValueError: an unknown architecture, format or operation; the message suggests near spellings.
    """
    if arch is not None and part is not None:
        raise ValueError(f"give arch or part, not both; got {arch!r} and {part!r}")
    chosen = arch if part is None else part
    archs = ARCHITECTURES if chosen is None else (architecture(chosen),)
    entries = [entry for one in archs for entry in load(one).values()]
    for key, wanted in {"a": a, "b": b, "c": c, "d": d}.items():
        if wanted is not None:
            check_choice(key, wanted, FORMATS)
            entries = [entry for entry in entries if getattr(entry, key).name == wanted]
    if operation is not None:
        check_choice("operation", operation, OPERATIONS)
        entries = [entry for entry in entries if entry.operation.name == operation]
    if used_by is not None:
        entries = [entry for entry in entries if f"{entry.arch}:{entry.name}" in _used_by(used_by)]
    return entries


@cache
def _used_by(library: str) -> frozenset[str]:
    """The instructions, as ARCH:NAME, that the orders of a library name (golden/recipes.toml).

    Raises:
        ValueError: no order of it is known; the message lists the libraries.
    """
    table = tomllib.loads((files("golden") / "recipes.toml").read_text(encoding="utf-8"))["recipe"]
    check_choice("used_by", library, sorted({row["name"].partition(".")[0] for row in table}))
    return frozenset(row["instruction"] for row in table if row["name"].startswith(f"{library}.") and "instruction" in row)


def sparse_instructions(arch: str | None = None) -> list[Instruction]:
    """All sparse entries of the catalogue, of one architecture or of all.

    They are apart from the dense ones because they have no unit of their own: each computes what a dense instruction does,
    on the products that its metadata select.

    Raises:
        ValueError: an unknown architecture; the message suggests near spellings.
    """
    archs = ARCHITECTURES if arch is None else (architecture(arch),)
    return [entry for a in archs for entry in _sparse(a).values()]


def representatives() -> list[Instruction]:
    """All entries of the catalogue except those that differ from another entry in K only."""
    return [entry for arch in ARCHITECTURES for entry in load(arch).values() if entry.name not in _without_unit(arch)]


@cache
def _without_unit(arch: str) -> frozenset[str]:
    """The instructions of the rows with `unit = false`."""
    rows = _table(arch)["instructions"]
    return frozenset(name for row in rows if not row.get("unit", True) for name in expand(row["name"]))


def catalogue_units() -> list[Unit]:
    """Every distinct operation of the catalogue's `representatives`, named after the first instruction that uses it."""
    units: dict[Operation, Unit] = {}
    for entry in representatives():
        units.setdefault(entry.operation, Unit(name=f"{entry.arch} {entry.name}", operation=entry.operation))
    return list(units.values())


def parameter_set(operation: Operation) -> tuple[object, ...]:
    """The operation's name and parameters, without the formats of a and b."""
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
    keys = {key: row[key] for key in ("order", "add_c", "addition", "subtract") if key in row}
    chain = Chain(operation, **keys | ({"order": PAIRED} if row.get("paired") else {}))
    if order is not None:
        check_choice("fp16_order", order, ORDERS)
        chain = Chain.nvidia(operation, parts.a, parts.b, order)
    return Instruction(
        arch=arch, name=name, m=parts.m, n=parts.n, k=parts.k, a=parts.a, b=parts.b, operation=operation, chain=chain,
        evidence=_strongest(row["evidence"], _recorded(arch).get(name)), note=row.get("note", ""),
        sparse=parts.sparse,
    )  # fmt: skip


def _strongest(*evidence: str | None) -> str:
    """The strongest of several kinds of evidence; a None is ignored."""
    return next(key for key in EVIDENCE if key in evidence)


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
