"""Who notices a mutation of golden on boundary rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from studies.golden_mutants.boundary_rows import BoundaryUnit
from studies.golden_mutants.literals import differences
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

RECORDED, TWIN, NATIVE, SPECIFICATION, LITERALS = WITNESSES = ("recorded", "twin", "native", "specification", "literals")
"""The recorded results, the second implementation, the native engine, the specification of proofs, and, of the constants,
their literals beside numerics.md."""

TRIES = 4
"""Number of rows of a unit on which the witnesses are asked that have not noticed a mutation."""

NO_RULES = ("golden.checks", "golden.format_fields", "golden.operations.blocks")
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
        if mutation.module == "golden.formats":
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
