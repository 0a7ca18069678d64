"""The stream of rows: the same for the same seed, legal codes, the share of every generator, and refusals."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FP16, FP32, UE8M0
from golden.arrays import bits_dtype
from golden.stimulus import (
    CLASSES,
    CORNERS,
    NAMES,
    GeneratorDraws,
    Operands,
    OperandShape,
    Stimulus,
    chunks,
    complete_rows,
    generate,
)
from golden.stimulus.built_sums import inner_shape
from golden.stimulus.codes import IntArray
from golden.stimulus.corners.corner import Corner
from tests.golden.stimulus.stimuli import (
    EVERY_SHAPE,
    SHAPES,
)
from tests.volume import one_in  # fmt: skip


def same(x: Stimulus, y: Stimulus) -> bool:
    columns = zip((*x.operands, x.label), (*y.operands, y.label), strict=True)
    return all(q is None if p is None else q is not None and np.array_equal(p, q) for p, q in columns)


@EVERY_SHAPE
def test_same_seed_same_rows_other_seed_other_rows(shape: OperandShape) -> None:
    first = generate(shape, 500, seed=7)
    assert same(first, generate(shape, 500, seed=7))
    assert not same(first, generate(shape, 500, seed=8))


def test_rows_are_pinned() -> None:
    """A change of these numbers changes the rows of every printed seed."""
    stimulus = generate(SHAPES["mixed fp8"], 2000, seed=1)
    assert [int(codes.astype(np.uint64).sum()) for codes in stimulus.operands[:3]] == [6946821, 6553168, 3975636275752]


@EVERY_SHAPE
def test_shapes_dtypes_and_codes(shape: OperandShape) -> None:
    a, b, c, scale_a, scale_b = generate(shape, 3000, seed=1).operands
    columns = [(a, shape.a), (b, shape.b), (c, shape.c), (scale_a, shape.scale), (scale_b, shape.scale)]
    for codes, operand in columns:
        if operand is None:
            assert codes is None
            continue
        assert codes is not None
        assert codes.dtype == bits_dtype(operand)
        assert int(codes.max()) < operand.codes
    assert a.shape == b.shape == (3000, shape.K)
    assert c.shape == (3000,)
    if scale_a is not None and scale_b is not None:
        assert scale_a.shape == scale_b.shape == (3000, shape.blocks)


@pytest.mark.slow
@pytest.mark.parametrize("rows", one_in(2, [1, 999, 16384, 20000, 50000]))
def test_chunks_are_the_same_rows(rows: int) -> None:
    shape, count = SHAPES["fp16"], 40000 if rows > 1 else 50
    pieces = list(chunks(shape, count, seed=3, rows=rows))
    assert {len(piece) for piece in pieces[:-1]} <= {rows}
    assert 0 < len(pieces[-1]) <= rows
    whole = generate(shape, count, seed=3)
    start = 0
    for piece in pieces:
        assert same(piece, whole.rows(slice(start, start + len(piece))))
        start += len(piece)
    assert start == count


@pytest.mark.slow
@EVERY_SHAPE
def test_half_the_rows_are_random_classes_and_every_generator_has_its_share(shape: OperandShape) -> None:
    counts = generate(shape, 20000, seed=2).counts()
    assert tuple(counts) == NAMES
    assert abs(sum(counts[name] for name in CLASSES) - 10000) <= 2 * len(NAMES)
    assert [name for name, rows in counts.items() if not rows] == [n for n, c in CORNERS.items() if not c.cases(shape)]


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2])
@EVERY_SHAPE
def test_every_case_of_every_corner_appears(shape: OperandShape, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[int]] = {name: set() for name in CORNERS}
    for name, corner in CORNERS.items():

        def make(
            shape: OperandShape, draws: GeneratorDraws, case: IntArray, name: str = name, corner: Corner = corner
        ) -> Operands:
            seen[name].update(case.tolist())
            return corner.make(shape, draws, case)

        monkeypatch.setitem(CORNERS, name, replace(corner, make=make))
    generate(shape, complete_rows(shape, level), seed=4)
    shapes = [of for of in (shape, inner_shape(shape)) if of is not None]
    counts = {n: [c.directed(of) if level == 1 else c.cases(of) for of in shapes] for n, c in CORNERS.items()}
    assert seen == {name: set(range(max(cases))) for name, cases in counts.items()}


@pytest.mark.slow
def test_2000_rows_hold_level_1_and_20000_level_2() -> None:
    """Level 1 for all formats and numbers of products, with twice as many rows if products take the place of c; level 2 for
    every step of the catalogue of up to 32 products."""
    for shape in {OperandShape.of_operation(entry.operation) for entry in golden.instructions()}:
        assert complete_rows(shape, 2) <= (20_000 if shape.K <= 32 else 22_000)
    shapes = {OperandShape.of(entry) for entry in golden.instructions()} | set(SHAPES.values())
    shapes |= {OperandShape.of_operation(entry.operation) for entry in golden.instructions()}
    shapes |= {replace(SHAPES["fp16"], K=1024)}
    for shape in shapes:
        assert complete_rows(shape, 1) <= (2000 if inner_shape(shape) is None else 4000)
        assert all(corner.directed(shape) <= corner.cases(shape) for corner in CORNERS.values())


@pytest.mark.slow
def test_instruction_rows_run_through_its_chain() -> None:
    """Every catalogue instruction takes the rows that are made for it; one shape a pattern of names is enough."""
    seen: dict[OperandShape, golden.Instruction] = {}
    for entry in golden.instructions():
        seen.setdefault(OperandShape.of(entry), entry)
    assert len(seen) > 60
    for shape, entry in seen.items():
        operands = generate(shape, 20, seed=1).operands
        assert entry.dot(*operands).shape == (20,)
        assert entry.fp16_order is None or entry.a.width == 8


FP16S: dict[str, Any] = {"a": FP16, "b": FP16, "c": FP32, "d": FP32}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: generate(SHAPES["fp16"], 0, 1), "count must be at least 1, got 0"),
        (lambda: generate(SHAPES["fp16"], 10, -1), "seed must be at least 0, got -1"),
        (lambda: complete_rows(SHAPES["fp16"], 0), "level must be an integer from 1 to 2, got 0"),
        (lambda: complete_rows(SHAPES["fp16"], 3), "level must be an integer from 1 to 2, got 3"),
        (lambda: next(chunks(SHAPES["fp16"], 10, seed=1, rows=0)), "rows must be at least 1, got 0"),
        (lambda: OperandShape(**FP16S, K=0), "K must be at least 1, got 0"),
        (
            lambda: OperandShape(**FP16S, K=4, scale=UE8M0),
            "scale and block_size go together; got scale=ue8m0, block_size=None",
        ),
    ],
)
def test_what_makes_no_rows_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()
