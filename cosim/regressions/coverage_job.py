"""The coverage job: units that together have every published parameter set and every implementation option."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle
from typing import Any

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
from rtl.designs.sample_designs import multi_format_designs, tile_designs
from rtl.designs.sample_units import FURTHER, OWN_KEYS, of_kind

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
