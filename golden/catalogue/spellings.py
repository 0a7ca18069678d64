"""Names that stand for no entry of the catalogue.

CUDA's `wmma`, which is no machine instruction, is modelled as the chain of instructions that the compiler makes of it
(wmma.toml). Instructions that the catalogue leaves out each have a sentence: what is known and what is not (numerics.md,
section 7).
"""

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

_RDNA3, _RDNA4 = ("gfx1100", "gfx1151"), ("gfx1201",)

_DENSE = r"(?:(?:f32|f16)_16x16x16_f16|(?:f32|bf16)_16x16x16_bf16|i32_16x16x(?:16|32)_iu[48])"
"""Pattern of the result format, shape and factor format of those WMMA instructions that have a model."""

_RULES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((*_RDNA3, *_RDNA4), r"v_dot2_\w+_w\d+", "has no size of a wave in its name: each lane has its own dot product"),
    (
        (*_RDNA3, *_RDNA4), r"v_(?:dual_)?dot2acc_f32_(f16|bf16)",
        r"is in the catalogue as 'v_dot2_f32_\1', which computes the same",
    ),
    (("gfx950",), r"v_(?:mfma|smfmac)_f32_\d+x\d+x\d+_xf32", "does not exist: xf32 is gfx942's"),
    (
        ("gfx950",), r"v_s?mfma\w*(?:fp8|bf8|f8f6f4)\w*|v_smfmac_\w+",
        "is not in the catalogue: nobody has published rows of its sparse instructions, nor of its FP8, FP6 and FP4, "
        "which are OCP's",
    ),
    (
        _RDNA3, r"v_(?:wmma|dot4|swmmac)_f32_\w*(?:fp8|bf8)\w*",
        "does not exist: RDNA3 has no FP8 instruction; RDNA4 has, but their rounding is unrecorded",
    ),
    (_RDNA3, r"v_swmmac_\w+(?:\..*)?", "does not exist: RDNA3 has no sparse instruction"),
    (
        _RDNA4, r"v_wmma_f32_16x16x16_\w*(?:fp8|bf8)\w*",
        "is not in the catalogue: recordings hold small exact integers alone, so that its groups, its order and its "
        "rounding are unknown",
    ),
    (
        _RDNA4, r"v_dot4_f32_\w+",
        "is not in the catalogue: nobody has published rows; others state PS-FDPA with L = P = 4, which a unit can have",
    ),
    (
        _RDNA4, r"v_swmmac_(?:f32|f16|bf16)_\w+",
        "is not in the catalogue: recordings of its sparse products hold small exact integers alone, so that its steps "
        "and its rounding are unknown",
    ),
    (
        _RDNA4, r"v_swmmac_i32_16x16x\d+_iu([48])_w(?:32|64)\.[su]\1\.[su]\1\.clamp",
        "is not in the catalogue: where it saturates is unrecorded; without CLAMP sums wrap",
    ),
    (
        _RDNA4, r"v_swmmac_i32_16x16x\d+_iu([48])(?:_w(?:32|64))?",
        r"must name the size of the wave and the signs of A and B, such as _w32.s\1.u\1",
    ),
    (
        _RDNA3, r"v_wmma_i32_16x16x16_iu4\w*(?:\..*)?",
        "is not in the catalogue: iu4 is unrecorded on RDNA3; iu8 has exact sums, and so has iu4 on gfx1201",
    ),
    (
        (*_RDNA3, *_RDNA4), r"v_wmma_(?:f32|f16|bf16)_\w+\.clamp",
        "does not exist: floating-point WMMA has no CLAMP, a bit that recorded 16-bit results ignore",
    ),
    (
        (*_RDNA3, *_RDNA4), rf"v_wmma_{_DENSE}(?!_w(?:32|64)\b)(?:_w\w*)?(?:\.[su][48]\.[su][48](?:\.clamp)?)?",
        "must name the size of the wave, _w32 or _w64, which decides the order of the products on gfx1201",
    ),
    (
        (*_RDNA3, *_RDNA4), r"v_wmma_i32_16x16x\d+_iu([48])_w(?:32|64)\.[su]\1\.[su]\1\.clamp",
        "is not in the catalogue: with CLAMP only wave32 of gfx1201 is recorded, which saturates twice; without CLAMP "
        "sums wrap",
    ),
    (
        (*_RDNA3, *_RDNA4), r"v_wmma_i32_16x16x\d+_iu([48])_w(?:32|64)(?:\.clamp)?",
        r"must name the signs of A and B after the wave, such as .s\1.u\1",
    ),
)  # fmt: skip
"""Rules (architectures, pattern of names, sentence about them); in a sentence \\1 is a group of the pattern. The first match
counts."""


def unrecorded(arch: str, name: str) -> str | None:
    """Why the catalogue lacks an instruction that the vendor has, or that a name seems to mean; None for any other name."""
    for archs, pattern, text in _RULES:
        found = re.fullmatch(pattern, name) if arch in archs else None
        if found is not None:
            return f"{arch} instruction {name!r} {found.expand(text)}"
    return None


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
