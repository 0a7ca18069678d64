"""CUDA's `wmma`, which is no machine instruction: each is modelled as the chain of instructions that the compiler makes of
it (wmma.toml)."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from golden.chains.chain import Chain
from golden.checks import unknown
from golden.units.instruction import Instruction
from golden.units.names import expand, parse_name

_MIXED = re.compile(r"wmma\.m\d+n\d+k16\.(f32\.f16\.f16\.f16|f16\.f16\.f16\.f32)")


@cache
def made_of(arch: str) -> dict[str, str]:
    """Name of each `wmma` of an architecture, mapped to the instruction whose steps the compiler makes of it."""
    table: dict[str, list[dict[str, Any]]] = tomllib.loads((files(__package__) / "wmma.toml").read_text(encoding="utf-8"))
    rows = [row for row in table["chains"] if arch in row["arch"]]
    return {name: row["of"] for row in rows for name in expand(row["name"])}


def wmma(arch: str, name: str, entries: Mapping[str, Instruction]) -> Instruction:
    """Return the model of a `wmma`: the chain of instructions that the compiler makes of it.

    Args:
        arch: architecture, such as sm_80.
        name: such as wmma.m16n16k16.f32.f16.f16.f32.
        entries: the instructions of the architecture, by name.

    Returns:
        An instruction with the evidence of the entry whose steps it is made of; its note names that entry.

    Raises:
        ValueError: no such `wmma`; the message suggests near spellings, or says what the compiler makes of it.
    """
    names = made_of(arch)
    if name not in names:
        if names and _MIXED.fullmatch(name):
            of = re.sub(r"k16\..*", "k16.f32.f16.f16.f32", name)
            side = "C to fp32 before" if name.endswith(".f32.f16.f16.f16") else "D to fp16, to nearest, after"
            raise ValueError(f"{arch} instruction {name!r} is no chain: the compiler makes it {of} and converts {side}")
        raise ValueError(unknown(f"{arch} instruction", name, [*names, *entries]))
    entry, parts = entries[names[name]], parse_name(name)
    steps = parts.k // entry.operation.length
    chained = f"{steps} steps, by k, of {entry.name}" if steps > 1 else f"one step of {entry.name}"
    note = f"the compiler makes of it {chained}"
    return Instruction(
        arch=arch, name=name, m=parts.m, n=parts.n, k=parts.k, a=parts.a, b=parts.b, operation=entry.operation,
        chain=Chain(entry.operation), evidence=entry.evidence, note="; ".join(filter(None, (note, entry.note))),
    )  # fmt: skip
