"""Sample units of every operation, for co-simulation, coverage and mutants; and designs of every kind, all small enough to
be simulated and linted.

A new operation has its units here: in `FURTHER`, for the coverage job; in `OWN_KEYS`, for keys that no published unit has; a
small one and the largest instruction, for coverage; and two for mutants.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any, TypeVar
from zlib import crc32

import golden
from golden import Implementation, Operation, Unit
from golden.arithmetic.conversion import CONVERSIONS
from golden.arithmetic.formats import BF16, FP16, FP32, FP64, INT8, INT32, UINT8
from golden.operations import (
    ADD,
    CVT,
    EFDPA,
    FMA,
    FTZEOFMA,
    FTZFMA,
    GSTFDPA,
    GTRFDPA,
    IDPA,
    MUL,
    OCFDPA,
    PSFDPA,
    STFDPA,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)
from golden.operations.base import MAX_FRACTION, MULTIPLICANDS
from golden.operations.headroom_fdpa import MAX_HEADROOM
from golden.units.unit import ENCODINGS
from golden.units.unit_file import operation_from_table
from rtl.designs.multi_format_design import WORD_16, MultiFormatDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

T = TypeVar("T")

TILES = (
    ("sm_70", "mma.m8n8k4.f32.f16.f16.f16", 2, 3, 1),
    ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", 2, 2, 2),
    ("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16", 1, 2, 3),
    ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0", 1, 1, 8),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", 1, 1, 3),
    ("sm_90", "mma.m16n8k16.f64.f64.f64.f64", 1, 1, 8),
    ("gfx908", "v_mfma_f32_32x32x8f16", 2, 1, 3),
    ("gfx90a", "v_mfma_f32_16x16x16f16", 1, 1, 2),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_bf8", 1, 2, 2),
    ("gfx942", "v_mfma_f32_16x16x16_f16", 2, 1, 3),
    ("x86-amx", "tdpbf16ps.m16n16k4", 1, 2, 2),
    ("x86-amx", "tdpbusd.m16n16k16", 2, 2, 1),
    ("x86-avx512", "vdpbf16ps", 1, 1, 4),
    ("gfx1100", "v_wmma_f16_16x16x16_f16_w32", 2, 1, 2),
    ("gfx1201", "v_wmma_bf16_16x16x16_bf16_w32", 1, 2, 3),
)
"""Sample tiles: architecture, instruction, rows, columns, pipeline stages."""


def catalogue_designs() -> list[UnitDesign]:
    """Every distinct datapath of the catalogue."""
    return [UnitDesign(unit) for unit in golden.catalogue_units()]


def multi_format_designs() -> list[MultiFormatDesign]:
    """Datapaths of all formats that fill a word of 16 bits, summed as Hopper does: in every encoding, with and without
    registers."""
    keys: dict[str, Any] = {"c": "fp32", "F": 25, "rho": "RZ-FP32", "e_zero": -133}
    operations = [TFDPA(a=name, b=name, L=2 * count, **keys) for name, count in WORD_16.items()]  # type: ignore[arg-type]
    designs = []
    for encoding, stages in zip(ENCODINGS, (0, 3, 8), strict=True):
        built = Implementation(encoding=encoding, stages=stages)
        units = (Unit(name=f"{encoding} {o.a} L={o.L}", operation=o, implementation=built) for o in operations)
        designs.append(MultiFormatDesign(tuple(units)))
    return designs


def tile_designs() -> list[TileDesign]:
    """Tiles of every operation: with one step and with several, with one scale and with several, and with FP8 run as
    FP16."""
    encodings = cycle(ENCODINGS)
    return [
        TileDesign(
            replace(golden.instruction(arch, name), m=m, n=n), Implementation(encoding=next(encodings), stages=stages)
        )
        for arch, name, m, n, stages in TILES
    ]


def slice_of(items: Sequence[T], wanted: str, name: Callable[[T], str]) -> list[T]:
    """The items of one slice. Each item is in one of N slices, by its name; the text "K/N" names slice K, counted from 0.

    Raises:
        ValueError: the text is not K/N with 0 ≤ K < N, or no item is in that slice.
    """
    number = re.fullmatch(r"(\d{1,6})/(\d{1,6})", wanted, re.ASCII)
    if number is None or int(number[1]) >= int(number[2]):
        raise ValueError(f"--slice must be K/N with K from 0 to N − 1, such as 0/3; got {wanted!r}")
    part, parts = int(number[1]), int(number[2])
    chosen = [item for item in items if crc32(name(item).encode()) % parts == part]
    if not chosen:
        raise ValueError(f"--slice {wanted}: none of {len(items)} is in this slice; say fewer slices")
    return chosen


TRUNCATIONS = ("RZ", "RD")

PUBLISHED_MULTIPLICANDS = tuple(name for name in MULTIPLICANDS if name != "e4m3ieee")
"""Formats of a and b in published units."""

DIRECTED_CONVERSIONS = tuple(name for name, rho in CONVERSIONS.items() if rho.mode not in ("RO", "RNA"))
"""Every ρ with a rounding mode of published units, or RD or RU."""


def _formats(number: int) -> dict[str, Any]:
    """Formats of a and b for a sample number; five consecutive numbers have every format."""
    start = 2 * number % len(PUBLISHED_MULTIPLICANDS)
    return {"a": PUBLISHED_MULTIPLICANDS[start], "b": PUBLISHED_MULTIPLICANDS[(start + 1) % len(PUBLISHED_MULTIPLICANDS)]}


def _fused(number: int) -> dict[str, Any]:
    """Keys of the truncated operations for a sample number; six consecutive numbers have every encoding with every
    truncation, and every value below."""
    return _formats(number) | {
        "L": (1, 3, 5, 7, 2, 4)[number],
        "F": (1, MAX_FRACTION, 25, 6, 40, 13)[number],
        "truncation": TRUNCATIONS[number // len(ENCODINGS)],
    }


def _converted(number: int, offset: int) -> dict[str, Any]:
    """Values of c, rho and e_zero for T-, ST- and GST-FDPA."""
    return {
        "c": ("fp32", "fp16", "bf16")[number % 3],
        "rho": DIRECTED_CONVERSIONS[(6 * offset + number) % len(DIRECTED_CONVERSIONS)],
        "e_zero": (-133, -21, -300, 5, -139, -19)[number],
    }


def _rounded(number: int) -> dict[str, Any]:
    """Values of the other keys of TR- and GTR-FDPA."""
    return {
        "c": "fp32",
        "F2": (31, 1, MAX_FRACTION, 12, 23, 31)[number],
        "rho": ("RNE-FP32", "RZ-FP16", "RU-BF16")[number % 3],
    }


def _headroom(number: int) -> dict[str, Any]:
    """Keys of OC- and PS-FDPA, except L and P, for a sample number; five consecutive numbers have every format, both
    flushes, and h at both ends of its range."""
    return _formats(number) | {
        "c": ("fp32", "fp16", "bf16")[number % 3],
        "F": (26, 1, 24, MAX_FRACTION, 13, 26)[number],
        "h": (2, 0, 1, MAX_HEADROOM, 3, 2)[number],
        "rho": ("RNE-FP32", "RNE-FP16", "RNE-FP32-RZ-BF16", "RD-FP32", "RZ-FP16", "RU-BF16")[number],
        "e_zero": (-126, -14, -126, -300, 5, -133)[number],
        "flush_inputs": number % 2 == 0,
        "flush_results": number % 4 == 0,
    }


def _blocks(number: int) -> dict[str, Any]:
    """Values of G, K_block and scale of GST-FDPA for the L of `_fused`: one or more groups; a scale for each, or for more
    than L products."""
    return {
        "G": (1, 3, 1, 7, 1, 2)[number],
        "K_block": (2, 3, 5, 14, 1, 2)[number],
        "scale": ("ue8m0", "ue4m3")[number % 2],
    }


FURTHER: tuple[Operation, ...] = (
    *[FMA(a=f, b=f, c=f) for f in (FP32, FP64, FP64, FP32)],
    *[FTZAddMul(a=f, b=f, c=FP32, P=P) for f, P in ((FP16, 1), (BF16, 2), (FP16, 4), (BF16, 1))],
    *(
        EFDPA(**_formats(n), c=FP32, L=L, rho=rho)
        for n, (L, rho) in enumerate([(1, "RNE-FP32"), (3, "RD-FP16"), (5, "RU-FP32"), (7, "RZ-BF16"), (2, "RNE-FP16")])
    ),
    *[TFDPA(**_fused(n), **_converted(n, 0)) for n in range(6)],
    *[STFDPA(**_fused(n), **_converted(n, 1), K_block=(1, 6, 5, 1, 2, 2)[n]) for n in range(6)],
    *[GSTFDPA(**_fused(n), **_converted(n, 2), **_blocks(n)) for n in range(6)],
    *[TRFDPA(**_fused(n), **_rounded(n)) for n in range(6)],
    *[GTRFDPA(**_fused(n), **_rounded(n)) for n in range(6)],
    *[OCFDPA(**_headroom(n), L=(2, 1, 3, 5, 7, 2)[n]) for n in range(6)],
    *[PSFDPA(**_headroom(n), L=(4, 1, 3, 5, 7, 6)[n], P=(2, 1, 3, 1, 7, 2)[n]) for n in range(6)],
    *[FTZFMA(a=f, b=f, c=FP32, L=L) for f, L in ((BF16, 1), (FP16, 2), (BF16, 3), (FP16, 1), (BF16, 5))],
    *[FTZEOFMA(a=f, b=f, c=FP32, L=L) for f, L in ((FP16, 2), (BF16, 4), (FP16, 6), (BF16, 2))],
    *(
        IDPA(a=INT8, b=INT8, c=INT32, L=1, overflow="saturate"),
        IDPA(a=UINT8, b=UINT8, c=INT32, L=3, overflow="wrap"),
        IDPA(a=INT8, b=UINT8, c=INT32, L=5, overflow="saturate"),
        IDPA(a=UINT8, b=INT8, c=INT32, L=64, overflow="wrap"),
        IDPA(a=UINT8, b=UINT8, c=INT32, L=7, overflow="saturate"),
    ),
    *[of(a=f, b=f) for of in (MUL, ADD) for f in (FP16, FP32, FP64, BF16)],
    *[CVT(a=a, rho=rho) for a, rho in ((FP32, "RNE-FP16"), (FP32, "RNE-E4M3"), (FP16, "RNE-E5M2"), (FP64, "RNE-FP32"))],
    *[CVT(a=a, rho=rho) for a, rho in ((BF16, "RNE-FP16"), (FP32, "RNA-TF32"), (FP16, "RNE-FP32"))],
)
"""Operations that the catalogue does not have."""


_SUMS: tuple[dict[str, Any], ...] = (
    {"a": "e4m3ieee", "b": "e5m2", "rho": "RNE-FP16", "overflow": "saturate", "flush_inputs": True},
    {"a": "bf16", "b": "bf16", "rho": "RO-FP32", "overflow": "by-mode", "flush_results": True},
    {"a": "bf16", "b": "e4m3ieee", "rho": "RNA-FP16", "overflow": "saturate", "flush_inputs": True, "flush_results": True},
    {"a": "fp16", "b": "fp16", "rho": "RU-FP16", "overflow": "by-mode"},
)
"""Formats of the multiplicands, and the keys that every operation except FTZ-AddMul has."""

_ALIGNMENTS: tuple[dict[str, Any], ...] = (
    {"c": "fp16", "F": 13, "e_zero": -21, "truncation": "RZ", "sticky": True},
    {"c": "fp32", "F": 25, "e_zero": -133, "truncation": "RD", "sticky": True},
    {"c": "bf16", "F": 11, "e_zero": -133, "truncation": "RO"},
    {"c": "fp16", "F": 10, "e_zero": -19, "truncation": "RD", "sticky": True},
)
"""Alignments of the terms of T-, ST- and GST-FDPA."""

_GROUPS: tuple[dict[str, Any], ...] = (
    {"G": 1, "K_block": 2, "scale": "ue4m3"},
    {"G": 3, "K_block": 3, "scale": "ue8m0"},
    {"G": 1, "K_block": 4, "scale": "ue8m0"},
    {"G": 2, "K_block": 2, "scale": "ue4m3"},
)
"""Keys G, K_block and scale of four GST-FDPA units."""

_ROUNDED_SUMS: tuple[dict[str, Any], ...] = (
    {"c": "fp32", "F": 24, "F2": 31, "truncation": "RD"},
    {"c": "fp32", "F": 24, "F2": 31, "truncation": "RZ"},
    {"c": "fp32", "F": 9, "F2": 12, "truncation": "RD"},
    {"c": "fp32", "F": 13, "F2": 40, "truncation": "RZ"},
)
"""Alignments of the terms of TR- and GTR-FDPA."""

_HEADROOMS: tuple[dict[str, Any], ...] = (
    {"c": "fp16", "F": 13, "h": 2, "e_zero": -14},
    {"c": "fp32", "F": 24, "h": 1, "e_zero": -126},
    {"c": "fp16", "F": 26, "h": 3, "e_zero": -20},
    {"c": "fp16", "F": 10, "h": 0, "e_zero": -14},
)
"""Alignments of the terms of OC- and PS-FDPA."""

_RDNA: dict[str, Any] = {
    "a": "fp16", "b": "fp16", "c": "fp16", "F": 26, "h": 2, "rho": "RNE-FP16", "e_zero": -14, "overflow": "saturate",
}  # fmt: skip
"""Keys of the fp16 instructions of RDNA3 and RDNA4 under MODE.FP16_OVFL, which the catalogue does not have."""

_PAIRED: tuple[dict[str, Any], ...] = ({"P": 1}, {"P": 3}, {"P": 1}, {"P": 2})
"""Keys P of four PS-FDPA units."""

_LENGTHS = (2, 3, 1, 4)


def _sums(*keys: dict[str, Any]) -> list[dict[str, Any]]:
    """The keys of four operations: the common keys of `_SUMS`, and further ones for each."""
    return [{**common, "L": L, **own} for common, L, own in zip(_SUMS, _LENGTHS, keys, strict=True)]


def _ieee(of: type[MUL], name: str, rho: str, **keys: Any) -> MUL:
    return of(a=name, b=name, rho=f"{rho}-{name.upper()}", **keys)  # type: ignore[arg-type]


def _cvt(name: str, rho: str, **keys: Any) -> CVT:
    return CVT(a=name, rho=rho, **keys)  # type: ignore[arg-type]


def _fma(name: str, rho: str, **keys: Any) -> FMA:
    return FMA(a=name, b=name, c=name, rho=f"{rho}-{name.upper()}", **keys)  # type: ignore[arg-type]


def _e_fdpa(rho: str, **keys: Any) -> EFDPA:
    return EFDPA(a="e4m3", b="e5m2", rho=rho, zero="ieee", **keys)  # type: ignore[arg-type]


OWN_KEYS: tuple[Operation, ...] = (
    *(
        _fma("fp16", "RO", overflow="by-mode"),
        _fma("bf16", "RNA", overflow="saturate", flush_inputs=True),
        _fma("fp32", "RD", overflow="by-mode", flush_results=True),
        _fma("fp16", "RU", overflow="by-mode", flush_inputs=True, flush_results=True),
        _fma("fp64", "RZ", overflow="by-mode"),
        _fma("bf16", "RNE"),
        _fma("fp16", "RU", nan="first", flush_inputs=True),
        _fma("fp32", "RNE", nan="first"),
        # the multiply-add of Arm's bfdot
        FMA(a="bf16", b="bf16", c="fp32", rho="RO-FP32", flush_inputs=True, flush_results=True),  # type: ignore[arg-type]
    ),
    *(
        *(EFDPA(**keys) for keys in _sums({"c": "fp16"}, {"c": "fp32"}, {"c": "bf16"}, {"c": "fp16"})),
        _e_fdpa("RNE-FP16", c="fp16", L=2),
        _e_fdpa("RD-FP16", c="fp16", L=3, flush_inputs=True),
    ),
    *[TFDPA(**keys) for keys in _sums(*_ALIGNMENTS)],
    *[STFDPA(**keys, K_block=K_block) for keys, K_block in zip(_sums(*_ALIGNMENTS), (1, 6, 1, 2), strict=True)],
    *[GSTFDPA(**keys, **groups) for keys, groups in zip(_sums(*_ALIGNMENTS), _GROUPS, strict=True)],
    *[TRFDPA(**keys) for keys in _sums(*_ROUNDED_SUMS)],
    *[GTRFDPA(**keys) for keys in _sums(*_ROUNDED_SUMS)],
    *(
        *(OCFDPA(**keys) for keys in _sums(*_HEADROOMS)),
        OCFDPA(**_RDNA, L=2, flush_inputs=True),
    ),
    *(
        *(PSFDPA(**keys, **groups) for keys, groups in zip(_sums(*_HEADROOMS), _PAIRED, strict=True)),
        PSFDPA(**_RDNA, L=4, P=2),
    ),
    *(
        _ieee(of, *keys, **own)
        for of in (MUL, ADD)
        for *keys, own in (
            ("fp16", "RO", {"overflow": "by-mode"}),
            ("bf16", "RNA", {"overflow": "saturate", "flush_inputs": True}),
            ("fp32", "RD", {"overflow": "by-mode", "flush_results": True}),
            ("fp16", "RU", {"nan": "first", "flush_inputs": True, "flush_results": True}),
            ("bf16", "RZ", {"overflow": "by-mode"}),
        )
    ),
    *(
        _cvt(a, rho, **own)
        for a, rho, own in (
            ("fp32", "RO-FP16", {"overflow": "by-mode"}),
            ("fp32", "RNA-E4M3FNUZ", {"overflow": "saturate", "flush_inputs": True}),
            ("bf16", "RD-FP16", {"overflow": "by-mode", "flush_results": True}),
            ("fp32", "RU-E5M2", {"nan": "first", "flush_inputs": True, "flush_results": True}),
            ("fp16", "RZ-BF16", {"nan": "first", "overflow": "by-mode"}),
            ("e2m3", "RNE-E2M1", {"overflow": "saturate"}),
        )
    ),
)
"""Operations with properties that no published unit has: a sticky bit, flushes, other overflow, RO, RNA, e4m3ieee.

For every operation that takes a key, each of the key's values has a unit. The formats are chosen so that sums overflow and
are tiny: the results are narrower than the products, or the products reach as far as fp32.
"""


_LARGEST: dict[str, tuple[str, str]] = {
    "FMA": ("sm_80", "mma.m8n8k4.f64.f64.f64.f64"),
    "FTZ-AddMul": ("gfx90a", "v_mfma_f32_32x32x8bf16_1k"),
    "E-FDPA": ("gfx908", "v_mfma_f32_32x32x8f16"),
    "T-FDPA": ("sm_90", "wgmma.m64n8k32.f32.e5m2.e5m2"),
    "ST-FDPA": ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e5m2.ue8m0"),
    "GST-FDPA": ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
    "TR-FDPA": ("gfx942", "v_mfma_f32_32x32x8_bf16"),
    "GTR-FDPA": ("gfx942", "v_mfma_f32_32x32x16_bf8_bf8"),
    "OC-FDPA": ("gfx1100", "v_wmma_f32_16x16x16_bf16_w32"),
    "PS-FDPA": ("gfx1201", "v_wmma_f32_16x16x16_bf16_w32"),
    "FTZ-FMA": ("x86-avx512", "vdpbf16ps"),
    "FTZ-EO-FMA": ("x86-amx", "tdpbf16ps.m16n16k32"),
    "IDPA": ("sm_80", "mma.m16n8k32.satfinite.s32.s8.s8.s32"),
}
"""Operation to the architecture and the instruction with the widest step."""

_RANGE = {"flush_inputs": True, "flush_results": True}

_SMALL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("FMA", {"a": "fp16", "b": "fp16", "c": "fp16"}),
    ("FTZ-AddMul", {"a": "fp16", "b": "fp16", "c": "fp32", "P": 2}),
    ("E-FDPA", {"a": "e4m3", "b": "e4m3", "c": "fp16", "L": 2, "rho": "RNE-FP16"}),
    ("T-FDPA", {"a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "F": 12, "rho": "RNE-FP16", "e_zero": -20}),
    ("ST-FDPA", {"a": "e2m3", "b": "e5m2", "c": "fp32", "L": 2, "F": 25, "rho": "RZ-FP32", "e_zero": -133, "K_block": 1}),
    ("GST-FDPA", {
        "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 4, "F": 35, "rho": "RZ-FP32", "e_zero": -139, "G": 2, "K_block": 2,
        "scale": "ue8m0",
    }),
    ("TR-FDPA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "F": 24, "F2": 31}),
    ("GTR-FDPA", {"a": "e4m3fnuz", "b": "e4m3fnuz", "c": "fp32", "L": 4, "F": 24, "F2": 31}),
    ("OC-FDPA", {"a": "e5m2", "b": "e5m2", "c": "fp16", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP16", "e_zero": -14}),
    ("PS-FDPA", {"a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "P": 2, "F": 26, "h": 2, "rho": "RNE-FP16", "e_zero": -14}),
    ("FTZ-FMA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 1}),
    ("FTZ-EO-FMA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 2}),
    ("IDPA", {"a": "uint8", "b": "int8", "c": "int32", "L": 2, "overflow": "saturate"}),
    ("MUL", {"a": "fp16", "b": "fp16"}),
    ("ADD", {"a": "fp16", "b": "fp16"}),
    ("CVT", {"a": "fp16", "rho": "RNE-E5M2"}),
)  # fmt: skip
"""Operation and keys of the small sample units."""

_OF_ONES_OWN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("FMA", {"a": "bf16", "b": "bf16", "c": "bf16", "rho": "RU-BF16", "overflow": "by-mode", **_RANGE}),
    ("E-FDPA", {"a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "rho": "RNA-FP32", "overflow": "saturate", **_RANGE}),
    ("E-FDPA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "zero": "ieee"}),
    ("E-FDPA", {"a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RD-FP16", "zero": "ieee"}),
    ("T-FDPA", {
        "a": "bf16", "b": "bf16", "c": "fp32", "L": 4, "F": 24, "rho": "RNE-FP32", "e_zero": -132, "sticky": True,
        "flush_results": True, "overflow": "by-mode",
    }),
    ("T-FDPA", {
        "a": "fp16", "b": "fp16", "c": "fp16", "L": 4, "F": 12, "rho": "RD-FP16", "e_zero": -20, "sticky": True,
        "truncation": "RD", "overflow": "saturate",
    }),
    ("ST-FDPA", {
        "a": "e4m3", "b": "e4m3", "c": "fp32", "L": 4, "F": 25, "rho": "RO-FP32", "e_zero": -133, "K_block": 2,
        "truncation": "RO", "flush_inputs": True, "overflow": "by-mode",
    }),
    ("TR-FDPA", {"a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 24, "F2": 31, "truncation": "RZ", **_RANGE}),
    ("MUL", {"a": "fp32", "b": "fp32", "rho": "RD-FP32", "nan": "first"}),
    ("ADD", {"a": "fp32", "b": "fp32", "rho": "RD-FP32", "nan": "first"}),
    ("CVT", {"a": "fp32", "rho": "RD-BF16", "nan": "first"}),
)  # fmt: skip
"""Operation and keys of sample units that use keys for user designs."""


def sample_units() -> list[Unit]:
    """The units, operation by operation: the largest, small ones, those with keys of their own."""
    units = []
    for name in golden.OPERATIONS:
        if name in _LARGEST:  # some part has it
            arch, instruction = _LARGEST[name]
            units.append(Unit(name=f"{arch} {instruction}", operation=golden.instruction(arch, instruction).operation))
        units += [_unit(f"small {name}", name, keys) for of, keys in _SMALL if of == name]
        own = [keys for of, keys in _OF_ONES_OWN if of == name]
        units += [_unit(f"{name} of one's own {number}", name, keys) for number, keys in enumerate(own)]
    return units


def _unit(title: str, name: str, keys: dict[str, Any]) -> Unit:
    make: Any = golden.OPERATIONS[name]
    return Unit(name=title, operation=make(**keys))


_TRUNCATED: dict[str, Any] = {"operation": "T-FDPA", "c": "fp32", "F": 25, "rho": "RZ-FP32", "e_zero": -133}

_MUTATED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "FMA fp32": ({"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"}, {}),
    "FMA fp16 RO": (
        {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RO-FP16", "overflow": "by-mode"},
        {"stages": 2, "encoding": "sign-magnitude", "max_exp": "pairwise", "leading_zeros": "anticipate"},
    ),
    "FMA fp16 in rows": (
        {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16"},
        {
            "stages": 3, "multiplier": "booth", "adder": "kogge-stone", "normaliser": "narrowing", "rounder": "compound",
            "leading_zeros": "anticipate", "registers": ("multiply", "accumulate_rows", "encode"),
        },
    ),
    "FTZ-AddMul fp16": ({"operation": "FTZ-AddMul", "a": "fp16", "b": "fp16", "c": "fp32", "P": 2}, {}),
    "FTZ-AddMul bf16": (
        {"operation": "FTZ-AddMul", "a": "bf16", "b": "bf16", "c": "fp32", "P": 2},
        {"stages": 3, "encoding": "twos-complement", "reduction": "adder-tree"},
    ),
    "E-FDPA fp16": ({"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2}, {}),
    "E-FDPA e4m3 e5m2": (
        {"operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RD-FP16"},
        {"stages": 2, "encoding": "sign-magnitude", "leading_zeros": "anticipate"},
    ),
    "E-FDPA fp16 long": (
        {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "zero": "ieee"},
        {"accumulator": "long", "multiplier": "carry-save", "adder": "sklansky", "rounder": "compound"},
    ),
    "E-FDPA e4m3 e5m2 long": (
        {"operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RD-FP16", "zero": "ieee"},
        {
            "stages": 3, "accumulator": "long", "encoding": "twos-complement", "multiplier": "booth", "adder": "kogge-stone",
            "normaliser": "narrowing", "registers": ("multiply_rows", "normalise_count", "encode"),
        },
    ),
    "T-FDPA fp16 sticky": (
        {
            **_TRUNCATED, "a": "fp16", "b": "fp16", "L": 4, "F": 24, "rho": "RNE-FP32", "e_zero": -126, "sticky": True,
            "flush_results": True,
        },
        {},
    ),
    "T-FDPA e4m3 e5m2": (
        {**_TRUNCATED, "a": "e4m3", "b": "e5m2", "L": 8, "F": 13, "rho": "RZ-E8M13"},
        {"stages": 2, "encoding": "twos-complement", "reduction": "adder-tree", "leading_zeros": "anticipate"},
    ),
    "T-FDPA fp16 to fp16": (
        {**_TRUNCATED, "a": "fp16", "b": "fp16", "c": "fp16", "L": 8, "rho": "RNE-FP16", "e_zero": -21},
        {"encoding": "sign-magnitude", "max_exp": "pairwise", "result_exp": "parallel"},
    ),
    "ST-FDPA e5m2 e4m3": ({**_TRUNCATED, "operation": "ST-FDPA", "a": "e5m2", "b": "e4m3", "L": 8, "K_block": 8}, {}),
    "ST-FDPA e2m3 e3m2": (
        {
            **_TRUNCATED, "operation": "ST-FDPA", "a": "e2m3", "b": "e3m2", "c": "fp16", "L": 4, "K_block": 4, "F": 13,
            "rho": "RNE-FP16", "e_zero": -21,
        },
        {"stages": 3, "encoding": "sign-magnitude", "result_exp": "parallel"},
    ),
    "GST-FDPA e2m1": (
        {
            **_TRUNCATED, "operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "L": 16, "F": 35, "G": 8, "K_block": 8,
            "scale": "ue4m3", "e_zero": -139,
        },
        {},
    ),
    "GST-FDPA e4m3 e5m2": (
        {
            **_TRUNCATED, "operation": "GST-FDPA", "a": "e4m3", "b": "e5m2", "L": 4, "G": 2, "K_block": 2, "scale": "ue8m0",
            "rho": "RNE-FP32",
        },
        {"stages": 2, "encoding": "twos-complement", "max_exp": "pairwise"},
    ),
    "TR-FDPA bf16": ({"operation": "TR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 4, "F": 24, "F2": 31}, {}),
    "TR-FDPA fp16 RU": (
        {"operation": "TR-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "F": 24, "F2": 31, "rho": "RU-FP32"},
        {"stages": 4, "encoding": "sign-magnitude", "leading_zeros": "anticipate"},
    ),
    "GTR-FDPA e4m3fnuz e5m2fnuz": (
        {"operation": "GTR-FDPA", "a": "e4m3fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 8, "F": 24, "F2": 31},
        {},
    ),
    "GTR-FDPA e5m2fnuz": (
        {"operation": "GTR-FDPA", "a": "e5m2fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 4, "F": 24, "F2": 31},
        {"stages": 2, "encoding": "twos-complement", "reduction": "adder-tree", "result_exp": "parallel"},
    ),
    "OC-FDPA bf16": (
        {
            "operation": "OC-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP32",
            "e_zero": -126, "flush_inputs": True, "flush_results": True,
        },
        {},
    ),
    "OC-FDPA fp16 to fp16": (
        {
            "operation": "OC-FDPA", "a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP16",
            "e_zero": -14,
        },
        {"stages": 2, "encoding": "sign-magnitude", "max_exp": "pairwise", "result_exp": "parallel"},
    ),
    "PS-FDPA fp16": (
        {
            "operation": "PS-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "P": 2, "F": 26, "h": 2,
            "rho": "RNE-FP32", "e_zero": -126,
        },
        {"encoding": "twos-complement", "leading_zeros": "anticipate"},
    ),
    "PS-FDPA fp16 to fp16": (
        {
            "operation": "PS-FDPA", "a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "P": 2, "F": 26, "h": 2,
            "rho": "RNE-FP16", "e_zero": -14,
        },
        {"stages": 3, "reduction": "adder-tree"},
    ),
    "FTZ-FMA bf16": ({"operation": "FTZ-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2}, {}),
    "FTZ-FMA fp16": (
        {"operation": "FTZ-FMA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 1},
        {"stages": 2, "encoding": "sign-magnitude", "leading_zeros": "anticipate"},
    ),
    "FTZ-EO-FMA fp16": ({"operation": "FTZ-EO-FMA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2}, {}),
    "FTZ-EO-FMA bf16": (
        {"operation": "FTZ-EO-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 4},
        {"stages": 3, "encoding": "twos-complement", "reduction": "adder-tree"},
    ),
    "IDPA uint8 int8": ({"operation": "IDPA", "a": "uint8", "b": "int8", "c": "int32", "L": 4, "overflow": "saturate"}, {}),
    "IDPA int8": (
        {"operation": "IDPA", "a": "int8", "b": "int8", "c": "int32", "L": 4},
        {"stages": 2, "encoding": "twos-complement", "reduction": "adder-tree"},
    ),
}  # fmt: skip


def mutated_units() -> list[Unit]:
    """The units, at least one without registers and one with them for each operation."""
    return [
        Unit(name=name, operation=operation_from_table(table), implementation=Implementation(**built))
        for name, (table, built) in _MUTATED.items()
    ]


def of_kind(kind: type[Operation], operations: Iterable[Operation]) -> list[Operation]:
    """The operations of one class."""
    return [operation for operation in operations if operation.name == kind.name]
