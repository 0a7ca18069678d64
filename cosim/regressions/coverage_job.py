"""The coverage job: units that together have every published parameter set and every implementation option."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle
from typing import Any

from golden import Implementation, Operation, Unit
from golden.catalogue import parameter_set_units
from golden.conversion import CONVERSIONS
from golden.formats import BF16, FP16, FP32, FP64, INT8, INT32, UINT8
from golden.operations import (
    EFDPA,
    FMA,
    FTZEOFMA,
    FTZFMA,
    GSTFDPA,
    GTRFDPA,
    IDPA,
    OCFDPA,
    OPERATIONS,
    PSFDPA,
    STFDPA,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)  # fmt: skip
from golden.operations.base import MAX_FRACTION, MULTIPLICANDS
from golden.operations.headroom_fdpa import MAX_HEADROOM
from golden.unit import ACCUMULATORS, ADDERS, CIRCUIT_CHOICES, ENCODINGS, MULTIPLIERS, NORMALISERS, ROUNDERS
from rtl.designs.design import Design
from rtl.designs.sample_designs import multi_format_designs, tile_designs
from rtl.designs.unpublished_keys import OWN_KEYS

STAGES = (0, 1, 3, 8)
"""Numbers of pipeline stages: combinational, one register, a few, the maximum."""

TRUNCATIONS = ("RZ", "RD")

INSIDE = ("multiply_rows", "accumulate_rows", "normalise_count", "encode")
"""Registers inside of three steps, and the last one."""

PUBLISHED_MULTIPLICANDS = tuple(name for name in MULTIPLICANDS if name != "e4m3ieee")
"""Formats of a and b in published units."""

DIRECTED_CONVERSIONS = tuple(name for name, rho in CONVERSIONS.items() if rho.mode not in ("RO", "RNA"))
"""Every ρ with a rounding mode of published units, or RD or RU."""


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
        for number, operation in enumerate(_OPERATIONS[kind])
    ]


def unpublished_key_units(kind: type[Operation]) -> list[Unit]:
    """Small units of one operation with keys that no published unit has; the first encoding differs between operations."""
    operations = OWN_KEYS.get(kind, [])
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


def _formats(number: int) -> dict[str, Any]:
    """Formats of a and b, such that five consecutive numbers have every format."""
    start = 2 * number % len(PUBLISHED_MULTIPLICANDS)
    return {"a": PUBLISHED_MULTIPLICANDS[start], "b": PUBLISHED_MULTIPLICANDS[start + 1]}


def _fused(number: int) -> dict[str, Any]:
    """Keys of the truncated operations: six numbers have every encoding with every truncation, and every value below."""
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
    """Keys of OC- and PS-FDPA, but L and P: five numbers have every format, both flushes, h at both ends of its range."""
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


_OPERATIONS: dict[type[Operation], list[Operation]] = {
    FMA: [FMA(a=f, b=f, c=f) for f in (FP32, FP64, FP64, FP32)],
    FTZAddMul: [FTZAddMul(a=f, b=f, c=FP32, P=P) for f, P in ((FP16, 1), (BF16, 2), (FP16, 4), (BF16, 1))],
    EFDPA: [
        EFDPA(**_formats(n), c=FP32, L=L, rho=rho)
        for n, (L, rho) in enumerate([(1, "RNE-FP32"), (3, "RD-FP16"), (5, "RU-FP32"), (7, "RZ-BF16"), (2, "RNE-FP16")])
    ],
    TFDPA: [TFDPA(**_fused(n), **_converted(n, 0)) for n in range(6)],
    STFDPA: [STFDPA(**_fused(n), **_converted(n, 1), K_block=(1, 6, 5, 1, 2, 2)[n]) for n in range(6)],
    GSTFDPA: [GSTFDPA(**_fused(n), **_converted(n, 2), **_blocks(n)) for n in range(6)],
    TRFDPA: [TRFDPA(**_fused(n), **_rounded(n)) for n in range(6)],
    GTRFDPA: [GTRFDPA(**_fused(n), **_rounded(n)) for n in range(6)],
    OCFDPA: [OCFDPA(**_headroom(n), L=(2, 1, 3, 5, 7, 2)[n]) for n in range(6)],
    PSFDPA: [PSFDPA(**_headroom(n), L=(4, 1, 3, 5, 7, 6)[n], P=(2, 1, 3, 1, 7, 2)[n]) for n in range(6)],
    FTZFMA: [FTZFMA(a=f, b=f, c=FP32, L=L) for f, L in ((BF16, 1), (FP16, 2), (BF16, 3), (FP16, 1), (BF16, 5))],
    FTZEOFMA: [FTZEOFMA(a=f, b=f, c=FP32, L=L) for f, L in ((FP16, 2), (BF16, 4), (FP16, 6), (BF16, 2))],
    IDPA: [
        IDPA(a=INT8, b=INT8, c=INT32, L=1, overflow="saturate"),
        IDPA(a=UINT8, b=UINT8, c=INT32, L=3, overflow="wrap"),
        IDPA(a=INT8, b=UINT8, c=INT32, L=5, overflow="saturate"),
        IDPA(a=UINT8, b=INT8, c=INT32, L=64, overflow="wrap"),
        IDPA(a=UINT8, b=UINT8, c=INT32, L=7, overflow="saturate"),
    ],
}
"""Operations outside the catalogue."""
