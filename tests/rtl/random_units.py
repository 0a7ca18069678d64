"""Units off the catalogue, drawn at random but the same in every run."""

import random
from collections.abc import Callable
from typing import Any

from golden import Implementation, Operation, Unit
from golden.arithmetic.conversion import CONVERSIONS, TWO_STEP_CONVERSIONS, conversion, conversions_to
from golden.arithmetic.formats import FORMATS
from golden.arithmetic.rounding import MODES, OVERFLOWS
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
    OPERATIONS,
    PSFDPA,
    STFDPA,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)  # fmt: skip
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from rtl.designs.sample_units import FURTHER, of_kind

MULTIPLICANDS = ["tf32", "bf16", "fp16", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "e4m3fnuz", "e5m2fnuz", "e4m3ieee"]


def truncated(rng: random.Random) -> dict[str, Any]:
    """The keys that T-, ST- and GST-FDPA share, but L."""
    return formats(rng) | {
        "F": rng.randint(6, 40),
        "rho": rng.choice(list(CONVERSIONS)),
        "e_zero": rng.choice([-300, -139, -133, -126, -60, -21, -19, 0, 5]),
        "truncation": rng.choice(["RZ", "RD"]),
    }


def formats(rng: random.Random) -> dict[str, Any]:
    return {"a": rng.choice(MULTIPLICANDS), "b": rng.choice(MULTIPLICANDS), "c": rng.choice(["fp32", "fp16", "bf16"])}


def rounded(rng: random.Random) -> dict[str, Any]:
    """The keys of TR- and GTR-FDPA."""
    return formats(rng) | {
        "c": "fp32",
        "L": rng.choice([1, 2, 3, 4, 5]),
        "F": rng.randint(6, 40),
        "F2": rng.randint(6, 40),
        "rho": rng.choice(list(CONVERSIONS)),
        "truncation": rng.choice(["RZ", "RD"]),
    }


def grouped(rng: random.Random) -> dict[str, Any]:
    """The keys of GST-FDPA: one or two groups, a scale for each, for all, or for more than the unit sees."""
    group, groups = rng.choice([1, 2, 3]), rng.choice([1, 2])
    keys = {"G": group, "L": group * groups, "K_block": group * rng.choice([1, groups, 2 * groups])}
    return truncated(rng) | keys | {"scale": rng.choice(["ue8m0", "ue4m3", "fp16", "e5m2", "e4m3fnuz"])}


def headroom(rng: random.Random) -> dict[str, Any]:
    """The keys that OC- and PS-FDPA share, but L; an h above F + 1 leaves nothing of any product."""
    rho = rng.choice([*CONVERSIONS, *TWO_STEP_CONVERSIONS])
    return formats(rng) | {
        "c": str(conversion(rho).d),
        "F": rng.choice([1, 6, 13, 24, 26, 40]),
        "h": rng.choice([0, 1, 2, 2, 3, 8]),
        "rho": rho,
        "e_zero": rng.choice([-300, -126, -126, -14, 0, 5]),
        "flush_inputs": rng.random() < 0.5,
        "flush_results": rng.random() < 0.5,
    }


def ps_fdpa(rng: random.Random) -> Operation:
    P = rng.choice([1, 2, 2, 3])
    return PSFDPA(**headroom(rng), L=P * rng.choice([1, 2]), P=P)


def fma(rng: random.Random) -> Operation:
    name = rng.choice(["fp16", "bf16", "fp32", "fp64"])
    return FMA(a=name, b=name, c=name, rho=rng.choice(conversions_to(FORMATS[name])))  # type: ignore[arg-type]


def ieee(of: type[MUL]) -> Callable[[random.Random], Operation]:
    def make(rng: random.Random) -> Operation:
        name = rng.choice(["fp16", "bf16", "fp32", "fp64"])
        return of(a=name, b=name, rho=rng.choice(conversions_to(FORMATS[name])))  # type: ignore[arg-type]

    return make


def cvt(rng: random.Random) -> Operation:
    a = rng.choice(["fp16", "bf16", "fp32", "fp64", "e4m3", "e5m2", "e4m3fnuz", "tf32"])
    to = rng.choice(["fp16", "bf16", "fp32", "fp64", "e4m3", "e5m2", "e5m2fnuz", "tf32"])
    return CVT(a=a, rho=f"{rng.choice(MODES)}-{to.upper()}")  # type: ignore[arg-type]


def ftz_addmul(rng: random.Random) -> Operation:
    name = rng.choice(["fp16", "bf16"])
    return FTZAddMul(a=name, b=name, c="fp32", P=rng.choice([1, 2, 4]))  # type: ignore[arg-type]


def flushed(rng: random.Random, lengths: list[int]) -> dict[str, Any]:
    """The keys of FTZ-FMA and FTZ-EO-FMA."""
    name = rng.choice(["fp16", "bf16"])
    return {"a": name, "b": name, "c": "fp32", "L": rng.choice(lengths)}


def idpa(rng: random.Random) -> Operation:
    a, b = rng.choice(["int8", "uint8"]), rng.choice(["int8", "uint8"])
    overflow = rng.choice(["wrap", "saturate"])
    return IDPA(a=a, b=b, c="int32", L=rng.choice([1, 2, 3, 4, 7]), overflow=overflow)  # type: ignore[arg-type]


MAKERS: dict[str, Callable[[random.Random], Operation]] = {
    "FMA": fma,
    "FTZ-AddMul": ftz_addmul,
    "E-FDPA": lambda rng: EFDPA(**formats(rng), L=rng.choice([1, 2, 3]), rho=rng.choice(list(CONVERSIONS))),
    "T-FDPA": lambda rng: TFDPA(**truncated(rng), L=rng.choice([1, 2, 3, 4, 5, 7])),
    "ST-FDPA": lambda rng: STFDPA(**truncated(rng), L=rng.choice([1, 2, 4]), K_block=rng.choice([1, 2, 4, 8])),
    "GST-FDPA": lambda rng: GSTFDPA(**grouped(rng)),
    "TR-FDPA": lambda rng: TRFDPA(**rounded(rng)),
    "GTR-FDPA": lambda rng: GTRFDPA(**rounded(rng)),
    "OC-FDPA": lambda rng: OCFDPA(**headroom(rng), L=rng.choice([1, 2, 3, 5])),
    "PS-FDPA": ps_fdpa,
    "FTZ-FMA": lambda rng: FTZFMA(**flushed(rng, [1, 2, 3])),
    "FTZ-EO-FMA": lambda rng: FTZEOFMA(**flushed(rng, [2, 4])),
    "IDPA": idpa,
    "MUL": ieee(MUL),
    "ADD": ieee(ADD),
    "CVT": cvt,
}
"""Operation name to a maker of random operations."""


def _maker_from_samples(kind: type[Operation]) -> Callable[[random.Random], Operation]:
    return lambda rng: rng.choice(of_kind(kind, FURTHER))


MAKERS |= {name: _maker_from_samples(kind) for name, kind in OPERATIONS.items() if name not in MAKERS}
"""An operation without a maker of its own has its sample units."""


WITH_OWN_KEYS = [name for name in MAKERS if "flush_results" in OPERATIONS[name].unit_keys()]
"""Operations that take the keys of units of one's own."""


def random_unit(operation: str, seed: int, stages: int = 0) -> Unit:
    """A unit of that operation."""
    rng = random.Random(f"{operation} {seed}")
    made = MAKERS[operation](rng)
    implementation = Implementation(encoding=ENCODINGS[seed % len(ENCODINGS)], stages=stages)
    return Unit(name=f"{operation}-{seed}", operation=made, implementation=implementation)


def random_unit_of_ones_own(operation: str, seed: int, stages: int = 0) -> Unit:
    """A unit of that operation that flushes, saturates or keeps a sticky bit, built in any way."""
    rng = random.Random(f"{operation} {seed} of one's own")
    made = MAKERS[operation](rng)
    keys: dict[str, Any] = {key: rng.random() < 0.5 for key in ("flush_inputs", "flush_results")}
    keys["overflow"] = rng.choice(OVERFLOWS)
    if "sticky" in made.own_keys:
        keys |= rng.choice([{"sticky": True}, {"sticky": True}, {"truncation": "RO"}])
    ways: dict[str, Any] = {key: rng.choice(choices) for key, choices in {**CIRCUIT_CHOICES, **LATER_KEYS}.items()}
    implementation = Implementation(encoding=ENCODINGS[seed % len(ENCODINGS)], stages=stages, **ways)
    return Unit(name=f"{operation}-{seed}-own", operation=made.changed(**keys), implementation=implementation)
