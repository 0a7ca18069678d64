"""Instruction names: what they say about shape and formats, and the patterns that stand for many of them."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from golden.formats import FORMATS, Format

NVIDIA_TYPES: dict[str, str] = {"f64": "fp64", "f32": "fp32", "f16": "fp16"}
"""PTX type names that differ from this project's format names."""

AMD_TYPES: dict[str, str] = {
    "f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "xf32": "tf32", "fp8": "e4m3fnuz", "bf8": "e5m2fnuz",
}  # fmt: skip
"""CDNA type names (xf32 has tf32's bits)."""

_NVIDIA = re.compile(
    r"(?P<family>mma|wgmma|tcgen05)\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)"
    r"(?:\.kind::(?P<kind>\w+?))?(?:\.block(?P<block>\d+))?(?P<types>(?:\.[a-z]\w*)+)"
)
_AMD = re.compile(
    r"v_mfma_(?P<d>f32|f64)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?:_\d+b)?_?(?P<a>xf32|bf16|f16|f32|f64|fp8|bf8)"
    r"(?:_(?P<b>fp8|bf8))?(?:_1k)?"
)
_AMX = re.compile(r"tdp(?P<types>bf16|fp16|bss|bsu|bus|buu)(?:ps|d)\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)")
_ARM_FP8 = re.compile(r"(?P<family>fdot|fmmla)\.(?P<d>s|h)\.(?P<a>e4m3|e5m2)\.(?P<b>e4m3|e5m2)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)\.\.(\d+)")


AMX_TYPES: dict[str, tuple[str, str, str]] = {
    "bf16": ("bf16", "bf16", "fp32"), "fp16": ("fp16", "fp16", "fp32"), "bss": ("int8", "int8", "int32"),
    "bsu": ("int8", "uint8", "int32"), "bus": ("uint8", "int8", "int32"), "buu": ("uint8", "uint8", "int32"),
}  # fmt: skip
"""What the letters between `tdp` and `ps` or `d` say of the formats of a, of b, and of c and d."""

VECTOR_TYPES: dict[str, tuple[int, str, str, str]] = {
    "vdpbf16ps": (2, "bf16", "bf16", "fp32"), "vpdpbusd": (4, "uint8", "int8", "int32"),
    "vpdpbusds": (4, "uint8", "int8", "int32"), "vfmaddph": (1, "fp16", "fp16", "fp16"),
    "fmla.h": (1, "fp16", "fp16", "fp16"), "fmla.s": (1, "fp32", "fp32", "fp32"), "fmla.d": (1, "fp64", "fp64", "fp64"),
    "bfmlalb": (1, "bf16", "bf16", "fp32"), "bfmlalt": (1, "bf16", "bf16", "fp32"), "bfdot": (2, "bf16", "bf16", "fp32"),
}  # fmt: skip
"""Instructions of one dot product a lane: K, the formats of a, of b, and of c and d."""


@dataclass(frozen=True)
class ParsedName:
    """What a name spells out: shape, formats, elements a scale covers and the scale's format (None where unscaled)."""

    m: int
    n: int
    k: int
    a: Format
    b: Format
    c: Format
    d: Format
    block_size: int | None
    scale: Format | None


def expand(pattern: str) -> list[str]:
    """Every name a pattern stands for: `{a,b}` is each alternative, `{8..256..8}` each number of that range."""
    pieces = _BRACES.split(pattern)
    choices = [_alternatives(piece) if i % 2 else [piece] for i, piece in enumerate(pieces)]
    return ["".join(parts) for parts in itertools.product(*choices)]


def _alternatives(piece: str) -> list[str]:
    if match := _RANGE.fullmatch(piece):
        low, high, step = map(int, match.groups())
        return [str(number) for number in range(low, high + 1, step)]
    return piece.split(",")


def parse_name(name: str) -> ParsedName:
    """Read a name.

    Raises:
        ValueError: the name does not follow the grammar of numerics.md, sections 7 and 11.
    """
    if match := _NVIDIA.fullmatch(name):
        return _parse_nvidia(name, match)
    if match := _AMD.fullmatch(name):
        a = FORMATS[AMD_TYPES[match["a"]]]
        b = FORMATS[AMD_TYPES[match["b"]]] if match["b"] else a
        d = FORMATS[AMD_TYPES[match["d"]]]
        return ParsedName(int(match["m"]), int(match["n"]), int(match["k"]), a, b, d, d, None, None)
    if match := _AMX.fullmatch(name):
        return _of_processor(AMX_TYPES[match["types"]], int(match["k"]), int(match["m"]), int(match["n"]))
    if name in VECTOR_TYPES:
        k, *types = VECTOR_TYPES[name]
        return _of_processor(types, k)
    if name == "bfmmla":
        return _of_processor(("bf16", "bf16", "fp32"), 4, 2, 2)
    if match := _ARM_FP8.fullmatch(name):
        return _parse_arm_fp8(match)
    raise ValueError(f"{name!r} does not read as an instruction name")


def _parse_arm_fp8(match: re.Match[str]) -> ParsedName:
    """A result has room for 4 elements of fp32, or 2 of fp16; the rows of a 2×2 matrix have twice as many."""
    c, k = {"s": ("fp32", 4), "h": ("fp16", 2)}[match["d"]]
    side = 2 if match["family"] == "fmmla" else 1
    return _of_processor((match["a"], match["b"], c), side * k, side, side)


def _of_processor(types: Sequence[str], k: int, m: int = 1, n: int = 1) -> ParsedName:
    """An instruction of a processor, which accumulates in place, without scales."""
    a, b, c = (FORMATS[name] for name in types)
    return ParsedName(m, n, k, a, b, c, c, None, None)


def _parse_nvidia(name: str, match: re.Match[str]) -> ParsedName:
    """NVIDIA's order is D.A.B[.C][.scale]; wgmma and tcgen05 have no C of their own: it is D."""
    types = [NVIDIA_TYPES.get(word, word) for word in match["types"].split(".")[1:]]
    accumulates_in_place = match["family"] != "mma"
    expected = 3 + (not accumulates_in_place) + (match["block"] is not None)
    if len(types) != expected or any(word not in FORMATS for word in types):
        raise ValueError(f"{name!r} must name {expected} formats after its shape")
    formats = [FORMATS[word] for word in types]
    d, a, b = formats[:3]
    block = int(match["block"]) if match["block"] else None
    scale = formats[-1] if block else None
    c = d if accumulates_in_place else formats[3]
    return ParsedName(int(match["m"]), int(match["n"]), int(match["k"]), a, b, c, d, block, scale)
