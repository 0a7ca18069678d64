"""The papers' own checks (numerics.md, section 8)."""

import random
from fractions import Fraction

import pytest

import golden
from golden.operations.tr_fdpa import RoundedFDPA
from tests.golden.directed import exact_code, products
from tests.golden.inputs import Operands, operands
from tests.golden.rows import distinct_instructions, family, reference, unit
from tests.twin.twin_numbers import two_to
from tests.volume import one_of_each

DISCREPANCY_A = [Fraction(-(2**13)), Fraction(-1, 2), Fraction(-1, 4), Fraction(-1, 8)]
DISCREPANCY_B = [Fraction(2**10), Fraction(1), Fraction(1), Fraction(1)]
DISCREPANCY_C = Fraction(2**23)

DISCREPANCY_D = {
    ("sm_70", "fp16"): 0.0,
    ("sm_75", "fp16"): -0.5,
    ("sm_80", "fp16"): -0.5, ("sm_80", "bf16"): -0.5, ("sm_80", "tf32"): -0.5,
    ("sm_89", "fp16"): -0.5, ("sm_89", "bf16"): -0.5, ("sm_89", "tf32"): -0.5, ("sm_89", "e5m2"): 0.0,
    ("sm_90", "fp16"): -0.75, ("sm_90", "bf16"): -0.75, ("sm_90", "tf32"): -0.75, ("sm_90", "e5m2"): 0.0,
    ("sm_100", "fp16"): -0.75, ("sm_100", "bf16"): -0.75, ("sm_100", "tf32"): -0.75, ("sm_100", "e5m2"): -0.75,
    ("sm_120", "fp16"): -0.75, ("sm_120", "bf16"): -0.75, ("sm_120", "tf32"): -0.75, ("sm_120", "e5m2"): -0.75,
    ("gfx908", "fp16"): -0.875, ("gfx908", "bf16"): -0.875, ("gfx908", "fp32"): -0.875,
    ("gfx90a", "fp16"): 0.0, ("gfx90a", "bf16"): -0.375, ("gfx90a", "bf16_1k"): 0.0,
    ("gfx90a", "fp32"): -0.875, ("gfx90a", "fp64"): -0.875,
    ("gfx942", "fp16"): -0.5, ("gfx942", "bf16"): -0.5, ("gfx942", "tf32"): -0.5, ("gfx942", "e5m2fnuz"): -1.0,
    ("gfx942", "fp32"): -0.875, ("gfx942", "fp64"): -0.875,
    ("gfx1100", "fp16"): -1.875, ("gfx1100", "bf16"): -1.875, ("gfx1151", "fp16"): -1.875, ("gfx1151", "bf16"): -1.875,
    ("gfx1201", "fp16"): -1.0, ("gfx1201", "bf16"): -1.0,
    ("x86-amx", "bf16"): -1.0, ("x86-amx", "fp16"): -1.0,
    **{(arch, "fp64"): -0.875 for arch in ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")},
}  # fmt: skip
"""The result of the input by architecture and operand format. Of the 8-bit formats e5m2 alone holds −2^13."""


def holds(operand: golden.Format, values: list[Fraction]) -> bool:
    return all(operand.value(operand.encode(value)) == value for value in values)


def discrepancy_key(instruction: golden.Instruction) -> tuple[str, str] | None:
    """Where the table has this instruction's result; None where the input does not fit it.

    Turing's m8n8k4 is Volta's. FP8 `mma.sync` on sm_90 and sm_100 adds c at the end and is not in the papers.
    """
    fits = (
        holds(instruction.a, DISCREPANCY_A) and holds(instruction.b, DISCREPANCY_B) and holds(instruction.c, [DISCREPANCY_C])
    )
    if not fits or instruction.k < 4 or instruction.fp16_order is not None:
        return None
    arch = "sm_70" if instruction.name.startswith("mma.m8n8k4.f32") else instruction.arch
    return arch, "bf16_1k" if instruction.name.endswith("_1k") else instruction.a.name


def discrepancy_operands(instruction: golden.Instruction) -> Operands:
    padding = [0] * (instruction.k - 4)
    one = [] if instruction.scale is None else [exact_code(instruction.scale, Fraction(1))] * (instruction.k // 32)
    return Operands(
        [exact_code(instruction.a, value) for value in DISCREPANCY_A] + padding,
        [exact_code(instruction.b, value) for value in DISCREPANCY_B] + padding,
        exact_code(instruction.c, DISCREPANCY_C),
        one,
        one,
    )


DISCREPANT = [pytest.param(i, id=f"{i.arch}:{i.name}") for i in distinct_instructions() if discrepancy_key(i)]


@pytest.mark.parametrize("instruction", DISCREPANT)
def test_discrepancy_input(instruction: golden.Instruction) -> None:
    key = discrepancy_key(instruction)
    assert key is not None
    got = instruction.d.value(reference(instruction, [discrepancy_operands(instruction)])[0])
    assert got == Fraction(DISCREPANCY_D[key])


def test_discrepancy_input_reaches_every_entry_of_the_table() -> None:
    assert {discrepancy_key(param.values[0]) for param in DISCREPANT} == DISCREPANCY_D.keys()  # type: ignore[arg-type]


FP16_TO_FP32 = {
    "sm_70": "mma.m8n8k4.f32.f16.f16.f32",
    "sm_75": "mma.m16n8k8.f32.f16.f16.f32",
    "sm_80": "mma.m16n8k8.f32.f16.f16.f32",
    "sm_89": "mma.m16n8k8.f32.f16.f16.f32",
    "sm_90": "mma.m16n8k16.f32.f16.f16.f32",
    "sm_100": "mma.m16n8k16.f32.f16.f16.f32",
    "sm_120": "mma.m16n8k16.f32.f16.f16.f32",
}
EXTRA_BITS = {"sm_70": 0, "sm_75": 1, "sm_80": 1, "sm_89": 1, "sm_90": 2, "sm_100": 2, "sm_120": 2}


def result(instruction: golden.Instruction, values: dict[int, Fraction], c: Fraction) -> Fraction | None:
    return instruction.d.value(reference(instruction, [products(instruction, values, c)])[0])


def test_volta_is_not_monotonic() -> None:
    volta = golden.instruction("sm_70", FP16_TO_FP32["sm_70"])
    four = {k: two_to(-24) for k in range(4)}
    assert result(volta, four, 1 - two_to(-24)) == 1 + two_to(-23)
    assert result(volta, four, Fraction(1)) == 1


@pytest.mark.parametrize("arch", FP16_TO_FP32)
def test_extra_alignment_bits(arch: str) -> None:
    """2^n products worth 2^−(23+n) each add a unit to c = 1 exactly where n extra bits are kept."""
    instruction = golden.instruction(arch, FP16_TO_FP32[arch])
    kept = [
        result(instruction, {k: two_to(-23 - n) for k in range(2**n)}, Fraction(1)) == 1 + two_to(-23)
        for n in range(4)
        if 2**n <= instruction.operation.length
    ]
    extra = EXTRA_BITS[arch]
    assert kept == [True] * (extra + 1) + [False] * (len(kept) - extra - 1)
    assert len(kept) > extra + 1


@pytest.mark.parametrize("name", ["v_mfma_f32_4x4x4f16", "v_mfma_f32_16x16x8bf16"])
def test_cdna1_rounds_the_exact_sum_once(name: str) -> None:
    """A product worth 2^−48 decides a tie at 2^−24: nothing was cut on the way."""
    instruction = golden.instruction("gfx908", name)
    assert result(instruction, {0: two_to(-24)}, Fraction(1)) == 1
    assert result(instruction, {0: two_to(-24), 1: two_to(-48)}, Fraction(1)) == 1 + two_to(-23)


@pytest.mark.parametrize("name", ["v_mfma_f32_16x16x4_f32", "v_mfma_f64_4x4x4_4b_f64"])
def test_fma_does_not_round_the_product(name: str) -> None:
    """(1 + 2^−n)·(1 − 2^−n) − 1 is −2^−2n, though no product of that format has its last bit."""
    instruction = golden.instruction("gfx942", name)
    n = instruction.a.man_bits // 2 + 4
    padding = [0] * (instruction.k - 1)
    x, y = (exact_code(instruction.a, 1 + sign * two_to(-n)) for sign in (1, -1))
    row = Operands([x, *padding], [y, *padding], exact_code(instruction.c, Fraction(-1)), [], [])
    assert instruction.d.value(reference(instruction, [row])[0]) == -two_to(-2 * n)


CDNA3 = [i for i in distinct_instructions() if isinstance(i.operation, RoundedFDPA)]


def finite_rows(instruction: golden.Instruction, count: int) -> list[Operands]:
    """Random rows with finite operands and results."""
    rng = random.Random(instruction.name)
    rows: list[Operands] = []
    while len(rows) < count:
        row = operands(rng, instruction.operation, instruction.k, instruction.a.name, instruction.b.name)
        if instruction.d.value(reference(instruction, [row])[0]) is not None:
            rows.append(row)
    return rows


def negated(instruction: golden.Instruction, row: Operands) -> Operands:
    """−A, B, −C."""

    def minus(operand: golden.Format, code: int) -> int:
        value = operand.value(code)
        assert value is not None
        return operand.encode(-value)

    return row._replace(a=[minus(instruction.a, code) for code in row.a], c=minus(instruction.c, row.c))


def asymmetric(model: golden.Unit, instruction: golden.Instruction, rows: list[Operands]) -> int:
    """How many rows give Φ(−A, B, −C) ≠ −Φ(A, B, C)."""
    there = [model.operation.d.value(code) for code in reference(model, rows)]
    back = [model.operation.d.value(code) for code in reference(model, [negated(instruction, row) for row in rows])]
    return sum(x is None or y is None or x != -y for x, y in zip(there, back, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("instruction", one_of_each(CDNA3, family), ids=lambda i: i.name)
def test_cdna3_is_asymmetric_and_would_not_be_with_truncation_toward_zero(instruction: golden.Instruction) -> None:
    rows = finite_rows(instruction, 200)
    assert asymmetric(unit(instruction.operation), instruction, rows) > 0
    assert asymmetric(unit(instruction.operation.changed(truncation="RZ")), instruction, rows) == 0


def test_cdna3_bf8_discrepancy_input_mirrored() -> None:
    """The papers' input gives −1, its negative +0.5: RD of −0.625 and of 0.625 at 2^−1."""
    instruction = golden.instruction("gfx942", "v_mfma_f32_16x16x32_bf8_bf8")
    row = discrepancy_operands(instruction)
    got = [instruction.d.value(code) for code in reference(instruction, [row, negated(instruction, row)])]
    assert got == [-1, Fraction(1, 2)]
