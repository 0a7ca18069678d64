"""Units with parameters drawn at random from all that golden's rules admit, to try the probe on what it has never seen."""

import random
from typing import Any

from golden.chain import ADD_C, CHAIN_ORDERS, CONVERTED, ChainTable
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from golden.formats import FORMATS
from golden.operations import OPERATIONS, Operation
from golden.operations.base import MULTIPLICANDS
from golden.operations.e_fdpa import ZEROS
from golden.operations.fma import NANS
from golden.operations.idpa import BEYOND_RANGE
from golden.rounding import MODES
from golden.unit import Unit
from golden.unit_file import operation_from_table

ACCUMULATORS = ("fp32", "fp16", "bf16")


EARLIER = (
    "FMA", "FTZ-AddMul", "E-FDPA", "T-FDPA", "ST-FDPA", "GST-FDPA", "TR-FDPA", "GTR-FDPA", "FTZ-FMA", "FTZ-EO-FMA", "IDPA",
)  # fmt: skip
"""Operations of the sweep's first units, in the order from which they are drawn: a new operation changes none of them."""

OF_EARLIER = 1000
"""The number of these units; later ones are drawn from the operations that came after."""


def random_unit(number: int, name: str) -> Unit:
    """The random unit of a number, the same one in every sweep."""
    rng = random.Random(f"unit {number}")
    later = [operation for operation in OPERATIONS if operation not in EARLIER]
    kind = rng.choice(EARLIER if number < OF_EARLIER else later)
    return Unit(name=name, operation=random_operation(rng, kind))


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


def random_chained_unit(rng: random.Random, name: str) -> Unit:
    """A unit with a table [chain] other than the default: any that golden's rules admit, of any operation."""
    while True:
        operation = random_operation(rng)
        converts = rng.randrange(3) == 0
        order, add_c = rng.choice(CHAIN_ORDERS), rng.choice(ADD_C)
        try:
            if converts:
                operation = operation.changed(a="fp16", b="fp16")
            table = ChainTable(convert="fp16" if converts else None, order=order, add_c=add_c)
            converted = (FORMATS[rng.choice(CONVERTED)], FORMATS[rng.choice(CONVERTED)]) if converts else None
            unit = Unit(name=name, operation=operation, chain=table, converted=converted)
            unit.chain_over(unit.usual_K)
            operation.accumulating()
        except ValueError:  # scales, or no format in which sums are added
            continue
        if table != ChainTable() and operation.name != "IDPA":  # whose sums are exact in every order
            return unit


TABLES: tuple[ChainTable, ...] = (
    *(ChainTable(order=order) for order in CHAIN_ORDERS if order != "in-order"),
    ChainTable(add_c="last"),
    ChainTable(convert="fp16"),
    ChainTable(add_c="last", addition="RO"),
    ChainTable(subtract=True),
    ChainTable(order="even-and-odd", addition="RD"),
    ChainTable(convert="fp16", order="pairs-of-four", add_c="last"),
    *(ChainTable(order=order, add_c="last") for order in CHAIN_ORDERS if order != "in-order"),
)
"""Every order, c at either end, and of the other keys of a table [chain] each value that acts on its own."""

TABLED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("T-FDPA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "F": 24, "rho": "RZ-FP32", "e_zero": -132}),
    ("FMA", {"a": "bf16", "b": "bf16", "c": "fp32"}),
)
"""The operations of `table_unit`: fused steps of four products, and single ones."""


def table_unit(number: int) -> Unit:
    """A unit of each of `TABLED`, with the parameters of a published one, under each of `TABLES`."""
    (name, keys), table = TABLED[number % len(TABLED)], TABLES[number // len(TABLED)]
    if table.convert is not None and name == "FMA":  # which multiplies fp16 with c of fp16 alone
        keys = dict.fromkeys(keys, "fp16")
    operation = operation_from_table({"operation": name, **keys})
    converted = None if table.convert is None else (FORMATS["e4m3"], FORMATS["e5m2"])
    changed = ", ".join(f"{key} = {value}" for key, value in table.changed().items())
    return Unit(name=f"{name}, {changed}", operation=operation, chain=table, converted=converted)


def _length(rng: random.Random) -> int:
    return rng.choice((rng.randint(1, 9), rng.choice((1, 2, 4, 8, 16, 32)), rng.randint(1, 40)))
