"""Units with parameters drawn at random from all that golden's rules admit, to try the probe on what it has never seen."""

import random
from typing import Any

from golden.conversion import CONVERSIONS, FP64_CONVERSIONS
from golden.operations import OPERATIONS, Operation
from golden.operations.base import MULTIPLICANDS
from golden.operations.fma import NANS
from golden.operations.idpa import BEYOND_RANGE
from golden.rounding import MODES

ACCUMULATORS = ("fp32", "fp16", "bf16")


def random_operation(rng: random.Random, name: str | None = None) -> Operation:
    """An operation, of that name or of any."""
    kind = name or rng.choice(list(OPERATIONS))
    while True:
        try:
            return OPERATIONS[kind](**_keys(rng, kind))
        except ValueError:  # keys that do not go together: both sticky and RO, or blocks and lengths
            continue


def _keys(rng: random.Random, kind: str) -> dict[str, Any]:
    keys: dict[str, Any] = {"a": rng.choice(MULTIPLICANDS), "b": rng.choice(MULTIPLICANDS), "c": "fp32"}
    if kind == "FTZ-AddMul":
        one = rng.choice(("fp16", "bf16"))
        return {"a": one, "b": one, "c": "fp32", "P": 1 << rng.randrange(5)}
    if kind in ("FTZ-FMA", "FTZ-EO-FMA"):
        one = rng.choice(("fp16", "bf16"))
        return {"a": one, "b": one, "c": "fp32", "L": _length(rng)}
    if kind == "IDPA":
        a, b = rng.choice(("int8", "uint8")), rng.choice(("int8", "uint8"))
        return {"a": a, "b": b, "c": "int32", "L": _length(rng), "overflow": rng.choice(BEYOND_RANGE)}
    keys |= {
        "flush_inputs": rng.randrange(3) == 0, "flush_results": rng.randrange(3) == 0,
        "overflow": rng.choice(("infinity", "infinity", "saturate", "by-mode")),
    }  # fmt: skip
    if kind == "FMA":
        one = rng.choice(("fp16", "bf16", "fp32", "fp64"))
        names = [name for name, rho in (CONVERSIONS | FP64_CONVERSIONS).items() if rho.d.name == one]
        rho = rng.choice([name for name in names if name != "RZ-E8M13"])
        return keys | dict.fromkeys("abc", one) | {"rho": rho, "nan": rng.choice(NANS)}
    keys |= {"L": _length(rng), "rho": rng.choice([*CONVERSIONS, *(f"{mode}-FP32" for mode in MODES)])}
    if kind == "E-FDPA":
        return keys | {"c": rng.choice(ACCUMULATORS)}
    keys["F"] = rng.choice((rng.randint(1, 40), rng.randint(10, 27), rng.randint(1, 128)))
    if kind in ("TR-FDPA", "GTR-FDPA"):
        F2 = rng.choice((rng.randint(1, 40), rng.randint(10, 32), rng.randint(1, 128)))
        return keys | {"F2": F2, "truncation": rng.choice(("RD", "RZ"))}
    keys |= {
        "c": rng.choice(ACCUMULATORS),
        "e_zero": rng.choice((rng.randint(-170, 60), rng.randint(-170, -20), rng.randint(-1024, 1024))),
        "truncation": rng.choice(("RZ", "RZ", "RD", "RO")), "sticky": rng.randrange(3) == 0,
    }  # fmt: skip
    if kind == "T-FDPA":
        return keys
    small = rng.choice((1, 2, 3, 4, 8, 16))
    keys |= {"L": small * rng.choice((1, 2, 4)), "K_block": small * rng.choice((1, 2, 4))}
    if kind == "ST-FDPA":
        return keys
    divisors = [G for G in range(1, small + 1) if small % G == 0]
    return keys | {"G": rng.choice(divisors), "scale": rng.choice(("ue8m0", "ue4m3"))}


def _length(rng: random.Random) -> int:
    return rng.choice((rng.randint(1, 9), rng.choice((1, 2, 4, 8, 16, 32)), rng.randint(1, 40)))
