"""Every parameter of every family of the catalogue, changed by one step, is caught.

The vectors that MMA-Sim computed catch most; directed rows, held against the twin, catch what the vectors do not reach:
e_zero, and bits at the far end of an alignment. What no input can show is listed in `cannot_matter`, with the reason. FMA
has no parameter, and K_block is seen in the shape of the scales.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import golden
from golden.operations.t_fdpa import TruncatedFDPA
from tests.data.load import Case, vector_sets
from tests.golden.differences import differing_rows
from tests.golden.directed import products
from tests.golden.inputs import Operands
from tests.golden.rows import distinct_instructions, reference, unit
from tests.twin import twin
from tests.twin.twin_numbers import LAYOUTS, two_to

NEXT_RHO = {"RZ-FP32": "RNE-FP32", "RNE-FP32": "RZ-FP32", "RNE-FP16": "RZ-FP16", "RZ-E8M13": "RZ-FP32"}
OTHER_TRUNCATION = {"RZ": "RD", "RD": "RZ"}

Family = tuple[str, ...]
"""Architecture, operation and the parameters that its instructions share."""


def family_of(instruction: golden.Instruction) -> Family:
    parameters = instruction.operation.parameters()
    shared = [f"{key}={parameters[key]}" for key in ("F", "F2", "rho", "e_zero") if key in parameters]
    return (instruction.arch, instruction.operation.name, *shared)


FAMILIES: dict[Family, list[golden.Instruction]] = defaultdict(list)
for _instruction in distinct_instructions():
    # The arithmetic of processors and RDNA is recorded: test_x86.py and test_rdna.py have their mutants. IDPA is exact.
    _is_recorded = _instruction.arch in (*golden.PROCESSORS, "gfx1100", "gfx1151", "gfx1201")
    if not _is_recorded and _instruction.operation.name not in ("FMA", "IDPA") and _instruction.fp16_order is None:
        FAMILIES[family_of(_instruction)].append(_instruction)


def changes(operation: golden.Operation) -> dict[str, dict[str, Any]]:
    """Each parameter one step away: integers by one, lengths by a factor of two, choices to the next one."""
    found: dict[str, dict[str, Any]] = {}
    for key, value in operation.parameters().items():
        if key in ("F", "F2", "e_zero"):
            found |= {f"{key}{step:+}": {key: int(value) + step} for step in (-1, 1)}
        elif key in ("L", "P", "G"):
            found |= {f"{key}/2": {key: int(value) // 2}, f"{key}*2": {key: int(value) * 2}}
        elif key == "rho":
            found[f"rho={NEXT_RHO[str(value)]}"] = {key: NEXT_RHO[str(value)]}
        elif key == "truncation":
            found[f"truncation={OTHER_TRUNCATION[str(value)]}"] = {key: OTHER_TRUNCATION[str(value)]}
    return found


def mutant(instruction: golden.Instruction, change: str) -> golden.Unit | None:
    """The instruction's unit with that change; None where it is no unit, or chains no whole steps over k."""
    keys = changes(instruction.operation)[change]
    try:
        operation = instruction.operation.changed(**keys)
    except ValueError:
        return None
    return unit(operation) if instruction.k % operation.length == 0 else None


def mutants() -> Iterator[tuple[Family, str]]:
    for family, members in FAMILIES.items():
        for change in sorted({change for member in members for change in changes(member.operation)}):
            if any(mutant(member, change) for member in members):
                yield family, change


def lowest_exponent(instruction: golden.Instruction) -> int:
    """The smallest exponent of a non-zero term."""
    a, b, c = (1 - LAYOUTS[f.name].bias for f in (instruction.a, instruction.b, instruction.c))
    by_scale = instruction.operation.name == "GST-FDPA"
    scales = {None: 0, "ue8m0": 2 * -127, "ue4m3": 2 * -6}[instruction.scale.name if instruction.scale else None]
    return min(scales if by_scale else a + b + scales, c)


def lowest_bit(instruction: golden.Instruction) -> int:
    """The exponent of the lowest bit that any term can have."""
    a, b, c = (
        1 - LAYOUTS[f.name].bias - LAYOUTS[f.name].mantissa_bits for f in (instruction.a, instruction.b, instruction.c)
    )
    scales = {None: 0, "ue8m0": 2 * -127, "ue4m3": 2 * -9}[instruction.scale.name if instruction.scale else None]
    return min(a + b + scales, c)


def cannot_matter(instruction: golden.Instruction, change: str) -> bool:
    """Whether e_zero, before and after the change, is idle on any input: it is only a floor of e_max.

    Either no non-zero term lies below it (then e_max is a non-zero term's own, or the sum is zero), or where it is e_max
    all bits of all terms fit in the F bits under it (then nothing is cut there, nor where e_max lies lower).
    """
    if not change.startswith("e_zero"):
        return False
    operation = instruction.operation
    assert isinstance(operation, TruncatedFDPA)
    floor = max(operation.e_zero, changes(operation)[change]["e_zero"])
    return lowest_exponent(instruction) >= floor or lowest_bit(instruction) >= floor - operation.F


VECTORS: dict[Family, list[Case]] = defaultdict(list)
for _vectors in vector_sets():
    VECTORS[family_of(_vectors.instruction)].append(_vectors)


def vectors_catch(family: Family, change: str) -> bool:
    for vectors in VECTORS[family]:
        changed = mutant(vectors.instruction, change)
        if changed is not None:
            got = changed.dot(*vectors.operands(), engine="reference")
            expected = vectors.expected()
            if got.dtype != expected.dtype or differing_rows(got, expected, vectors.any_nan).size:
                return True
    return False


def floor_rows(instruction: golden.Instruction) -> list[Operands]:
    """Terms below e_zero, c = 0. The first decides d only together with a second at the last bit kept, or the next one.

    RZ-FP32 of 2^−149 less anything is 0; RNE-FP16 of 2^−25, a tie, plus anything is 2^−24.
    """
    operation = instruction.operation
    assert isinstance(operation, TruncatedFDPA)
    first, sign = {"RZ-FP32": (-149, -1), "RZ-E8M13": (-139, -1), "RNE-FP16": (-25, 1)}[operation.rho]
    last = operation.e_zero - operation.F
    return [products(instruction, {0: two_to(first), instruction.k // 2: sign * two_to(bit)}) for bit in (last, last - 1)]


def far_rows(instruction: golden.Instruction) -> list[Operands]:
    """One, less products whose sum or whose single worth is the last bit kept, or the next one, under RZ-FP32."""
    F: int = instruction.operation.F  # type: ignore[attr-defined]
    half, quarter = instruction.k // 2, instruction.k // 4
    far = [{half: -two_to(-F)}, {half: -two_to(-F - 1)}]
    pairs = [{half: -two_to(-F - 1), half + apart: -two_to(-F - 1)} for apart in (quarter // 2, quarter)]
    return [products(instruction, {0: Fraction(1), **values}) for values in far + pairs]


def second_floor_rows(instruction: golden.Instruction) -> list[Operands]:
    """c = 2^12 and a product worth half its last bit: a tie, broken by a product at the last bit of F2, or the next."""
    F2: int = instruction.operation.F2  # type: ignore[attr-defined]
    return [products(instruction, {0: two_to(12 - 24), 2: two_to(12 - bit)}, c=two_to(12)) for bit in (F2, F2 + 1)]


def directed_rows(instruction: golden.Instruction, change: str) -> list[Operands]:
    if change.startswith("e_zero"):
        return floor_rows(instruction)
    return second_floor_rows(instruction) if change.startswith("F2") else far_rows(instruction)


def directed_row_catches(instruction: golden.Instruction, change: str) -> bool:
    """Whether the twin agrees with the model on the directed rows, and differs from the mutant on one."""
    changed = mutant(instruction, change)
    if changed is None or cannot_matter(instruction, change):
        return False
    try:
        rows = directed_rows(instruction, change)
    except AssertionError:  # this instruction's formats cannot hold the row
        return False
    expected = [twin.dot(instruction.operation, *row) for row in rows]
    assert reference(instruction, rows) == expected
    return reference(changed, rows) != expected


UNSEEN_BY_VECTORS = ("e_zero-1", "e_zero+1", "F2-1", "F2+1", "G/2", "G*2")
"""Mutants that the vectors do not reach in some family."""


def needs_directed_row(family: Family, change: str) -> bool:
    return change in UNSEEN_BY_VECTORS or (family[:2] == ("sm_100", "GST-FDPA") and change in ("F-1", "F+1"))


MUTANTS = [pytest.param(family, change, id=f"{':'.join(family)}:{change}") for family, change in mutants()]
IDLE = [m for m in MUTANTS if all(cannot_matter(member, m.values[1]) for member in FAMILIES[m.values[0]])]  # type: ignore[arg-type, index]
DIRECTED = [m for m in MUTANTS if m not in IDLE and needs_directed_row(*m.values)]  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "change"), [m for m in MUTANTS if m not in IDLE and m not in DIRECTED])
def test_vectors_catch_mutant(family: Family, change: str) -> None:
    assert vectors_catch(family, change)


@pytest.mark.parametrize(("family", "change"), DIRECTED)
def test_directed_row_catches_mutant(family: Family, change: str) -> None:
    assert any(directed_row_catches(member, change) for member in FAMILIES[family])


def test_only_e_zero_of_narrow_formats_is_idle() -> None:
    """fp16 and FP8 terms end far above −131 … −133; FP8's last bit, 2^−32, is kept under −20 and −21 even by F = 13."""
    idle = {(family[0], family[-2], family[-1]) for family, _ in (m.values for m in IDLE)}  # type: ignore[index]
    assert idle == {
        ("sm_70", "rho=RZ-FP32", "e_zero=-131"),
        ("sm_75", "rho=RZ-FP32", "e_zero=-131"),
        ("sm_75", "rho=RZ-FP32", "e_zero=-132"),
        ("sm_89", "rho=RZ-E8M13", "e_zero=-132"),
        ("sm_89", "rho=RNE-FP16", "e_zero=-20"),
        ("sm_90", "rho=RZ-E8M13", "e_zero=-133"),
        ("sm_90", "rho=RNE-FP16", "e_zero=-21"),
    }
