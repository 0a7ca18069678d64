"""Designs of every kind, all small enough to be simulated and linted."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any, TypeVar
from zlib import crc32

import golden
from golden import Implementation, Unit
from golden.operations import TFDPA
from golden.units.unit import ENCODINGS
from rtl.designs.multi_format import WORD_16
from rtl.designs.multi_format_design import MultiFormatDesign
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
