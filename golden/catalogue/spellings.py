"""Other names of instructions: full PTX, SASS, compilers' builtins, and the kernels of libraries that use them."""

import re
from collections.abc import Collection

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
