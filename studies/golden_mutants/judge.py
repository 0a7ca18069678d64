"""Who notices a mutation of golden on boundary rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import Any

from studies.golden_mutants.boundary_rows import BoundaryUnit
from studies.golden_mutants.mutations import Mutation, mutations
from studies.golden_mutants.witnesses import (
    LOADING,
    SPECIFICATION_MODULES,
    SPECIFYING,
    Specified,
    entered,
    golden_results,
    limited,
    native_results,
    operation_or_none,
    run_rows,
    specify,
    twin_agrees,
)
from studies.symbolic.model_copy import Modules, copied

FORMATS: dict[str, tuple[int | None, ...]] = {
    "fp64": (
        64,
        52,
        -1022,
        1023,
        0x7FEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0x7FF8_0000_0000_0000,
        0x8000_0000_0000_0000,
    ),
    "fp32": (32, 23, -126, 127, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0000, 0x8000_0000),
    "tf32": (32, 10, -126, 127, 0x7F7F_E000, 0x7F80_0000, 0x7FC0_0000, 0x8000_0000),
    "fp16": (16, 10, -14, 15, 0x7BFF, 0x7C00, 0x7E00, 0x8000),
    "bf16": (16, 7, -126, 127, 0x7F7F, 0x7F80, 0x7FC0, 0x8000),
    "e5m2": (8, 2, -14, 15, 0x7B, 0x7C, 0x7E, 0x80),
    "e4m3": (8, 3, -6, 8, 0x7E, None, 0x7F, 0x80),
    "e4m3ieee": (8, 3, -6, 7, 0x77, 0x78, 0x7C, 0x80),
    "e4m3fnuz": (8, 3, -7, 7, 0x7F, None, 0x80, 0),
    "e5m2fnuz": (8, 2, -15, 15, 0x7F, None, 0x80, 0),
    "e3m2": (6, 2, -2, 4, 0x1F, None, None, 0x20),
    "e2m3": (6, 3, 0, 2, 0x1F, None, None, 0x20),
    "e2m1": (4, 1, 0, 2, 0x07, None, None, 0x08),
    "ue8m0": (8, 0, -127, 127, 0xFE, None, 0xFF, 0),
    "ue4m3": (8, 3, -6, 8, 0x7E, None, 0x7F, 0),
    "int8": (8, 0, 0, 0, 127, None, None, 0),
    "uint8": (8, 0, 0, 0, 255, None, None, 0),
    "int4": (4, 0, 0, 0, 7, None, None, 0),
    "uint4": (4, 0, 0, 0, 15, None, None, 0),
    "b1": (1, 0, 0, 0, 1, None, None, 0),
    "int32": (32, 0, 0, 0, 0x7FFF_FFFF, None, None, 0),
    "e8m13": (32, 13, -126, 127, 0x7F7F_FC00, 0x7F80_0000, 0x7FC0_0000, 0x8000_0000),
}
"""Format name to width, man_bits, e_min, e_max, and the codes of the largest number, +∞, the quiet NaN and −0 (section
2)."""

NANS: dict[str, dict[str, int]] = {
    "nvidia_nan": {"fp32": 0x7FFF_FFFF, "fp16": 0x7FFF, "bf16": 0x7FFF},
    "quiet_nan": {"fp64": 0x7FF8_0000_0000_0000, "fp32": 0x7FC0_0000, "fp16": 0x7E00, "bf16": 0x7FC0},
    "factor_nan": {"fp32": 0xFFC0_0A3D, "fp16": 0xFE3D, "bf16": 0xFFFD},
    "invalid_nan": {"fp64": 0xFFF8_0000_0000_0000, "fp32": 0xFFC0_0000, "fp16": 0xFE00, "bf16": 0xFFC0},
}
"""Function of golden.arithmetic.specials to the NaN of each format (sections 3, 5, 11 and 12)."""

MODES = ("RZ", "RNE", "RD", "RU", "RO", "RNA")

STAYS_FINITE = {
    "infinity": ((), ()),
    "saturate": (MODES, MODES),
    "by-mode": (("RZ", "RD", "RO"), ("RZ", "RU", "RO")),
}
"""Key `overflow` to the modes in which a positive and a negative sum beyond the range is the largest number (section 13)."""

FLUSHES = {"flush_inputs": False, "flush_results": False, "overflow": "infinity"}

TRUNCATED = {"truncation": "RZ", "sticky": False, **FLUSHES}

UNSCALED = {"K_block": 0, "scale": None, "scales": "both"}

ROUNDED = {"rho": "RNE-FP32", "truncation": "RD", **UNSCALED, **FLUSHES}

EXACT = {"flags": False, "tininess": "after", "beside_nan": "invalid", **FLUSHES}

IEEE = {"rho": None, "nan": "quiet", **EXACT}

DEFAULTS: dict[str, dict[str, Any]] = {
    "T-FDPA": TRUNCATED,
    "ST-FDPA": {"K_block": 32, "scale": "ue8m0", "scales": "both", **TRUNCATED},
    "GST-FDPA": {"scales": "both", **TRUNCATED},
    "E-FDPA": {"rho": "RNE-FP32", "zero": "positive", **UNSCALED, **EXACT},
    "TR-FDPA": ROUNDED,
    "GTR-FDPA": ROUNDED,
    "FMA": IEEE,
    "MUL": IEEE,
    "ADD": IEEE,
    "CVT": {"nan": "quiet", "nar": False, **EXACT},
    "OC-FDPA": FLUSHES,
    "PS-FDPA": FLUSHES,
    "IDPA": {"overflow": "wrap", "combination": "multiply"},
}
"""Operation to its keys that have a default, as the unit file of docs/reference/file-formats.md has them."""


def defaults_of(name: str, keys: Collection[str]) -> dict[str, Any]:
    """The keys of an operation that have a default: those written here, else the keys for user designs, if any."""
    return DEFAULTS.get(name, FLUSHES if "flush_inputs" in keys else {})


def differences(modules: Mapping[str, ModuleType]) -> Iterator[str]:
    """Changes of modules of golden, or of a copy.

    Args:
        modules: by name; `formats`, `specials`, `rounding` and `conversion` of golden.arithmetic, `golden.operations`, and
            its `tr_fdpa` and `flushed_fma` among them.
    """
    formats = {fmt.name: fmt for fmt in vars(modules["golden.arithmetic.formats"]).values() if hasattr(fmt, "man_bits")}
    for name, literals in FORMATS.items():
        f = formats[name]
        found = (f.width, f.man_bits, f.e_min, f.e_max, f.max_finite, f.infinity, f.nan, f.negative_zero)
        if found != literals:
            yield f"{name}: {found} for {literals}"
    for function, codes in NANS.items():
        for name, code in codes.items():
            if getattr(modules["golden.arithmetic.specials"], function)(formats[name]) != code:
                yield f"{function} of {name}"
    for name in ("fp64", "fp32", "fp16", "bf16"):
        _, _, _, _, _, infinity, _, minus = FORMATS[name]
        if [formats[name].signed_infinity(sign) for sign in (0, 1)] != [infinity, (infinity or 0) | (minus or 0)]:
            yield f"infinities of {name}"
    for overflow, stays in STAYS_FINITE.items():
        for mode in MODES:
            for negative in (False, True):
                largest = modules["golden.arithmetic.rounding"].overflows_to_largest(overflow, mode, negative)
                if largest is not (mode in stays[negative]):
                    yield f"overflow {overflow} of a {'negative' if negative else 'positive'} sum in {mode}"
    yield from _conversions(modules)
    yield from _constants(modules)


def _conversions(modules: Mapping[str, ModuleType]) -> Iterator[str]:
    kept = {f"{mode}-{name.upper()}": (mode, name, name) for mode in MODES for name in ("fp32", "fp16", "bf16", "fp64")}
    two = {"RZ-E8M13": ("RZ", "e8m13", "fp32"), "RNE-FP32-RZ-BF16": ("RNE", "fp32", "bf16")}
    for name, expected in (kept | two).items():
        rho = modules["golden.arithmetic.conversion"].conversion(name)
        dropped = 16 if name == "RNE-FP32-RZ-BF16" else 0
        if (rho.mode, rho.rounding_format.name, rho.d.name) != expected or rho.dropped_bits != dropped:
            yield f"rho {name}"


def _constants(modules: Mapping[str, ModuleType]) -> Iterator[str]:
    tr, flushed = modules["golden.operations.tr_fdpa"], modules["golden.operations.flushed_fma"]
    if (tr.NO_PRODUCT_EXP, tr.PRODUCT_OVERFLOW_EXP, flushed.PRODUCT_FRAC) != (-999, 128, 46):
        yield "a constant of TR-FDPA or of FTZ-FMA"
    operations = modules["golden.operations"].OPERATIONS
    fp16_bf16 = operations["T-FDPA"](a="fp16", b="bf16", c="fp32", L=1, F=24, rho="RZ-FP32", e_zero=-133)
    if (fp16_bf16.product_frac, fp16_bf16.product_exp_min) != (10 + 7, -14 - 126):
        yield "the fraction bits or the smallest exponent of a product"
    orders = [list(operations[f"FTZ-{name}"](a="bf16", b="bf16", c="fp32", L=4).product_order) for name in ("FMA", "EO-FMA")]
    if orders != [[3, 2, 1, 0], [0, 1, 2, 3]]:
        yield "the order of products of FTZ-FMA or of FTZ-EO-FMA"
    for name, defaults in DEFAULTS.items():
        found = {key.name: key.default for key in fields(modules["golden.operations"].OPERATIONS[name])}
        for key, value in defaults.items():
            if getattr(found[key], "name", found[key]) != value:
                yield f"the default of {key} of {name}"


RECORDED, TWIN, NATIVE, SPECIFICATION, LITERALS = WITNESSES = ("recorded", "twin", "native", "specification", "literals")
"""The recorded results, the second implementation, the native engine, the specification of proofs, and, of the constants,
their literals beside numerics.md."""

TRIES = 4
"""Number of rows of a unit on which the witnesses are asked that have not noticed a mutation."""

NO_RULES = ("golden.checks", "golden.arithmetic.format_fields", "golden.operations.blocks")
"""Modules that check keys and compute nothing."""


def reference_modules() -> list[str]:
    """The modules of golden's reference step."""
    return sorted(name for name in copied() if name not in NO_RULES)


@dataclass
class Verdict:
    """Who noticed a mutation.

    Attributes:
        noticed: each witness, and the rule of the row that showed it. rows: those rows, as numbers of unit and row.
    """

    noticed: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[int, int]] = field(default_factory=list)

    @property
    def missing(self) -> list[str]:
        """The witnesses that should have noticed it and did not. The specification may follow golden in a constant that it
        imports: then the literals must notice it."""
        silent = [witness for witness in WITNESSES if witness not in self.noticed]
        if LITERALS in self.noticed:
            return [witness for witness in silent if witness != SPECIFICATION]
        return [witness for witness in silent if witness != LITERALS]

    @property
    def is_complete(self) -> bool:
        """Whether all witnesses noticed the mutation."""
        return not self.missing


class Judge:
    """Holds mutants of golden against boundary rows."""

    def __init__(self, units: Sequence[BoundaryUnit]) -> None:
        self.units = units
        self._native = [native_results(unit) for unit in units]
        self._entered = [entered(unit, run_rows) for unit in units]
        self._specifying = set().union(*(entered(unit, specify) for unit in units))

    def judged(self, module: str) -> list[Mutation]:
        """The mutations of a module's constants, and of its functions that a row enters."""
        return [mutation for mutation in mutations(module) if any(self._reaching(mutation))]

    def not_entered(self, module: str) -> list[str]:
        """The functions that no row enters, so that mutations in them are not judged."""
        places = {mutation.where for mutation in mutations(module) if not any(self._reaching(mutation))}
        return sorted(places)

    def verdict(self, mutation: Mutation) -> Verdict:
        """The verdict on a mutation: which witnesses notice it."""
        found = Verdict()
        try:
            with limited(LOADING):
                modules = copied(mutation.change, *(SPECIFYING if self._changes_specification(mutation) else ()))
        except Exception:
            found.noticed = dict.fromkeys(WITNESSES, "golden cannot be loaded")
            return found
        if _has_other_constants(modules):
            found.noticed[LITERALS] = "a constant"
        for number, reaches in enumerate(self._reaching(mutation)):
            if reaches:
                self._ask(found, modules, number)
            if found.is_complete:
                break
        return found

    def _changes_specification(self, mutation: Mutation) -> bool:
        """Whether the specification is made with what is changed."""
        return mutation.is_constant or (mutation.module, mutation.where) in self._specifying

    def _reaching(self, mutation: Mutation) -> list[bool]:
        """Of every unit, whether its rows enter what is changed; of a constant of a format, whether it has the format."""
        if mutation.module == "golden.arithmetic.formats":
            return [mutation.where.lower() in formats_of(unit) for unit in self.units]
        return [mutation.is_constant or (mutation.module, mutation.where) in names for names in self._entered]

    def _ask(self, found: Verdict, modules: Modules, number: int) -> None:
        unit, native, wrong = self.units[number], self._native[number], 0
        operation = operation_or_none(modules, unit)
        if operation is None:
            found.noticed = dict.fromkeys(WITNESSES, "the operation is refused")
            return
        own = SPECIFICATION_MODULES[-1] in modules
        specified = Specified(modules, unit, operation).d if own else lambda row: row.d
        for place, got in enumerate(golden_results(operation, unit)):
            row = unit.rows[place]
            if got == row.d:
                continue
            wrong += 1
            before = len(found.noticed)
            found.noticed.setdefault(RECORDED, row.rule)
            if got != native[place]:
                found.noticed.setdefault(NATIVE, row.rule)
            if TWIN not in found.noticed and not twin_agrees(unit, row, got):
                found.noticed[TWIN] = row.rule
            if SPECIFICATION in found.missing and got != specified(row):
                found.noticed[SPECIFICATION] = row.rule
            if len(found.noticed) > before:
                found.rows.append((number, place))
            if found.is_complete or wrong == TRIES:
                return


def formats_of(unit: BoundaryUnit) -> set[str]:
    """The names of the formats of an operation."""
    operation = unit.operation
    rounding = getattr(getattr(operation, "conversion", None), "rounding_format", operation.d)
    return {
        fmt.name for fmt in (operation.a, operation.b, operation.c, operation.d, operation.scale_format, rounding) if fmt
    }


def _has_other_constants(modules: Modules) -> bool:
    """Whether a copy has a constant that is not the literal one, or fails to make it."""
    try:
        with limited(LOADING):
            return any(True for _ in differences(modules))
    except Exception:
        return True
