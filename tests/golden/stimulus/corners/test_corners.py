"""Every directed corner reaches the situation of its name."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FP16, FP32, Cls, power_of_two
from golden.operations import PSFDPA, TFDPA
from golden.stimulus import (
    OperandShape,
    complete_rows,
    generate,
)
from golden.stimulus.codes import landmarks
from tests.golden.stimulus.stimuli import (
    BF16_STEP,
    FP16_STEP,
    SHAPES,
    exact,
    exact_terms,
    only,
    result_classes,
    results,
    rows_for,
)  # fmt: skip


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
    assert exactly > len(stimulus) / 20
    assert min(above, below) > len(stimulus) / 10


@pytest.mark.parametrize("step", [BF16_STEP, FP16_STEP], ids=["bf16", "fp16"])
def test_overflow_is_met_from_both_sides(step: TFDPA) -> None:
    """Exact sums just below, at and above the value from which on RNE gives infinity."""
    shape, stimulus = OperandShape.of_operation(step), rows_for(step, "overflow", count=20000)
    half_ulp = power_of_two(step.d.e_max - step.d.man_bits - 1)
    limit = exact(step.d, step.d.max_finite) + half_ulp
    sums = [abs(sum(exact_terms(shape, stimulus, row), Fraction(0))) for row in range(len(stimulus))]
    assert sum(limit - 2 * half_ulp <= total < limit for total in sums) > 5
    assert sum(total == limit for total in sums) > 0
    assert sum(limit < total <= limit + 2 * half_ulp for total in sums) > 5
    classes = result_classes(step, stimulus)
    assert min(classes.count(Cls.INFINITY), classes.count(Cls.NORMAL)) > len(classes) / 5


def test_cancellation_leaves_nothing_or_the_small_product() -> None:
    shape, stimulus = OperandShape.of_operation(BF16_STEP), rows_for(BF16_STEP, "cancellation", count=20000)
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


@pytest.mark.slow
@pytest.mark.parametrize("step", [BF16_STEP, FP16_STEP], ids=["bf16", "fp16"])
@pytest.mark.parametrize("by", [-1, 1])
def test_e_zero_floor_decides(step: TFDPA, by: int) -> None:
    """c is zero, all else tiny, and an e_zero one off changes results."""
    stimulus = rows_for(step, "e_zero-floor", count=40000)
    assert {step.c.decode(code).cls for code in stimulus.operands.c.tolist()} == {Cls.ZERO}
    moved = results(step.changed(e_zero=step.e_zero + by), stimulus)
    assert np.count_nonzero(moved != results(step, stimulus)) >= 3


@pytest.mark.parametrize(
    "step", [BF16_STEP, FP16_STEP, BF16_STEP.changed(a="e4m3", b="e4m3", L=32)], ids=["bf16", "fp16", "e4m3"]
)
def test_subnormal_results_are_subnormal(step: TFDPA) -> None:
    classes = result_classes(step, rows_for(step, "subnormal-results", count=20000))
    assert classes.count(Cls.SUBNORMAL) > 0.6 * len(classes)


@pytest.mark.parametrize("F", [13, 23, 24, 25, 35])
def test_alignment_edge_sees_every_fraction_width(F: int) -> None:
    """One more or one less fraction bit, or another truncation, changes results for every F."""
    step = BF16_STEP.changed(F=F)
    stimulus = rows_for(step, "alignment-edge", count=20000)
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
    # 277 exponents, subnormals' included, by 96 even steps.
    leads = sorted({x.exp + x.sig.bit_length() - 1 - FP32.man_bits for x in c if x.sig})
    assert (leads[0], leads[-1]) == (-149, 127)
    assert max(high - low for low, high in itertools.pairwise(leads)) <= 3


def test_discrepancy_input_is_the_published_one() -> None:
    """Hopper gives −0.75 for it, Volta 0 (numerics.md, section 8); every row is it, rotated or negated."""
    shape = OperandShape.of(golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"))
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


@pytest.mark.parametrize("step", [BF16_STEP, BF16_STEP.changed(a="fp16", b="fp16", L=4)], ids=["bf16", "fp16"])
def test_cancelled_sums_leave_one_product_deep_below_c(step: TFDPA) -> None:
    """The sum is a single product, and lies further below c than it lies below the products' exponent."""
    shape, stimulus = OperandShape.of_operation(step), rows_for(step, "cancelled-sums", count=20000)
    depths, subnormal = set(), 0
    for row in range(len(stimulus)):
        terms = exact_terms(shape, stimulus, row)
        total, c = sum(terms, Fraction(0)), terms[-1]
        if total and total in terms:
            depths.add(math.floor(math.log2(abs(c / total))))
            subnormal += abs(total) < power_of_two(step.d.e_min)
    assert depths >= set(range(14, 37))
    assert subnormal > len(stimulus) / 4 or step.a is FP16


def test_carried_ties_pass_a_power_of_two_with_a_tail() -> None:
    """The sum's exponent is one above c's, and what lies below a result or a half of its last place has one or two ones."""
    shape, stimulus = OperandShape.of_operation(BF16_STEP), rows_for(BF16_STEP, "carried-ties", count=20000)
    tails = set()
    for row in range(len(stimulus)):
        terms = exact_terms(shape, stimulus, row)
        total, c = abs(sum(terms, Fraction(0))), abs(terms[-1])
        lead = total.numerator.bit_length() - total.denominator.bit_length()
        lead -= power_of_two(lead) > total
        if c < power_of_two(lead) <= total:
            halves = total / power_of_two(lead - FP32.man_bits - 1)
            below = halves - math.floor(halves)
            tails.add((below.denominator.bit_length() - 1, below.numerator))
    assert tails >= {(end, ones) for end in range(2, 19) for ones in (1, 3, (1 << end) - 1, (1 << end) - 3)}


@pytest.mark.parametrize("L", [2, 4])
def test_paired_ties_need_the_sum_of_a_group(L: int) -> None:
    """Of the first vectors, those of PS-FDPA alone: the group's sum is half of the last place of c, to which the smaller
    product adds what alone lies far below; products floored each by itself give another d."""
    pairs = PSFDPA(a="fp16", b="fp16", c="fp16", L=L, P=2, F=26, h=2, rho="RNE-FP16", e_zero=-14)  # type: ignore[arg-type]
    alone = replace(pairs, P=1)
    shape = OperandShape.of_operation(pairs)
    assert replace(shape, neighbours=1) == OperandShape.of_operation(alone)
    stimulus = only(generate(shape, complete_rows(shape, level=1), seed=3), "carried-ties")
    found, shown = set(), 0
    for row in range(len(stimulus)):
        *products, c = exact_terms(shape, stimulus, row)
        present = [k for k, product in enumerate(products) if product]
        large, small = sorted((abs(products[k]) for k in present), reverse=True)
        assert present[1] - present[0] == 1
        assert present[0] % 2 == 0
        tie = large + small
        last_place = power_of_two(math.floor(math.log2(abs(c))) - 10)
        assert tie == last_place / 2
        found.add((int(math.log2(tie / small)), int(abs(c) / last_place) % 2, c < 0))
        a, b, codes = (array[row].tolist() for array in stimulus.operands[:3])
        shown += pairs.step(a, b, codes) != alone.step(a, b, codes)
    assert found == {(2 * half, odd, negative) for half in range(1, 11) for odd in (0, 1) for negative in (False, True)}
    assert shown >= 10


@pytest.mark.slow
def test_largest_sums_end_at_a_power_of_two() -> None:
    """Three quarters of them add up, without c, to one that is at least an eighth of the largest sum there can be."""
    for shape in (SHAPES["mixed fp8"], SHAPES["fp16"], replace(SHAPES["mixed fp8"], K=3)):
        stimulus = only(generate(shape, complete_rows(shape), seed=1), "largest-sums")
        largest = shape.K * exact(shape.a, shape.a.max_finite) * exact(shape.b, shape.b.max_finite)
        sums = [abs(sum(exact_terms(shape, stimulus, row)[:-1], Fraction(0))) for row in range(len(stimulus))]
        powers = [total for total in sums if total.numerator.bit_count() == 1 == total.denominator.bit_count()]
        assert len(powers) > 0.7 * len(sums)
        assert largest / 2 < max(powers) <= largest


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one product", "fp16-out", "bf16"])
def test_lone_bits_stand_at_every_place(name: str) -> None:
    """Below a tie above an even number of last places, and below such a number; with two seeds, because factors of a product
    that ends in a tie are tried at random, and sometimes none is found."""
    shape = SHAPES[name]
    seen = set()
    for seed in (1, 2):
        stimulus = only(generate(shape, complete_rows(shape), seed), "lone-bits")
        for row in range(len(stimulus)):
            total = abs(sum(exact_terms(shape, stimulus, row), Fraction(0)))
            lead = total.numerator.bit_length() - total.denominator.bit_length()
            lead -= power_of_two(lead) > total
            halves = total / power_of_two(max(lead, shape.d.e_min) - shape.d.man_bits - 1)
            below = halves - math.floor(halves)
            if math.floor(halves) % 4 < 2 and below.numerator == 1:
                seen.add((math.floor(halves) % 2, below.denominator.bit_length() - 2))
    places = range(2 * shape.d.man_bits)
    assert seen >= {(half, place) for half in (0, 1) for place in places}


def last_bit(value: Fraction) -> int:
    """The exponent of a number's last bit; its denominator is a power of two."""
    return (value.numerator & -value.numerator).bit_length() - value.denominator.bit_length()


@pytest.mark.parametrize("name", ["one product", "fp16-out"])
def test_three_times_the_smallest_c_stands_at_every_place_below_a_single_product(name: str) -> None:
    """An alignment that takes the exclusive or of both bits for the sticky bit loses them: here of ties, which c breaks.
    There are two seeds, because factors of a product that ends in a tie are tried at random."""
    shape = replace(SHAPES[name], K=1)
    smallest = exact(shape.c, 1)
    places = set()
    for seed in (1, 2):
        stimulus = only(generate(shape, complete_rows(shape), seed), "lone-bits")
        for row in range(len(stimulus)):
            product, c = exact_terms(shape, stimulus, row)
            if product and abs(c) == 3 * smallest and shape.d.encode(product + c) != shape.d.encode(product):
                places.add(last_bit(product / smallest))
    assert places >= set(range(3, 2 * shape.d.man_bits))
