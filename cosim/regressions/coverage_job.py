"""The designs of two regressions: the main job (`make cosim`), a few of every kind, and the coverage job (`make coverage`),
units that together have every published parameter set and every implementation option.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle
from typing import Any

import golden
from golden import Implementation, Operation, Unit
from golden.catalogue import parameter_set_units
from golden.operations import (
    EFDPA,
    FMA,
    FTZFMA,
    OCFDPA,
    OPERATIONS,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)  # fmt: skip
from golden.units.unit import ACCUMULATORS, ADDERS, CIRCUIT_CHOICES, ENCODINGS, MULTIPLIERS, NORMALISERS, ROUNDERS
from rtl.designs.design import Design
from rtl.designs.sample_units import FURTHER, OWN_KEYS, multi_format_designs, of_kind, tile_designs

_UNITS: tuple[tuple[str, str, str, int], ...] = (
    ("sm_70", "mma.m8n8k4.f32.f16.f16.f32", "sign-magnitude", 0),
    ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", "twos-complement", 2),
    ("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32", "ones-complement", 0),
    ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", "sign-magnitude", 4),
    ("sm_90", "mma.m16n8k16.f32.bf16.bf16.f32", "twos-complement", 0),
    ("sm_90", "mma.m16n8k16.f16.f16.f16.f16", "sign-magnitude", 1),
    ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3", "twos-complement", 3),
    ("sm_100", "tcgen05.m64n8k32.kind::f8f6f4.f32.e3m2.e2m3", "sign-magnitude", 8),
    ("sm_100", "tcgen05.m64n8k32.kind::f8f6f4.f32.e2m1.e2m1", "ones-complement", 0),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e5m2.ue8m0", "ones-complement", 5),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "sign-magnitude", 6),
    ("sm_80", "mma.m8n8k4.f64.f64.f64.f64", "sign-magnitude", 3),
    ("gfx908", "v_mfma_f32_32x32x1f32", "twos-complement", 0),
    ("gfx908", "v_mfma_f32_32x32x4f16", "ones-complement", 0),
    ("gfx90a", "v_mfma_f32_32x32x4f16", "sign-magnitude", 7),
    ("gfx942", "v_mfma_f32_16x16x16_f16", "twos-complement", 0),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_bf8", "ones-complement", 4),
    ("x86-amx", "tdpbf16ps.m16n16k4", "sign-magnitude", 3),
    ("x86-amx", "tdpbsud.m16n16k16", "ones-complement", 0),
    ("x86-avx512", "vdpbf16ps", "twos-complement", 0),
    ("x86-avx512", "vpdpbusds", "ones-complement", 1),
    ("x86-avx512", "vfmaddph", "ones-complement", 2),
    ("gfx1100", "v_wmma_f32_16x16x16_bf16_w32", "ones-complement", 0),
    ("gfx1100", "v_wmma_f16_16x16x16_f16_w32", "twos-complement", 2),
    ("gfx1201", "v_wmma_f32_16x16x16_f16_w32", "sign-magnitude", 3),
    ("gfx1201", "v_dot2_bf16_bf16", "twos-complement", 0),
)
"""Architecture, instruction, encoding, pipeline stages: every operation, every kind of T-FDPA, every option."""


def main_job() -> list[Unit | Design]:
    """The main job: units, each one step of an instruction; a multi-format datapath; and a tile of two steps."""
    return [*main_units(), multi_format_designs()[1], tile_designs()[1]]


def main_units() -> list[Unit]:
    """The units of the main job."""
    return [
        Unit(
            name=f"{arch} {name}",
            operation=golden.instruction(arch, name).operation,
            implementation=Implementation(encoding=encoding, stages=stages),
        )
        for arch, name, encoding, stages in _UNITS
    ]


STAGES = (0, 1, 3, 8)
"""Numbers of pipeline stages: combinational, one register, a few, the maximum."""

INSIDE = ("multiply_rows", "accumulate_rows", "normalise_count", "encode")
"""Registers inside of three steps, and the last one."""


def coverage_units() -> list[Unit]:
    """Units for every published parameter set, then units outside the catalogue for all other options of each operation.

    Outside the catalogue every operation has all encodings × truncations (where it has that key), the numbers of stages in
    `STAGES`, L of 1, 3, 5 and 7 (where it has that key), F at both ends of its range, and every format; then every key that
    no published unit has, every shape of the last adder, every multiplier, every other way to normalise, to round and to
    hold an exact sum, and registers inside of steps.
    """
    kinds = OPERATIONS.values()
    further = [unit for kind in kinds for unit in further_units(kind)]
    unpublished = [unit for kind in kinds for unit in unpublished_key_units(kind)]
    others = [*adder_units(), *multiplier_units(), *rounding_units(), *cut_units()]
    return [*published_units(), *further, *unpublished, *others]


def coverage_job() -> list[Unit | Design]:
    """The coverage job: `coverage_units`, multi-format datapaths in every encoding, and tiles of every kind."""
    return [*coverage_units(), *multi_format_designs(), *tile_designs()]


def published_units() -> list[Unit]:
    """One unit for each distinct set of parameters in the catalogue, ignoring the formats of a and b, with the default
    implementation of each step: the matrix of `pairwise` over 32 products takes a compiler minutes."""
    builds = (Implementation(encoding=encoding, stages=stages) for encoding, stages in zip(cycle(ENCODINGS), cycle(STAGES)))
    return [replace(unit, implementation=next(builds)) for unit in parameter_set_units()]


def further_units(kind: type[Operation]) -> list[Unit]:
    """Small units of one operation, outside the catalogue."""
    builds = _builds()
    return [
        Unit(name=f"{kind.name} {number}", operation=operation, implementation=next(builds))
        for number, operation in enumerate(of_kind(kind, FURTHER))
    ]


def unpublished_key_units(kind: type[Operation]) -> list[Unit]:
    """Small units of one operation with keys that no published unit has; the first encoding differs between operations."""
    operations = of_kind(kind, OWN_KEYS)
    builds = _builds(start=list(OPERATIONS.values()).index(kind))
    return [
        Unit(name=f"{kind.name} of one's own {number}", operation=operation, implementation=next(builds))
        for number, operation in enumerate(operations)
    ]


def adder_units() -> list[Unit]:
    """Small units with every last adder but the default: one sum, a sum of two, two sums, and a sum in the frame of c."""
    return [
        replace(unit, name=f"{unit.name} {adder}", implementation=replace(unit.implementation, adder=adder))
        for kind in (TFDPA, FMA, TRFDPA, OCFDPA)
        for unit, adder in zip(further_units(kind)[1:], ADDERS[1:], strict=False)
    ]


def multiplier_units() -> list[Unit]:
    """Small units with every multiplier but the default: products alone, in a sum as rows, rounded, and flushed."""
    return [
        replace(
            unit, name=f"{unit.name} {made}", implementation=replace(unit.implementation, multiplier=made, encoding=encoding)
        )
        for kind, encoding in (
            (TFDPA, "twos-complement"),
            (FMA, "ones-complement"),
            (TRFDPA, "sign-magnitude"),
            (FTZFMA, "ones-complement"),
        )
        for unit, made in zip(further_units(kind)[2:], MULTIPLIERS[1:], strict=False)
    ]


def cut_units() -> list[Unit]:
    """Small units with a register inside of every step that can have one, with every multiplier and in every encoding."""
    kinds: tuple[type[Operation], ...] = (TFDPA, EFDPA, FMA)
    return [
        replace(
            further_units(kind)[1],
            name=f"{kind.name} with registers inside of steps",
            implementation=Implementation(encoding=encoding, multiplier=made, stages=len(INSIDE), registers=INSIDE),
        )
        for kind, encoding, made in zip(kinds, ENCODINGS, MULTIPLIERS, strict=True)
    ]


def rounding_units() -> list[Unit]:
    """Small units with a narrowing normaliser and a compound rounding: one sum, a sum in the frame of c, rounded and flushed
    additions; with a long accumulator, exact sums."""
    later: dict[str, Any] = {"normaliser": NORMALISERS[1], "rounder": ROUNDERS[1], "accumulator": ACCUMULATORS[1]}
    return [
        replace(unit, name=f"{unit.name} narrowing", implementation=replace(unit.implementation, encoding=encoding, **later))
        for kind in (EFDPA, FMA, TFDPA, OCFDPA, FTZAddMul, FTZFMA)
        for unit, encoding in zip(further_units(kind)[3:], ENCODINGS, strict=False)
    ]


def _builds(start: int = 0) -> Iterator[Implementation]:
    """An endless sequence of implementations: encodings, stages and options for each step, each with its own period."""
    for n in count(start):
        encoding = ENCODINGS[n % len(ENCODINGS)]
        turns = (n, n // 2, (n + 1) // 2, n // 3)  # any four consecutive numbers have both options of each key
        chosen: dict[str, Any] = {
            key: choices[turn % len(choices)] for turn, (key, choices) in zip(turns, CIRCUIT_CHOICES.items(), strict=True)
        }
        yield Implementation(encoding=encoding, stages=STAGES[n % len(STAGES)], **chosen)
