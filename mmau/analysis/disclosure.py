"""What RISC-V's draft of an integrated matrix extension obliges an implementer to publish of floating-point arithmetic: for
each (lambda, SEW, W) the grouping G, how a partial sum is formed (psm) and how it is rounded (rnd).

Source: riscv/riscv-isa-manual 0bd7e54b, src/unpriv/integrated-matrix.adoc, "Accumulation and rounding model".
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from golden.arithmetic.conversion import rounding_to
from golden.arithmetic.formats import UE8M0
from golden.arithmetic.rounding import Mode
from golden.chains.chain import ChainTable
from golden.chains.sum_chain import node_of
from golden.files import read_toml
from golden.operations import EFDPA, FMA
from golden.operations.blocks import SCALES
from golden.units.unit import Unit
from golden.units.unit_file import load_unit, unit_to_toml

SOURCE = "riscv/riscv-isa-manual 0bd7e54b, src/unpriv/integrated-matrix.adoc"

FRM: dict[Mode, str] = {"RNE": "rne", "RZ": "rtz", "RD": "rdn", "RU": "rup", "RNA": "rmm"}
"""RISC-V's names of the rounding modes."""

LAMBDAS = (1, 2, 4, 8, 16, 32, 64)

WIDENINGS = (1, 2, 4, 8)

INPUTS, RESULTS = ("e2m1", "e4m3", "e5m2", "fp16", "bf16", "fp32", "fp64"), ("e4m3", "e5m2", "fp16", "bf16", "fp32", "fp64")
"""The formats of the draft: of A and B, and of C."""

BLOCKS = (16, 32)
"""Elements of a block, which share an E8M0 scale."""

FILE = "disclosure.toml"

Key = tuple[int, int, int]
"""lambda, SEW (bits), W."""


@dataclass(frozen=True)
class Reduction:
    """How a unit computes one group of products, in the draft's terms.

    Attributes:
        products: products of a group, G · W.
        psm: 0, the sum S of the products is exact; 1, it is formed by an algorithm that must be published.
        rnd: `xct`, S is added to C as it is; `frm`, `rto`, it is rounded to C's format first, as the result is, or to odd.
        mode: the rounding mode of the result, a key of `FRM`.
    """

    products: int
    psm: int
    rnd: str
    mode: Mode


def reduction_of(unit: Unit) -> Reduction:
    """The reduction of a unit: E-FDPA or FMA, which add exact products to c, or a table [sums] in whose groups products are
    added before c.

    Raises:
        ValueError: the draft has no such arithmetic.
    """
    o = unit.operation
    for key, allowed in (("a", INPUTS), ("b", INPUTS), ("c", RESULTS)):
        if key in o.operands and getattr(o, key).name not in allowed:
            names = ", ".join(allowed)
            raise ValueError(f"{unit.name}: {key} must be a format of the draft, {names}; got {getattr(o, key)}")
    if o.c != o.d:
        raise ValueError(f"{unit.name}: d must be of c's format, got {o.d} and {o.c}")
    adds_exactly = unit.sums is not None or isinstance(o, EFDPA | FMA)
    if not adds_exactly or unit.chain != ChainTable() or unit.random is not None:
        raise ValueError(
            f"{unit.name}: the draft rounds the sum of c and a finished partial sum; give operation E-FDPA or FMA, or a "
            f'table [sums] with group and c = "first", without [chain] and random bits; got {o.name}'
        )
    if o.scale_format is not None:
        _check_scales(unit)
    if unit.sums is None:
        assert isinstance(o, EFDPA | FMA)
        wrong = [key for key in ("flush_inputs", "flush_results") if getattr(o, key)]
        wrong += ["overflow"] * (o.overflow != "by-mode") + ["zero"] * (getattr(o, "zero", "ieee") != "ieee")
        if wrong:
            raise ValueError(
                f"{unit.name}: {wrong[0]} = {getattr(o, wrong[0])!r} is not of the draft, whose last addition is that of "
                'IEEE 754: overflow = "by-mode", zero = "ieee" (of E-FDPA), and no flush'
            )
        return Reduction(o.length, 0, "xct", _frm(unit, o.conversion.mode))
    table = unit.sums
    if not table.group or table.c != "first":
        raise ValueError(f'{unit.name}: [sums] must have group, the products of a group, and c = "first"')
    node, outer = node_of(table.node), node_of(table.outer)
    if outer.format != o.d:
        raise ValueError(f"{unit.name}: [sums] outer must round to d's format {o.d}, got {table.outer}")
    mode = _frm(unit, outer.mode)
    if table.scaled is not None and node_of(table.scaled) != outer:
        raise ValueError(
            f"{unit.name}: [sums] scaled must be outer, {table.outer}: the draft multiplies scales in C's format by frm; "
            f"got {table.scaled}"
        )
    rounds = node.format == o.d and node.mode in (mode, "RO")
    psm = int((table.tree, table.product, table.F) != ("exact", "exact", None) or not rounds)
    return Reduction(table.group, psm, "xct" if not rounds else "rto" if node.mode == "RO" else "frm", mode)


def _check_scales(unit: Unit) -> None:
    """Raise ValueError unless scales are those of the draft's microscaled sums."""
    o = unit.operation
    W = o.c.width // o.a.width
    if unit.sums is None or (o.scale_format, o.scale_operands) != (UE8M0, SCALES["both"]) or o.block_size not in BLOCKS:
        raise ValueError(
            f"{unit.name}: scales of the draft are of ue8m0, of both sides, for {BLOCKS[0]} or {BLOCKS[1]} elements, and "
            f"multiply sums that are rounded, as [sums] scaled says; got {o.scale_format} for {o.block_size} of "
            f"{' and '.join(o.scale_operands)}{' without [sums]' if unit.sums is None else ''}"
        )
    if W == 1:
        raise ValueError(f"{unit.name}: microscaled sums of the draft have W from 2 on, got a in {o.a} and c in {o.c}")


def _frm(unit: Unit, mode: Mode) -> Mode:
    if mode not in FRM:
        raise ValueError(f"{unit.name}: the last rounding must be one of {', '.join(FRM)}, got {mode}")
    return mode


def in_mode(unit: Unit, mode: Mode) -> Unit:
    """The unit under another rounding mode frm: that of the result, and that of partial sums where rnd is `frm`."""
    found = reduction_of(unit)
    if unit.sums is None:
        return replace(unit, operation=unit.operation.changed(rho=rounding_to(mode, unit.operation.d)))
    keys = ["outer", *["node"] * (found.rnd == "frm"), *["scaled"] * (unit.sums.scaled is not None)]
    moved = {key: mode + "-" + getattr(unit.sums, key).partition("-")[2] for key in keys}
    return replace(unit, sums=replace(unit.sums, **moved))


def digest(unit: Unit) -> str:
    """SHA-256 of the file of a unit's arithmetic, in RNE, without its name and the options of its circuit."""
    plain = in_mode(unit, "RNE")
    alone = Unit(name="unit", operation=plain.operation, sums=plain.sums)
    return sha256(unit_to_toml(alone).encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """A row of the table, and the units that have its arithmetic."""

    G: int
    psm: int
    rnd: str
    units: tuple[Unit, ...]


def table_of(units: Sequence[Unit], lambdas: Sequence[int]) -> dict[Key, Entry]:
    """The entries of units under those lambda, all that hold a group.

    Raises:
        ValueError: a unit is not of the draft, no lambda holds its group, or two units of a geometry disagree.
    """
    found: dict[Key, Entry] = {}
    for unit in units:
        r, o = reduction_of(unit), unit.operation
        SEW = o.c.width
        W = SEW // o.a.width
        if o.a.width != o.b.width or SEW % o.a.width or W not in WIDENINGS:
            raise ValueError(
                f"{unit.name}: a and b must be of c's width, or a half, a quarter or an eighth of it; "
                f"got {o.a}, {o.b}, {o.c}"
            )
        G = r.products // W
        if r.products % W or G & G - 1:
            raise ValueError(f"{unit.name}: a group must be a power of two times W = {W} products, got {r.products}")
        if not any(size >= G for size in lambdas):
            raise ValueError(f"{unit.name}: G = {G} is beyond every lambda; got {', '.join(map(str, lambdas))}")
        for size in (size for size in lambdas if size >= G):
            same = found.setdefault((size, SEW, W), Entry(G, r.psm, r.rnd, ()))
            if (same.G, same.psm, same.rnd) != (G, r.psm, r.rnd):
                raise ValueError(
                    f"one (G, psm, rnd) holds for all formats of a geometry: {unit.name} has ({G}, {r.psm}, {r.rnd}) for "
                    f"lambda = {size}, SEW = {SEW}, W = {W}, and {same.units[0].name} ({same.G}, {same.psm}, {same.rnd})"
                )
            found[size, SEW, W] = replace(same, units=(*same.units, unit))
    return dict(sorted(found.items()))


def algorithm(unit: Unit) -> dict[str, Any]:
    """The parameters of a reduction with psm = 1: the table [sums] (docs/numerics.md, section 13)."""
    found: dict[str, Any] = tomllib.loads(unit_to_toml(unit))["sums"]
    return found


def text_of(table: Mapping[Key, Entry]) -> str:
    """The table as text, for people."""
    lines = ["| lambda | SEW | W | G | psm | rnd | units |", "| ---: | ---: | ---: | ---: | ---: | --- | --- |"]
    for (size, SEW, W), entry in table.items():
        names = ", ".join(unit.name for unit in entry.units)
        lines.append(f"| {size} | {SEW} | {W} | {entry.G} | {entry.psm} | {entry.rnd} | {names} |")
    for unit in {unit.name: unit for entry in table.values() if entry.psm for unit in entry.units}.values():
        keys = ", ".join(f"{key} = {value}" for key, value in algorithm(unit).items())
        lines.append(
            f"\n{unit.name}, psm = 1: the reduction is `[sums]` of MMAU (docs/numerics.md, section 13) with {keys}."
        )
    return "\n".join(lines) + "\n"


def toml_of(table: Mapping[Key, Entry], vectors: Mapping[str, Mapping[str, str]], made_by: str) -> str:
    """The disclosure as a file for programs; units lie beside it.

    Args:
        vectors: of each unit the SHA-256 of its files of vectors, by their names.
    """
    lines = [f'draft = "{SOURCE}"', f'made_by = "{made_by}"']
    for (size, SEW, W), entry in table.items():
        names = ", ".join(f'"{unit.name}"' for unit in entry.units)
        lines += ["", "[[entry]]", f"lambda = {size}", f"SEW = {SEW}", f"W = {W}", f"G = {entry.G}", f"psm = {entry.psm}"]
        lines += [f'rnd = "{entry.rnd}"', f"units = [{names}]"]
    for unit in {unit.name: unit for entry in table.values() for unit in entry.units}.values():
        lines += ["", f'[unit."{unit.name}"]', f'arithmetic = "{digest(unit)}"']
        lines += [f'vectors."{file}" = "{found}"' for file, found in vectors[unit.name].items()]
    return "\n".join(lines) + "\n"


def disclosed(path: Path) -> dict[Key, Entry]:
    """The table of a file that `toml_of` made, with the units beside it.

    Raises:
        ValueError: the file is no disclosure, or a unit is not the one that it names.
    """
    found = read_toml(path)
    try:
        units = {name: load_unit(path.with_name(f"{name}.toml")) for name in found["unit"]}
        changed = [name for name, unit in units.items() if digest(unit) != found["unit"][name]["arithmetic"]]
        rows = {(row["lambda"], row["SEW"], row["W"]): row for row in found["entry"]}
        named = {
            key: Entry(row["G"], row["psm"], row["rnd"], tuple(units[name] for name in row["units"]))
            for key, row in rows.items()
        }
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} must be a disclosure, as `mmau disclose` writes it; it lacks {error}") from None
    if changed:
        raise ValueError(f"{changed[0]}.toml beside {path} is not the unit of that disclosure: write the disclosure again")
    for key, entry in named.items():
        made = table_of(entry.units, [key[0]]).get(key)
        if made != entry:
            raise ValueError(
                f"the units of lambda = {key[0]}, SEW = {key[1]}, W = {key[2]} in {path} do not have that row's G, psm, rnd"
            )
    return named


def is_disclosure(word: str | None) -> bool:
    """Whether the word is the path of a disclosure."""
    return word is not None and Path(word).name == FILE
