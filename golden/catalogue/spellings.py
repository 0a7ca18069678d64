"""Other names of instructions, and names that stand for none.

Full PTX, SASS, compilers' builtins and the kernels of libraries name instructions of the catalogue. CUDA's `wmma`, which is
no machine instruction, is modelled as the chain of instructions that the compiler makes of it (wmma.toml). RDNA instructions
that the catalogue leaves out each have a sentence: what is known and what is not (numerics.md, section 7).
"""

import re
import tomllib
from collections.abc import Collection, Mapping
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


SASS_TYPES = {
    "BF16": "bf16", "TF32": "tf32", "F16": "f16", "F32": "f32", "E4M3": "e4m3", "E5M2": "e5m2", "S8": "s8", "U8": "u8",
    "S4": "s4", "U4": "u4",
}  # fmt: skip
"""Types in names of machine instructions, mapped to those of PTX."""

SCALE_BLOCKS = {("mxf8f6f4", "1X"): "block32", ("mxf4", "2X"): "block32", ("mxf4nvf4", "2X"): "block32",
                ("mxf4nvf4", "4X"): "block16"}  # fmt: skip
"""Kind and scale_vec of PTX, mapped to the block of products that shares a scale."""

KERNEL_TYPES = {"bf16": "bf16", "f16": "f16", "fp16": "f16", "tf32": "tf32"}
"""Types of operands in names of kernels."""

NVJET = {"hsh": "f16", "hss": "f16", "tst": "bf16", "tss": "bf16", "sss": "tf32"}
"""Letters of a kernel `nvjet_…` for a, accumulation and d, mapped to the type of the operands."""


def known_as(name: str, found: Collection[str]) -> list[str]:
    """The instructions of an architecture that a name of another kind means; empty where it means none.

    Args:
        found: names of the architecture's instructions.
    """
    for reading in (_ptx, _sass, _kernel):
        read = reading(name)
        if read is not None:
            return [each for each in found if re.fullmatch(read, each)]
    plain = _built_in(name)
    return [each for each in found if _built_in(each) == plain] if plain else []


def _ptx(name: str) -> str | None:
    """A pattern for the instruction of a full name of PTX."""
    if not re.match(r"(mma|wgmma|wmma)\S*\.sync\.aligned", name):
        return None
    short = re.sub(r"::ordered_metadata|\.sync|\.aligned|\.mma_async|\.mma(?=\.)|\.row|\.col|\.block_scale", "", name)
    scaled = re.fullmatch(r"mma\.kind::(\w+)(?:\.scale_vec::(\dX))?(\.m\d+n\d+k\d+)(.*)", short)
    if scaled:
        kind, vector, shape, types = scaled.groups()
        block = SCALE_BLOCKS.get((kind, vector or ("2X" if kind == "mxf4" else "1X")))
        short = f"mma{shape}.kind::{kind}" + (f".{block}" if "ue" in types else "") + types
    of_wmma = re.fullmatch(r"(wmma\.m\d+n\d+k\d+)\.(f16|f32)\.(f16|f32)", short)
    if of_wmma:
        short = f"{of_wmma[1]}.{of_wmma[2]}.f16.f16.{of_wmma[3]}"
    return re.escape(short)


def _sass(name: str) -> str | None:
    """A pattern for the instruction of a machine instruction's name; of a wgmma and mma alike the type of d is the first."""
    found = re.fullmatch(r"([DHIQ]|HG|QG|IG)MMA\.(?:(?:SP\.)?)(\d+x\d+x\d+|\d+)((?:\.[A-Z0-9]+)*)", name)
    if not found:
        return None
    unit, shape, rest = found.groups()
    m, n, k = shape.split("x") if "x" in shape else _digits(shape)
    words = [SASS_TYPES[word] for word in rest.split(".") if word in SASS_TYPES]
    satfinite = r"\.satfinite" if "SAT" in rest.split(".") else ""
    if unit == "D":
        return rf"mma\.m{m}n{n}k{k}\.f64\.f64\.f64\.f64"
    if unit in ("I", "IG"):
        a, b = (words + words)[:2] if words else ("s8", "s8")
        tail = r"\.s32" if unit == "I" else ""
        return rf"{'mma' if unit == 'I' else 'wgmma'}\.m{m}n{n}k{k}{satfinite}\.s32\.{a}\.{b}{tail}"
    d = words[0] if words and words[0] in ("f16", "f32") else "f32"
    types = [word for word in words[1:] if word != "f32"] or ["f16"]
    a, b = (types + types)[:2]
    tail = "" if unit.endswith("G") else rf"\.{d}"
    return rf"{'wgmma' if unit.endswith('G') else 'mma'}\.m{m}n{n}k{k}\.{d}\.{a}\.{b}{tail}"


def _digits(shape: str) -> tuple[str, str, str]:
    """m, n and k of `16816`: m is 16 or 8, n 8."""
    m = "16" if shape.startswith("16") else "8"
    return m, shape[len(m)], shape[len(m) + 1 :]


def _kernel(name: str) -> str | None:
    """A pattern for the instruction that a library's kernel is made of, by its name; of `wgmma` that of n = 128."""
    jet = re.match(r"nvjet_(\w{3})_", name)
    if jet and jet[1] in NVJET:
        ab = NVJET[jet[1]]
        length = 8 if ab == "tf32" else 16
        return rf"(?:wgmma\.m64n128k{length}\.f32\.{ab}\.{ab}|tcgen05\.m128n128k{length}\.kind::\w+\.f32\.{ab}\.{ab})"
    found = re.search(r"(?:^|_)([shd])(1688|16816|884)(tf32|bf16|f16)?gemm(?:_(bf16|fp16|f16|tf32))?", name)
    if not found:
        return None
    d, shape, inner, after = found.groups()
    m, n, k = _digits(shape)
    if d == "d":
        return rf"mma\.m{m}n{n}k{k}\.f64\.f64\.f64\.f64"
    unsaid = "tf32" if shape == "1688" and d == "s" else "(f16|bf16)"
    ab = KERNEL_TYPES.get(inner or after or "", unsaid)
    of_d = "f32" if d == "s" else "f16"
    return rf"mma\.m{m}n{n}k{k}\.{of_d}\.(?P<ab>{ab})\.(?P=ab)\.{of_d}"


def _built_in(name: str) -> str:
    """A name of AMD's without prefix, case, separators, `_1k` and numbers of blocks; empty for another name."""
    short = re.sub(r"^(?:__builtin_amdgcn_|llvm\.amdgcn\.|v_)", "", name.lower()).replace(".", "_")
    if not short.startswith(("mfma_", "smfmac_", "wmma_", "swmmac_", "dot2_")):
        return ""
    return re.sub(r"_1k$|_\d+b(?=_|$)|_", "", re.sub(r"(\d+x\d+x\d+)_?(?:\d+b_)?(?=[a-z])", r"\1_", short))
