"""Instructions of RDNA that the catalogue leaves out: what is known of each and what is not (numerics.md, section 7)."""

import re

_RDNA3, _RDNA4 = ("gfx1100", "gfx1151"), ("gfx1201",)

_RULES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((*_RDNA3, *_RDNA4), r"v_dot2_\w+_w\d+", "has no size of a wave in its name: each lane has its own dot product"),
    (
        _RDNA3, r"v_(?:wmma|dot4|swmmac)_f32_\w*(?:fp8|bf8)\w*",
        "does not exist: RDNA3 has no FP8 instruction; RDNA4 has, but their rounding is unrecorded",
    ),
    (_RDNA3, r"v_swmmac_\w+(?:\..*)?", "does not exist: RDNA3 has no sparse instruction"),
    (
        _RDNA4, r"v_wmma_f32_\w*(?:fp8|bf8)\w*",
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
        (*_RDNA3, *_RDNA4), r"v_wmma_\w+?(?<!_w32)(?<!_w64)(?:\.[su][48]\.[su][48](?:\.clamp)?)?",
        "must name the size of the wave, _w32 or _w64, which decides the order of the products on gfx1201",
    ),
    (
        (*_RDNA3, *_RDNA4), r"v_wmma_i32_\w+\.[su][48]\.[su][48]\.clamp",
        "is not in the catalogue: with CLAMP only wave32 of gfx1201 is recorded, which saturates twice; without CLAMP "
        "sums wrap",
    ),
    (
        _RDNA3, r"v_wmma_i32_16x16x\d+_iu4\w*(?:\..*)?",
        "is not in the catalogue: iu4 is unrecorded on RDNA3; iu8 has exact sums, and so has iu4 on gfx1201",
    ),
)  # fmt: skip
"""Architectures, a pattern of names, and what is said of them; the first that fits counts."""


def unrecorded(arch: str, name: str) -> str | None:
    """Why the catalogue lacks an instruction that the vendor has, or that a name seems to mean; None for any other name."""
    for archs, pattern, text in _RULES:
        if arch in archs and re.fullmatch(pattern, name):
            return f"{arch} instruction {name!r} {text}"
    return None
