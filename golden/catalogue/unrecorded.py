"""RDNA instructions that the catalogue leaves out, each with what is known and what is not known about it (numerics.md,
section 7)."""

import re

_RDNA3, _RDNA4 = ("gfx1100", "gfx1151"), ("gfx1201",)

_DENSE = r"(?:(?:f32|f16)_16x16x16_f16|(?:f32|bf16)_16x16x16_bf16|i32_16x16x(?:16|32)_iu[48])"
"""Pattern of the result format, shape and factor format of those WMMA instructions that have a model."""

_RULES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((*_RDNA3, *_RDNA4), r"v_dot2_\w+_w\d+", "has no size of a wave in its name: each lane has its own dot product"),
    (
        (*_RDNA3, *_RDNA4), r"v_(?:dual_)?dot2acc_f32_(f16|bf16)",
        r"is in the catalogue as 'v_dot2_f32_\1', which computes the same",
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
        _RDNA4, r"v_swmmac_i32_\w+(?:\..*)?",
        "is not in the catalogue, which has no sparse instruction; its sums are those of the dense one, by recordings in "
        "wave32",
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
