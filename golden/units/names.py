"""Instruction names: parsing shape and formats out of a name, and expanding patterns of names."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from golden.arithmetic.formats import FORMATS, Format

INTEGER_TYPES: dict[str, str] = {"s8": "int8", "u8": "uint8", "s4": "int4", "u4": "uint4"}
"""Integer type names of PTX, and of the signs in RDNA's names, mapped to this project's format names."""

NVIDIA_TYPES: dict[str, str] = {"f64": "fp64", "f32": "fp32", "f16": "fp16", **INTEGER_TYPES, "s32": "int32"}
"""PTX type names that differ from this project's format names."""

AMD_TYPES: dict[str, str] = {
    "f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "xf32": "tf32", "fp8": "e4m3fnuz", "bf8": "e5m2fnuz",
    "i8": "int8", "i32": "int32",
}  # fmt: skip
"""CDNA type names (xf32 has tf32's bits)."""

_NVIDIA = re.compile(
    r"(?P<family>mma|wmma|wgmma|tcgen05)(?P<sparse>\.sp)?\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)"
    r"(?:\.satfinite)?(?:\.kind::(?P<kind>\w+?))?(?:\.block(?P<block>\d+))?(?P<types>(?:\.[a-z]\w*?)+?)(?:\.(?:xor|and)\.popc)?"
)
_AMD = re.compile(
    r"v_(?P<sparse>smfmac|mfma)_(?P<d>f32|f64|i32)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?:_\d+b)?_?(?P<a>xf32|bf16|f16|f32|f64|fp8|bf8|i8)"
    r"(?:_(?P<b>fp8|bf8))?(?:_1k)?"
)
_RDNA = re.compile(
    r"v_(?:dot2|wmma)_(?P<d>f32|f16|bf16)_(?:(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_)?(?P<ab>f16|bf16)(?:_w(?:32|64))?"
)
_RDNA_INTEGERS = re.compile(
    r"v_(?P<sparse>swmmac|wmma)_i32_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_iu(?P<bits>8|4)_w(?:32|64)\.(?P<a>[su](?P=bits))\.(?P<b>[su](?P=bits))"
    r"(?:\.clamp)?"
)
_AMX = re.compile(r"tdp(?P<types>bf16|fp16|bss|bsu|bus|buu)(?:ps|d)\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)")
_ARM_FP8 = re.compile(r"(?P<family>fdot|fmmla|fmopa\.za)\.(?P<d>s|h)\.(?P<a>e4m3|e5m2)\.(?P<b>e4m3|e5m2)")
_SME = re.compile(r"(?P<family>[a-z]+mop)[as](?P<types>\.za\.[a-z]\.[a-z])(?:\.ebf)?")
_ZVBDOTA = re.compile(r"(?P<family>v[a-z]+(?:\.alt)?)\.vv\.(?P<a>[a-z0-9]+)\.k(?P<k>\d+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)\.\.(\d+)")


AMX_TYPES: dict[str, tuple[str, str, str]] = {
    "bf16": ("bf16", "bf16", "fp32"), "fp16": ("fp16", "fp16", "fp32"), "bss": ("int8", "int8", "int32"),
    "bsu": ("int8", "uint8", "int32"), "bus": ("uint8", "int8", "int32"), "buu": ("uint8", "uint8", "int32"),
}  # fmt: skip
"""Letters between `tdp` and `ps` or `d` in AMX names, mapped to the formats of a, of b, and of c and d."""

VECTOR_TYPES: dict[str, tuple[int, str, str, str]] = {
    "vdpbf16ps": (2, "bf16", "bf16", "fp32"), "vpdpbusd": (4, "uint8", "int8", "int32"),
    "vpdpbusds": (4, "uint8", "int8", "int32"), "vfmaddph": (1, "fp16", "fp16", "fp16"),
    "fmla.h": (1, "fp16", "fp16", "fp16"), "fmla.s": (1, "fp32", "fp32", "fp32"), "fmla.d": (1, "fp64", "fp64", "fp64"),
    "bfmlalb": (1, "bf16", "bf16", "fp32"), "bfmlalt": (1, "bf16", "bf16", "fp32"), "bfdot": (2, "bf16", "bf16", "fp32"),
}  # fmt: skip
"""Instructions with one dot product per lane: K, the formats of a, of b, and of c and d."""

SME_TYPES: dict[str, tuple[int, str, str, str]] = {
    "fmop.za.s.s": (1, "fp32", "fp32", "fp32"), "fmop.za.d.d": (1, "fp64", "fp64", "fp64"),
    "fmop.za.h.h": (1, "fp16", "fp16", "fp16"), "bfmop.za.h.h": (1, "bf16", "bf16", "bf16"),
    "fmop.za.s.h": (2, "fp16", "fp16", "fp32"), "bfmop.za.s.h": (2, "bf16", "bf16", "fp32"),
    "smop.za.s.b": (4, "int8", "int8", "int32"), "umop.za.s.b": (4, "uint8", "uint8", "int32"),
    "sumop.za.s.b": (4, "int8", "uint8", "int32"), "usmop.za.s.b": (4, "uint8", "int8", "int32"),
}  # fmt: skip
"""Arm's sums of outer products: K, the formats of a, of b, and of c and d; the letter that says whether products are added
or subtracted is left out of the names."""

ZVBDOTA_TYPES: dict[str, tuple[str, str]] = {
    "vfwbdota": ("bf16", "fp32"), "vfqwbdota": ("e4m3", "fp32"), "vfqwbdota.alt": ("e5m2", "fp32"),
    "vqwbdotau": ("uint8", "int32"), "vqwbdotas": ("int8", "int32"),
}  # fmt: skip
"""RISC-V's batched dot products, without the end of the name: the format of vs2 (operand b), and that of c and d. The end of
a name is the format of vs1 (operand a)."""


@dataclass(frozen=True)
class ParsedName:
    """The facts that a name states: shape, formats, elements that a scale covers and the scale's format (None if unscaled),
    and whether A is sparse; k then counts the stored half of A's elements."""

    m: int
    n: int
    k: int
    a: Format
    b: Format
    c: Format
    d: Format
    block_size: int | None
    scale: Format | None
    sparse: bool = False


def expand(pattern: str) -> list[str]:
    """All names that a pattern matches: `{a,b}` is each alternative, `{8..256..8}` the range with both ends."""
    pieces = _BRACES.split(pattern)
    choices = [_alternatives(piece) if i % 2 else [piece] for i, piece in enumerate(pieces)]
    return ["".join(parts) for parts in itertools.product(*choices)]


def _alternatives(piece: str) -> list[str]:
    if match := _RANGE.fullmatch(piece):
        low, high, step = map(int, match.groups())
        return [str(number) for number in range(low, high + 1, step)]
    return piece.split(",")


def parse_name(name: str) -> ParsedName:
    """Parse an instruction name.

    Raises:
        ValueError: the name does not follow the grammar of numerics.md, sections 7 and 11.
    """
    if match := _NVIDIA.fullmatch(name):
        return _parse_nvidia(name, match)
    if match := _AMD.fullmatch(name):
        a = FORMATS[AMD_TYPES[match["a"]]]
        b = FORMATS[AMD_TYPES[match["b"]]] if match["b"] else a
        d = FORMATS[AMD_TYPES[match["d"]]]
        sparse = match["sparse"] == "smfmac"
        k = int(match["k"]) // (1 + sparse)
        return ParsedName(int(match["m"]), int(match["n"]), k, a, b, d, d, None, None, sparse)
    if match := _RDNA.fullmatch(name):
        ab, d = (FORMATS[AMD_TYPES[match[key]]] for key in ("ab", "d"))
        m, n, k = (int(match[key]) for key in "mnk") if match["k"] else (1, 1, 2)
        return ParsedName(m, n, k, ab, ab, d, d, None, None)
    if match := _RDNA_INTEGERS.fullmatch(name):
        of_a, of_b = (INTEGER_TYPES[match[key]] for key in "ab")
        sparse = match["sparse"] == "swmmac"
        dense = _in_place((of_a, of_b, "int32"), int(match["k"]) // (1 + sparse), int(match["m"]), int(match["n"]))
        return replace(dense, sparse=sparse)
    if match := _AMX.fullmatch(name):
        return _in_place(AMX_TYPES[match["types"]], int(match["k"]), int(match["m"]), int(match["n"]))
    if name in VECTOR_TYPES:
        k, *types = VECTOR_TYPES[name]
        return _in_place(types, k)
    if name == "bfmmla":
        return _in_place(("bf16", "bf16", "fp32"), 4, 2, 2)
    if (match := _SME.fullmatch(name)) and match["family"] + match["types"] in SME_TYPES:
        k, *types = SME_TYPES[match["family"] + match["types"]]
        return _in_place(types, k)
    if (match := _ZVBDOTA.fullmatch(name)) and match["family"] in ZVBDOTA_TYPES:
        of_a = INTEGER_TYPES.get(match["a"], match["a"])
        return _in_place((of_a, *ZVBDOTA_TYPES[match["family"]]), int(match["k"]), 1, 8)
    if match := _ARM_FP8.fullmatch(name):
        return _parse_arm_fp8(match)
    raise ValueError(f"{name!r} is not an instruction name (docs/numerics.md, sections 7 and 11)")


def _parse_arm_fp8(match: re.Match[str]) -> ParsedName:
    """Parse FDOT, FMOPA and FMMLA: K is 4 for an fp32 and 2 for an fp16 result; twice that for FMMLA, of shape 2×2."""
    c, k = {"s": ("fp32", 4), "h": ("fp16", 2)}[match["d"]]
    side = 2 if match["family"] == "fmmla" else 1
    return _in_place((match["a"], match["b"], c), side * k, side, side)


def _in_place(types: Sequence[str], k: int, m: int = 1, n: int = 1) -> ParsedName:
    """An instruction without scales whose c and d have one format."""
    a, b, c = (FORMATS[name] for name in types)
    return ParsedName(m, n, k, a, b, c, c, None, None)


def _parse_nvidia(name: str, match: re.Match[str]) -> ParsedName:
    """Parse NVIDIA's types, D.A.B[.C][.scale]; wgmma and tcgen05 accumulate in place, so their names have no C."""
    types = [NVIDIA_TYPES.get(word, word) for word in match["types"].split(".")[1:]]
    accumulates_in_place = match["family"] not in ("mma", "wmma")
    expected = 3 + (not accumulates_in_place) + (match["block"] is not None)
    if len(types) != expected or any(word not in FORMATS for word in types):
        raise ValueError(f"{name!r} must name {expected} formats after its shape")
    formats = [FORMATS[word] for word in types]
    d, a, b = formats[:3]
    block = int(match["block"]) if match["block"] else None
    scale = formats[-1] if block else None
    c = d if accumulates_in_place else formats[3]
    sparse = match["sparse"] is not None
    return ParsedName(int(match["m"]), int(match["n"]), int(match["k"]) // (1 + sparse), a, b, c, d, block, scale, sparse)
