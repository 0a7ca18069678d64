"""The coverage job: units that together show every published parameter set and every way to build a unit."""

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
    OPERATIONS,
    STFDPA,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)  # fmt: skip
from golden.operations.base import MAX_FRACTION, MULTIPLICANDS
from golden.unit import CIRCUIT_CHOICES, ENCODINGS
from rtl.designs.design import Design
from rtl.designs.own_keys import OWN_KEYS
from rtl.designs.samples import multi_format_designs, tile_designs

STAGES = (0, 1, 3, 8)
"""Combinational, one register, a few, the most."""

TRUNCATIONS = ("RZ", "RD")

PUBLISHED_MULTIPLICANDS = tuple(name for name in MULTIPLICANDS if name != "e4m3ieee")
"""Formats of a and b that published units have."""

DIRECTED_CONVERSIONS = tuple(name for name, rho in CONVERSIONS.items() if rho.mode not in ("RO", "RNA"))
"""Every ρ in a mode that published units have, or RD or RU."""


def coverage_units() -> list[Unit]:
    """Units for every published parameter set, then units off the catalogue for everything else, each operation apart.

    Off the catalogue every operation has all encodings × truncations (where it has that key), the numbers of stages in
    `STAGES`, L of 1, 3, 5 and 7 (where it has that key), F at both ends of what there is, and every format. Then every key
    that no published unit has.
    """
    kinds = OPERATIONS.values()
    further = [unit for kind in kinds for unit in further_units(kind)]
    own = [unit for kind in kinds for unit in own_key_units(kind)]
    return [*published_units(), *further, *own]


def coverage_job() -> list[Unit | Design]:
    """`coverage_units`, then datapaths of several formats in every encoding, and tiles of every kind."""
    return [*coverage_units(), *multi_format_designs(), *tile_designs()]


def published_units() -> list[Unit]:
    """One unit for each distinct set of parameters in the catalogue, the formats of a and b aside, each step built as it is
    by default: the matrix of `pairwise` over 32 products takes a compiler minutes."""
    builds = (Implementation(encoding=encoding, stages=stages) for encoding, stages in zip(cycle(ENCODINGS), cycle(STAGES)))
    return [replace(unit, implementation=next(builds)) for unit in parameter_set_units()]


def further_units(kind: type[Operation]) -> list[Unit]:
    """Small units of one operation, off the catalogue."""
    builds = _builds()
    return [
        Unit(name=f"{kind.name} {number}", operation=operation, implementation=next(builds))
        for number, operation in enumerate(_OPERATIONS[kind])
    ]


def own_key_units(kind: type[Operation]) -> list[Unit]:
    """Small units of one operation with the keys of units of one's own, and each operation's first in another encoding."""
    operations = OWN_KEYS.get(kind, [])
    builds = _builds(start=list(OPERATIONS.values()).index(kind))
    return [
        Unit(name=f"{kind.name} of one's own {number}", operation=operation, implementation=next(builds))
        for number, operation in enumerate(operations)
    ]


def _builds(start: int = 0) -> Iterator[Implementation]:
    """Implementations without end: encodings, stages and the choices for each step, each turning at its own pace."""
    for n in count(start):
        encoding = ENCODINGS[n % len(ENCODINGS)]
        turns = (n, n // 2, (n + 1) // 2, n // 3)  # of two choices each, any four in a row show both
        chosen = {
            key: choices[turn % len(choices)] for turn, (key, choices) in zip(turns, CIRCUIT_CHOICES.items(), strict=True)
        }
        yield Implementation(encoding=encoding, stages=STAGES[n % len(STAGES)], **chosen)


def _formats(number: int) -> dict[str, Any]:
    """a and b, such that five numbers in a row show every format."""
    start = 2 * number % len(PUBLISHED_MULTIPLICANDS)
    return {"a": PUBLISHED_MULTIPLICANDS[start], "b": PUBLISHED_MULTIPLICANDS[start + 1]}


def _fused(number: int) -> dict[str, Any]:
    """Keys of the truncated operations: six numbers show every encoding with every truncation, and what the lists hold."""
    return _formats(number) | {
        "L": (1, 3, 5, 7, 2, 4)[number],
        "F": (1, MAX_FRACTION, 25, 6, 40, 13)[number],
        "truncation": TRUNCATIONS[number // len(ENCODINGS)],
    }


def _converted(number: int, offset: int) -> dict[str, Any]:
    """c, rho and e_zero of the truncated operations of NVIDIA's kind."""
    return {
        "c": ("fp32", "fp16", "bf16")[number % 3],
        "rho": DIRECTED_CONVERSIONS[(6 * offset + number) % len(DIRECTED_CONVERSIONS)],
        "e_zero": (-133, -21, -300, 5, -139, -19)[number],
    }


def _rounded(number: int) -> dict[str, Any]:
    """The other keys of TR- and GTR-FDPA."""
    return {
        "c": "fp32",
        "F2": (31, 1, MAX_FRACTION, 12, 23, 31)[number],
        "rho": ("RNE-FP32", "RZ-FP16", "RU-BF16")[number % 3],
    }


def _blocks(number: int) -> dict[str, Any]:
    """G, K_block and scale of GST-FDPA for the L of `_fused`: one group or more, a scale for each, or for more than L."""
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
"""Operations off the catalogue."""
