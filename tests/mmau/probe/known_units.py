"""Units that are known, for the probe to find: parameters drawn at random from all that golden's rules admit, and a verdict.

`tests/mmau/probe` holds what the probe found to the unit that it was given.
"""

import random
from typing import Any

import numpy as np

from golden.arithmetic.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from golden.arithmetic.rounding import MODES
from golden.chains.chain import Chain
from golden.comparison import differing
from golden.device import Device
from golden.engines.engine import Batch, run
from golden.operations import OPERATIONS, Operation
from golden.operations.base import MULTIPLICANDS
from golden.operations.e_fdpa import ZEROS
from golden.operations.fma import NANS
from golden.operations.idpa import BEYOND_RANGE
from golden.stimulus import generate
from golden.units.unit import Unit
from mmau.probe.device_under_test import dut_of
from mmau.probe.loop import Finding, probe
from rtl.designs.sample_units import FURTHER, of_kind

FRESH = 1 << 17
"""Vectors that no probe has seen, on which what was found is compared with the truth."""

FRESH_SEED = 90_001

RECOVERED = ("same", "alike")

ACCUMULATORS = ("fp32", "fp16", "bf16")


EARLIER = (
    "FMA", "FTZ-AddMul", "E-FDPA", "T-FDPA", "ST-FDPA", "GST-FDPA", "TR-FDPA", "GTR-FDPA", "FTZ-FMA", "FTZ-EO-FMA", "IDPA",
)  # fmt: skip
"""Operations of the first units, in the order from which they are drawn: a new operation changes none of them."""

WITH_KEYS = (*EARLIER, "OC-FDPA", "PS-FDPA")
"""Operations whose keys are drawn here; any other one is drawn from its sample units."""

OF_EARLIER = 1000
"""The number of these units; later ones are drawn from the operations that came after."""


def random_unit(number: int) -> Unit:
    """The random unit of a number, always the same one."""
    rng = random.Random(f"unit {number}")
    later = [operation for operation in OPERATIONS if operation not in EARLIER]
    kind = rng.choice(EARLIER if number < OF_EARLIER else later)
    return Unit(name=f"random {number}", operation=random_operation(rng, kind))


def random_operation(rng: random.Random, name: str | None = None) -> Operation:
    """An operation, of that name or of any."""
    kind = name or rng.choice(list(OPERATIONS))
    if kind not in WITH_KEYS:
        return rng.choice(of_kind(OPERATIONS[kind], FURTHER))
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
    if kind in ("OC-FDPA", "PS-FDPA"):
        return _headroom_keys(rng, kind, keys)
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
        return keys | {"c": rng.choice(ACCUMULATORS), "zero": rng.choice(ZEROS)}
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


def _headroom_keys(rng: random.Random, kind: str, keys: dict[str, Any]) -> dict[str, Any]:
    """The keys of RDNA's operations."""
    L = _length(rng)
    keys |= {"L": L, "F": rng.randint(1, 40), "h": rng.randint(0, 3), "e_zero": rng.randint(-170, 60)}
    keys["rho"] = rng.choice([*CONVERSIONS, *TWO_STEP_CONVERSIONS])
    keys["c"] = rng.choice(ACCUMULATORS)
    return keys | ({"P": rng.choice([P for P in range(1, L + 1) if L % P == 0])} if kind == "PS-FDPA" else {})


def _length(rng: random.Random) -> int:
    return rng.choice((rng.randint(1, 9), rng.choice((1, 2, 4, 8, 16, 32)), rng.randint(1, 40)))


def verdict(finding: Finding, dut: Device, chain: Chain) -> str:
    """`same`: the truth, key by key. `alike`: other keys, and the same results on fresh vectors. `wrong`: other results.
    `unexplained`: the probe says itself that it has not found it."""
    if not finding.is_whole() or finding.model is None:
        return "unexplained"
    if finding.model.chain == chain:
        return "same"
    fresh = generate(dut.shape, FRESH, FRESH_SEED).operands
    d = run(None, chain, Batch(*fresh))
    differs = finding.model.differs(fresh, d) | differing(finding.model.run(fresh), d, chain.operation)
    return "wrong" if np.any(differs) else "alike"


def is_recovered(unit: Unit, vectors: int) -> bool:
    """Whether the probe finds a unit, or another with the same results, from so many vectors."""
    dut = dut_of(unit)
    return verdict(probe(dut, vectors), dut, Chain(unit.operation)) in RECOVERED
