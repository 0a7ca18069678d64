"""The error of one step of NVIDIA's fused operations, against its bound (numerics.md, section 8), on exact rationals.

|d − exact| ≤ (terms of the sum)·2^(e_max−F), for each is cut, plus 0.5 ulp (RNE) or 1 ulp (RZ) of the output.
"""

import random
from fractions import Fraction
from typing import Any

import pytest

import golden
from tests.golden.inputs import Operands, operands
from tests.golden.rows import distinct_instructions, family, reference, unit
from tests.twin import twin
from tests.twin.twin_numbers import LAYOUTS, Number, decode, exponent_of, two_to
from tests.volume import one_of_each

STEPS = 30
ONE = Number("finite", False, Fraction(1), 0)

BOUNDED = [i for i in distinct_instructions() if i.operation.name in ("T-FDPA", "ST-FDPA", "GST-FDPA")]


class Terms:
    """The terms of one step as numerics.md, section 5, has them: finite or not, their exponents, their exact sum."""

    def __init__(self, operation: Any, row: Operands) -> None:
        x = [decode(operation.a.name, code) for code in row.a]
        y = [decode(operation.b.name, code) for code in row.b]
        z = decode(operation.c.name, row.c)
        alpha, beta = (
            twin.element_scales(operation, scales, len(x)) or [ONE] * len(x) for scales in (row.scale_a, row.scale_b)
        )
        scales = [twin.times(s, t) for s, t in zip(alpha, beta, strict=True)]
        products = [twin.times(twin.times(p, q), s) for p, q, s in zip(x, y, scales, strict=True)]
        sources = scales if operation.name == "GST-FDPA" else products
        exponents = [s.exponent if p.significand else operation.e_zero for s, p in zip(sources, products, strict=True)]
        self.finite = all(term.kind == "finite" for term in (*products, z))
        self.e_max = max(*exponents, z.exponent if z.significand else operation.e_zero)
        self.exact = sum((product.value for product in products), z.value)


def finite_steps(operation: golden.Operation, seed: str, count: int) -> list[Operands]:
    """Random operands of so many single steps, every term finite."""
    rng = random.Random(seed)
    rows: list[Operands] = []
    while len(rows) < count:
        row = operands(rng, operation, operation.length)
        if Terms(operation, row).finite:
            rows.append(row)
    return rows


def bound(operation: Any, e_max: int, d: Fraction) -> Fraction:
    """The bound, for a result d."""
    mode, target = operation.rho.split("-")
    _, mantissa_bits, bias, *_ = LAYOUTS[target.lower()]
    ulp = two_to(max(exponent_of(d) if d else 1 - bias, 1 - bias) - mantissa_bits)
    terms = operation.L // operation.G if operation.name == "GST-FDPA" else operation.L
    return (terms + 1) * two_to(e_max - operation.F) + (ulp / 2 if mode == "RNE" else ulp)


def shares_of_bound(operation: golden.Operation, rows: list[Operands], claimed: golden.Operation) -> list[Fraction]:
    """Errors of `operation` as parts of the bound of `claimed`; overflows are left out."""
    shares = []
    for row, code in zip(rows, reference(unit(operation), rows), strict=True):
        d, terms = operation.d.value(code), Terms(operation, row)
        if d is not None:
            shares.append(abs(d - terms.exact) / bound(claimed, terms.e_max, d))
    return shares


@pytest.mark.slow
@pytest.mark.parametrize("instruction", one_of_each(BOUNDED, family), ids=lambda i: f"{i.arch}:{i.name}")
def test_error_of_a_step_is_within_its_bound(instruction: golden.Instruction) -> None:
    operation = instruction.operation
    shares = shares_of_bound(operation, finite_steps(operation, f"{instruction.arch}:{instruction.name}", STEPS), operation)
    assert len(shares) > STEPS // 4
    assert max(shares) <= 1


def test_errors_come_near_the_bound_and_fewer_bits_break_it() -> None:
    """The bound is not idle: errors reach a good part of it, and a unit that keeps six bits fewer passes it."""
    operation = golden.instruction("sm_80", "mma.m16n8k8.f32.bf16.bf16.f32").operation
    rows = finite_steps(operation, "bound", 200)
    assert max(shares_of_bound(operation, rows, operation)) > Fraction(1, 8)
    assert max(shares_of_bound(operation.changed(F=18), rows, operation)) > 1
