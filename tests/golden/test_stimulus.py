"""Stimulus: the same rows for the same seed, legal codes, and every class and corner hits what its name says."""

import itertools
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import golden
from golden.arrays import bits_dtype
from golden.chain import Chain
from golden.formats import BF16, E2M1, E4M3, E5M2, FP16, FP32, FP64, TF32, UE4M3, UE8M0, Cls, power_of_two
from golden.operations import TFDPA
from golden.stimulus import CLASSES, CORNERS, NAMES, Operands, OperandShape, Stimulus, chunks, complete_rows, generate
from golden.stimulus.codes import landmarks, number
from golden.stimulus.corners import Corner

SHAPES = {
    "fp16": OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4),
    "fp16-out": OperandShape(a=FP16, b=FP16, c=FP16, d=FP16, K=16),
    "bf16": OperandShape(a=BF16, b=BF16, c=FP32, d=FP32, K=8),
    "tf32": OperandShape(a=TF32, b=TF32, c=FP32, d=FP32, K=4),
    "fp64": OperandShape(a=FP64, b=FP64, c=FP64, d=FP64, K=4),
    "one product": OperandShape(a=FP32, b=FP32, c=FP32, d=FP32, K=1),
    "mixed fp8": OperandShape(a=E4M3, b=E5M2, c=FP32, d=FP32, K=32),
    "fnuz": OperandShape.of_instruction(golden.instruction("gfx942", "v_mfma_f32_16x16x32_fp8_bf8")),
    "fp4": OperandShape(a=E2M1, b=E2M1, c=FP32, d=FP32, K=32),
    "mxfp8": OperandShape(a=E5M2, b=E5M2, c=FP32, d=FP32, K=64, scale=UE8M0, block_size=32),
    "nvfp4": OperandShape(a=E2M1, b=E2M1, c=FP32, d=FP32, K=64, scale=UE4M3, block_size=16),
}
"""One of every kind of operands: wide, narrow, mixed, padded, without −0, scaled, a single product."""

EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())

BF16_STEP = TFDPA(a=BF16, b=BF16, c=FP32, L=8, F=25, rho="RZ-FP32", e_zero=-133)
FP16_STEP = TFDPA(a=FP16, b=FP16, c=FP16, L=8, F=25, rho="RNE-FP16", e_zero=-21)


def only(stimulus: Stimulus, name: str) -> Stimulus:
    """The rows that one generator made."""
    return stimulus.rows(np.flatnonzero(stimulus.label == stimulus.names.index(name)))


def rows_for(step: TFDPA, name: str, count: int = 8000) -> Stimulus:
    return only(generate(OperandShape.of_operation(step), count, seed=5), name)


def results(step: TFDPA, stimulus: Stimulus) -> np.ndarray:
    return golden.Unit(name="step", operation=step).dot(*stimulus.operands)


def result_classes(step: TFDPA, stimulus: Stimulus) -> list[Cls]:
    return [step.d.decode(code).cls for code in results(step, stimulus).tolist()]


def exact(operand: golden.Format, code: int) -> Fraction:
    """The value of a code that is a number."""
    value = operand.value(code)
    assert value is not None
    return value


def exact_terms(shape: OperandShape, stimulus: Stimulus, row: int) -> list[Fraction]:
    """The exact products of a finite unscaled row, and c."""
    operands = stimulus.operands
    a, b = (
        [exact(shape_of, code) for code in codes[row].tolist()]
        for shape_of, codes in ((shape.a, operands.a), (shape.b, operands.b))
    )
    return [x * y for x, y in zip(a, b, strict=True)] + [exact(shape.c, int(operands.c[row]))]


def same(x: Stimulus, y: Stimulus) -> bool:
    columns = zip((*x.operands, x.label), (*y.operands, y.label), strict=True)
    return all(q is None if p is None else q is not None and np.array_equal(p, q) for p, q in columns)


@EVERY_SHAPE
def test_same_seed_same_rows_other_seed_other_rows(shape: OperandShape) -> None:
    first = generate(shape, 500, seed=7)
    assert same(first, generate(shape, 500, seed=7))
    assert not same(first, generate(shape, 500, seed=8))


def test_rows_are_pinned() -> None:
    """Whatever changes these numbers changes what every printed seed stands for."""
    stimulus = generate(SHAPES["mixed fp8"], 2000, seed=1)
    assert [int(codes.astype(np.uint64).sum()) for codes in stimulus.operands[:3]] == [7175344, 7237201, 3942313467113]


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


@pytest.mark.parametrize("rows", [1, 999, 16384, 20000, 50000])
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


@EVERY_SHAPE
def test_half_the_rows_are_random_classes_and_every_generator_has_its_share(shape: OperandShape) -> None:
    counts = generate(shape, 20000, seed=2).counts()
    assert tuple(counts) == NAMES
    assert abs(sum(counts[name] for name in CLASSES) - 10000) <= 2 * len(NAMES)
    assert [name for name, rows in counts.items() if not rows] == [n for n, c in CORNERS.items() if not c.cases(shape)]


@EVERY_SHAPE
def test_every_case_of_every_corner_appears(shape: OperandShape, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[int]] = {name: set() for name in CORNERS}
    for name, corner in CORNERS.items():

        def make(
            shape: OperandShape, rng: np.random.Generator, case: Any, name: str = name, corner: Corner = corner
        ) -> Operands:
            seen[name].update(case.tolist())
            return corner.make(shape, rng, case)

        monkeypatch.setitem(CORNERS, name, type(corner)(corner.cases, make))
    generate(shape, complete_rows(shape), seed=4)
    assert {name: len(cases) for name, cases in seen.items()} == {n: c.cases(shape) for n, c in CORNERS.items()}


def test_complete_rows_of_a_very_long_vector_spans_rounds() -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=1024)
    assert complete_rows(shape) % 16384 == 0
    assert complete_rows(shape) > 2 * sum(corner.cases(shape) for corner in CORNERS.values())


@EVERY_SHAPE
def test_every_special_in_every_place(shape: OperandShape) -> None:
    a, b, c, scale_a, scale_b = only(generate(shape, complete_rows(shape), seed=6), "special-operands").operands
    for k in range(shape.K):
        assert set(landmarks(shape.a)) <= set(a[:, k].tolist())
        assert set(landmarks(shape.b)) <= set(b[:, k].tolist())
    assert set(landmarks(shape.c)) <= set(c.tolist())
    for scales in (scale_a, scale_b):
        if shape.scale is None or scales is None:
            continue
        for block in range(shape.blocks):
            assert set(landmarks(shape.scale)) <= set(scales[:, block].tolist())


@pytest.mark.parametrize("operand", [*golden.FORMATS.values()], ids=str)
def test_landmarks_are_what_a_format_has(operand: golden.Format) -> None:
    """Zeros, both ends of the subnormals, both ends of the normals, infinities and NaNs, all of both signs."""
    found = [operand.decode(code) for code in landmarks(operand)]
    classes = {cls for sign, exp, sig, cls in found}
    if operand.width <= 16:
        assert classes == {operand.decode(code).cls for code in range(operand.codes)}
    assert {exp for _, exp, _, cls in found if cls is Cls.NORMAL} >= {operand.e_min, operand.e_max}
    if operand.signed:
        assert {(x.sign, x.cls) for x in found if x.cls not in (Cls.NAN, Cls.ZERO)} == {
            (sign, cls) for sign in (0, 1) for cls in classes - {Cls.NAN, Cls.ZERO}
        }


@pytest.mark.parametrize("operand", [FP16, E4M3, E2M1, UE4M3, UE8M0, TF32], ids=str)
def test_number_is_the_encoded_value(operand: golden.Format) -> None:
    low = operand.e_min - (operand.man_bits if operand.subnormals else 0)
    for sign, lead in itertools.product((0, 1), range(low, operand.e_max + 1)):
        code = int(number(operand, np.array([sign]), np.array([lead]))[0])
        value = -power_of_two(lead) if sign and operand.signed else power_of_two(lead)
        assert code == operand.encode(value)
    top = number(operand, np.array([0]), np.array([operand.e_max]), (1 << operand.man_bits) - 1)
    assert int(top[0]) == operand.max_finite


def test_bits_class_is_uniform() -> None:
    a = only(generate(SHAPES["mixed fp8"], 20000, seed=1), "bits").operands.a
    tally = np.bincount(a.ravel(), minlength=256)
    assert tally.min() > 0.6 * tally.mean()
    assert tally.max() < 1.5 * tally.mean()


def test_normal_class_overlaps_and_mixes_signs() -> None:
    """In most rows at least half of the products lie within 24 exponents of the largest term, so that they all count."""
    stimulus = rows_for(BF16_STEP, "normal")
    shape = OperandShape.of_operation(BF16_STEP)
    overlapping, mixed = 0, 0
    for row in range(len(stimulus)):
        terms = exact_terms(shape, stimulus, row)
        largest = max(map(abs, terms))
        overlapping += sum(abs(term) * 2**24 > largest for term in terms[:-1]) >= 4
        mixed += len({term > 0 for term in terms[:-1]}) == 2
    assert overlapping > 0.6 * len(stimulus)
    assert mixed > 0.4 * len(stimulus)


def test_cancel_class_cancels() -> None:
    """The products' exact sum is far smaller than the products."""
    stimulus = rows_for(BF16_STEP, "cancel")
    shape = OperandShape.of_operation(BF16_STEP)
    for row in range(len(stimulus)):
        products = exact_terms(shape, stimulus, row)[:-1]
        assert abs(sum(products, Fraction(0))) * 8 < sum(map(abs, products))


@pytest.mark.parametrize("step", [BF16_STEP, FP16_STEP], ids=["bf16", "fp16"])
def test_specials_class_reaches_all_results(step: TFDPA) -> None:
    tally = result_classes(step, rows_for(step, "specials"))
    assert min(tally.count(cls) for cls in (Cls.NORMAL, Cls.INFINITY, Cls.NAN)) > 0.1 * len(tally)


def test_tiny_class_gives_subnormals_and_huge_class_infinities() -> None:
    assert result_classes(BF16_STEP, rows_for(BF16_STEP, "tiny")).count(Cls.SUBNORMAL) > 100
    huge = result_classes(BF16_STEP, rows_for(BF16_STEP, "huge"))
    assert min(huge.count(Cls.INFINITY), huge.count(Cls.NORMAL)) > 100


@pytest.mark.parametrize("step", [BF16_STEP, FP16_STEP], ids=["bf16", "fp16"])
def test_ties_and_their_neighbours(step: TFDPA) -> None:
    """Exact sums half-way between two results, and on both sides of half-way within 2^-8 of an ulp."""
    shape, stimulus = OperandShape.of_operation(step), rows_for(step, "ties")
    exactly, above, below = 0, 0, 0
    for row in range(len(stimulus)):
        total = abs(sum(exact_terms(shape, stimulus, row), Fraction(0)))
        lead = total.numerator.bit_length() - total.denominator.bit_length()
        lead -= power_of_two(lead) > total
        ulps = total / power_of_two(max(lead, step.d.e_min) - step.d.man_bits)
        beside = ulps - int(ulps) - Fraction(1, 2)
        exactly += beside == 0
        above += 0 < beside < Fraction(1, 256)
        below += Fraction(-1, 256) < beside < 0
    assert exactly > len(stimulus) / 5
    assert min(above, below) > len(stimulus) / 20


@pytest.mark.parametrize("step", [BF16_STEP, FP16_STEP], ids=["bf16", "fp16"])
def test_overflow_is_met_from_both_sides(step: TFDPA) -> None:
    """Exact sums just below, at and above the value from which on RNE gives infinity."""
    shape, stimulus = OperandShape.of_operation(step), rows_for(step, "overflow")
    half_ulp = power_of_two(step.d.e_max - step.d.man_bits - 1)
    limit = exact(step.d, step.d.max_finite) + half_ulp
    sums = [abs(sum(exact_terms(shape, stimulus, row), Fraction(0))) for row in range(len(stimulus))]
    assert sum(limit - 2 * half_ulp <= total < limit for total in sums) > 5
    assert sum(total == limit for total in sums) > 0
    assert sum(limit < total <= limit + 2 * half_ulp for total in sums) > 5
    classes = result_classes(step, stimulus)
    assert min(classes.count(Cls.INFINITY), classes.count(Cls.NORMAL)) > len(classes) / 5


def test_cancellation_leaves_nothing_or_the_small_product() -> None:
    shape, stimulus = OperandShape.of_operation(BF16_STEP), rows_for(BF16_STEP, "cancellation")
    gaps: set[int] = set()
    nothing = 0
    for row in range(len(stimulus)):
        terms = exact_terms(shape, stimulus, row)
        total, largest = abs(sum(terms, Fraction(0))), max(map(abs, terms))
        if total == 0:
            nothing += 1
        elif total in map(abs, terms):
            gaps.add((largest / total).numerator.bit_length() - 1)
    assert nothing > len(stimulus) / 3
    assert gaps >= set(range(1, 40))


@pytest.mark.parametrize("step", [BF16_STEP, FP16_STEP], ids=["bf16", "fp16"])
@pytest.mark.parametrize("by", [-1, 1])
def test_e_zero_floor_decides(step: TFDPA, by: int) -> None:
    """c is zero, all else tiny, and an e_zero one off changes results."""
    stimulus = rows_for(step, "e_zero-floor", count=20000)
    assert {step.c.decode(code).cls for code in stimulus.operands.c.tolist()} == {Cls.ZERO}
    moved = results(step.changed(e_zero=step.e_zero + by), stimulus)
    assert np.count_nonzero(moved != results(step, stimulus)) >= 3


@pytest.mark.parametrize(
    "step", [BF16_STEP, FP16_STEP, BF16_STEP.changed(a="e4m3", b="e4m3", L=32)], ids=["bf16", "fp16", "e4m3"]
)
def test_subnormal_results_are_subnormal(step: TFDPA) -> None:
    classes = result_classes(step, rows_for(step, "subnormal-results"))
    assert classes.count(Cls.SUBNORMAL) > 0.6 * len(classes)


@pytest.mark.parametrize("F", [13, 23, 24, 25, 35])
def test_alignment_edge_sees_every_fraction_width(F: int) -> None:
    """One more or one less fraction bit, or another truncation, changes results whatever F is."""
    step = BF16_STEP.changed(F=F)
    stimulus = rows_for(step, "alignment-edge")
    here = results(step, stimulus)
    for other in (step.changed(F=F - 1), step.changed(F=F + 1), step.changed(truncation="RD")):
        assert np.count_nonzero(results(other, stimulus) != here) > 10


def test_special_pairs_multiplies_every_landmark_by_every_other() -> None:
    shape = SHAPES["fp16"]
    operands = only(generate(shape, complete_rows(shape), seed=1), "special-pairs").operands
    met = {pair for x, y in zip(operands.a.tolist(), operands.b.tolist(), strict=True) for pair in zip(x, y, strict=True)}
    assert set(itertools.product(landmarks(FP16), landmarks(FP16))) <= met


def test_c_sweep_takes_c_through_all_classes_and_exponents() -> None:
    shape = SHAPES["bf16"]
    c = [FP32.decode(code) for code in only(generate(shape, complete_rows(shape), seed=1), "c-sweep").operands.c.tolist()]
    assert {(x.sign, x.cls) for x in c} == set(itertools.product((0, 1), Cls))
    # 277 exponents, subnormals' included, by 256 even steps: no two of them are skipped in a row.
    leads = sorted({x.exp + x.sig.bit_length() - 1 - FP32.man_bits for x in c if x.sig})
    assert (leads[0], leads[-1]) == (-149, 127)
    assert max(high - low for low, high in itertools.pairwise(leads)) <= 2


def test_discrepancy_input_is_the_published_one() -> None:
    """Hopper gives −0.75 for it, Volta 0 (numerics.md, section 8); every row is it, rotated or negated."""
    shape = OperandShape.of_instruction(golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"))
    rows = only(generate(shape, complete_rows(shape), seed=1), "discrepancy").operands
    published = np.zeros((2, 16), np.float16)
    published[0, :4], published[1, :4] = (-(2**13), -0.5, -0.25, -0.125), (2**10, 1, 1, 1)
    codes = published.view(np.uint16)
    assert any((a == codes[0]).all() and (b == codes[1]).all() for a, b in zip(rows.a, rows.b, strict=True))
    d = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32").dot(*rows).view(np.float32)
    assert sorted(set(np.abs(d).tolist())) == [0.75]


@pytest.mark.parametrize("name", ["fp16-out", "mixed fp8", "fp4", "one product"])
def test_discrepancy_input_is_absent_where_it_does_not_fit(name: str) -> None:
    assert generate(SHAPES[name], 5000, seed=1).counts()["discrepancy"] == 0


@pytest.mark.parametrize("change", [{"F": 24}, {"F": 26}, {"rho": "RNE-FP32"}, {"truncation": "RD"}, {"e_zero": -132}])
def test_a_wrong_unit_is_noticed(change: dict[str, Any]) -> None:
    """2,000 rows are enough to tell every neighbour of a unit from it; e_zero, the shyest, needs more."""
    stimulus = generate(OperandShape.of_operation(BF16_STEP), 8000 if "e_zero" in change else 2000, seed=9)
    assert (results(BF16_STEP.changed(**change), stimulus) != results(BF16_STEP, stimulus)).any()


def test_instruction_rows_run_through_its_chain() -> None:
    """Every catalogue instruction takes the rows that are made for it; one shape a pattern of names is enough."""
    seen: dict[OperandShape, golden.Instruction] = {}
    for entry in golden.instructions():
        seen.setdefault(OperandShape.of_instruction(entry), entry)
    assert len(seen) > 60
    for shape, entry in seen.items():
        operands = generate(shape, 20, seed=1).operands
        assert entry.dot(*operands).shape == (20,)
        assert isinstance(entry.chain, Chain) or entry.a.width == 8


def test_e8m13_is_rounded_at_thirteen_bits() -> None:
    entry = golden.instruction("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3")
    assert OperandShape.of_instruction(entry).d.man_bits == 13


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "count must be at least 1, got 0"),
        ((10, -1), "seed must be at least 0, got -1"),
    ],
)
def test_generate_refuses(arguments: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        generate(SHAPES["fp16"], *arguments)


def test_chunks_of_no_rows_refused() -> None:
    with pytest.raises(ValueError, match=r"^rows must be at least 1, got 0$"):
        next(chunks(SHAPES["fp16"], 10, seed=1, rows=0))


def test_shape_refuses() -> None:
    with pytest.raises(ValueError, match=r"^K must be at least 1, got 0$"):
        OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=0)
    with pytest.raises(ValueError, match=r"^scale and block_size go together; got scale=ue8m0, block_size=None$"):
        OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4, scale=UE8M0)
