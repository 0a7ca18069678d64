"""The search for the smallest row that fails."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.comparison import differing
from golden.engines.engine import Batch, run
from golden.stimulus import Operands, OperandShape, Row, generate, rows_of
from golden.stimulus.shrink import BATCH, MAX_ASKED, cost, smallest, smallest_operands

SHAPE = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)
ONE = FP16.encode(1)
FULL = Row(a=(0x4BFF, 0x3A12, 0x4801, 0x3C00), b=(0x4011, 0x3FFF, 0x3E00, 0x3C00), c=FP32.encode(123.75))


def test_only_what_is_needed_stays() -> None:
    row = generate(SHAPE, 64, 0).operands.rows(slice(3, 4))
    row.a[0], row.b[0] = 0x3D55, 0x4155
    small = smallest_operands(row, SHAPE, lambda rows: (rows.a[:, 2] > 0) & (rows.b[:, 2] > 0))
    assert small.a[0].tolist() == [0, 0, ONE, 0]
    assert small.b[0].tolist() == [0, 0, ONE, 0]
    assert small.c.tolist() == [0]
    assert small.a.dtype == bits_dtype(FP16)


def test_what_does_not_matter_goes() -> None:
    """A negative factor is asked for: all else is 0, and it is −0, the simplest that has a sign."""
    found = smallest(FULL, SHAPE, lambda rows: [any(code >> 15 for code in row.b) for row in rows])
    assert found == FULL  # does not fail: nothing smaller does either
    negative = replace(FULL, b=(*FULL.b[:3], 0xC7FF))
    found = smallest(negative, SHAPE, lambda rows: [any(code >> 15 for code in row.b) for row in rows])
    assert found == Row((0,) * 4, (0, 0, 0, 0x8000), 0)


def test_terms_of_which_any_two_fail_are_two() -> None:
    """Any two of c and the products: nothing that takes terms away one after the other can be stuck above two."""
    found = smallest(FULL, SHAPE, lambda rows: [cost(row, SHAPE)[0] >= 2 for row in rows])
    assert cost(found, SHAPE)[0] == 2
    assert {*found.a, *found.b} <= {0, ONE}


def test_search_is_deterministic_and_asks_the_simplest_of_a_round_first() -> None:
    runs: list[list[list[Row]]] = [[], []]

    for batches in runs:

        def fails(rows: Sequence[Row], batches: list[list[Row]] = batches) -> list[bool]:
            assert 1 <= len(rows) <= BATCH
            batches.append([*rows])
            return [row.c > 5 and row.a[1] > 7 for row in rows]

        smallest(FULL, SHAPE, fails)
    assert runs[0] == runs[1]
    costs = [cost(row, SHAPE) for row in runs[0][0]]
    assert costs == sorted(costs)
    assert max(costs) < cost(FULL, SHAPE)


@pytest.mark.slow
def test_search_ends() -> None:
    """Where everything fails, and where nothing else does, of a row of 32 products with all values busy."""
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=32)
    row = Row((0x3D55,) * 32, (0xC155,) * 32, 0x42F6E979)
    assert smallest(row, shape, lambda rows: [True] * len(rows)) == Row((0,) * 32, (0,) * 32, 0)
    count = 0

    def only_bits(rows: Sequence[Row]) -> list[bool]:
        nonlocal count
        count += len(rows)
        return [all(code & 0x3FF for code in (*each.a, *each.b)) for each in rows]

    found = smallest(row, shape, only_bits)
    assert all(code & 0x3FF for code in (*found.a, *found.b))
    assert count <= MAX_ASKED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "name", "changes"),
    [
        ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", {"F": 24}),
        ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", {"rho": "RNE-FP32"}),
        ("gfx942", "v_mfma_f32_32x32x8_f16", {"truncation": "RZ"}),
        ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0", {"F": 24}),
    ],
)
def test_two_arithmetics_are_distinguished_by_two_simple_terms(arch: str, name: str, changes: dict[str, int | str]) -> None:
    """Rows of the stimulus on which the instruction differs from one with another parameter: two terms show any of these,
    with values at most so complicated (`cost`)."""
    i = golden.instruction(arch, name)
    other, shape = Chain(i.operation.changed(**changes)), OperandShape.of(i)

    def fails(rows: Operands) -> np.ndarray:
        return np.asarray(differing(run(None, i.chain, Batch(*rows)), run(None, other, Batch(*rows)), i.operation))

    operands = generate(shape, 2000, 3).operands
    for n in np.flatnonzero(fails(operands))[:2].tolist():
        small = smallest_operands(operands.rows(slice(n, n + 1)), shape, fails)
        assert fails(small).all()
        terms, values, _ = cost(rows_of(small)[0], shape)
        assert terms == 2
        assert values <= 24
