"""Error bounds: never exceeded, able to be, and how near a search comes to them."""

import random
from fractions import Fraction

import pytest

import golden
from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP16, FP32
from golden.chains.chain import Chain
from golden.operations import ADD, Operation
from golden.stimulus import Row
from golden.units.unit_file import operation_from_table
from mmau.analysis.adverse_rows import Arithmetic, gapped_rows, stimulus_rows
from mmau.analysis.error_bound import INPUT_FTZ, OUTPUT_FTZ, OUTPUT_ROUNDING, Bounded, searched, shares
from tests.mmau.probe.known_units import random_operation

ONE_EACH = (
    ("sm_80", "mma.m8n8k4.f64.f64.f64.f64"),
    ("gfx908", "v_mfma_f32_16x16x16f16"),
    ("gfx90a", "v_mfma_f32_16x16x16f16"),
    ("sm_90", "mma.m16n8k32.f16.e4m3.e4m3.f16"),
    ("x86-avx512", "vdpbf16ps"),
)
"""Instructions whose errors come so near to their bounds that one unit in the last place less is too little."""


def bounded(arch: str, name: str) -> Bounded:
    return Bounded(Arithmetic.of_instruction(golden.instruction(arch, name)))


def of_operation(operation: Operation, K: int) -> Bounded:
    return Bounded(Arithmetic(name=operation.name, chain=Chain(operation), a=operation.a, b=operation.b, K=K))


def ulp(d: int, watched: Bounded) -> Fraction:
    """Unit in the last place of a result."""
    return power_of_two(watched.arithmetic.d.decode(d).exp - watched.arithmetic.d.man_bits)


FEW_TERMS: dict[str, dict[str, object]] = {
    "ST-FDPA": {"a": "fp16", "b": "fp16", "L": 2, "K_block": 2, "F": 30, "rho": "RNE-FP32", "e_zero": -140},
    "GST-FDPA": {
        "a": "e4m3", "b": "e4m3", "L": 4, "G": 2, "K_block": 2, "scale": "ue8m0", "F": 30, "rho": "RNE-FP32", "e_zero": -140,
    },
    "TR-FDPA": {"a": "fp16", "b": "fp16", "L": 2, "F": 24, "F2": 31, "rho": "RNE-FP32"},
    "GTR-FDPA": {"a": "e5m2", "b": "e5m2", "L": 2, "F": 24, "F2": 31, "rho": "RNE-FP32"},
    "FTZ-EO-FMA": {"a": "bf16", "b": "bf16", "L": 2},
}  # fmt: skip
"""Units of the other operations, of so few terms that all of these lose nearly what they may in one row."""

TIGHT = [bounded(*one) for one in ONE_EACH] + [
    of_operation(operation_from_table({"operation": name, "c": "fp32", **keys}), int(str(keys["L"])))
    for name, keys in FEW_TERMS.items()
]


@pytest.mark.slow
@pytest.mark.parametrize("watched", TIGHT, ids=lambda watched: watched.arithmetic.name)
def test_bound_lowered_by_one_ulp_is_exceeded(watched: Bounded) -> None:
    rows = [*gapped_rows(watched.arithmetic, range(20, 30)), *stimulus_rows(watched.arithmetic, 100, 0)]
    exceeded = 0
    for row in rows:
        errors = watched.error(row)
        if errors is not None:
            error, bound = errors
            assert error <= bound
            exceeded += error > bound - ulp(watched(row)[0], watched)
    assert exceeded


def test_fused_summation_and_rounding_toward_zero_come_within_one_ulp_of_their_bounds_together() -> None:
    """On Volta, in units of the aligned terms' last place, 2^−23: c and the first product are kept whole and add up to
    5.99 and three such units, which rounding takes, for it keeps multiples of four; the others are cut, 0.999 units each."""
    watched = bounded("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
    large, small = 0x3FFF, (0x3FFF - (12 << 10), 0x3FFF - (13 << 10))
    row = Row(a=(large, *[small[0]] * 3), b=(large, *[small[1]] * 3), c=FP32.encode(2) - 1)
    errors = watched.error(row)
    assert errors is not None
    error, bound = errors
    assert bound == (5 + 4) * power_of_two(-23)
    assert bound - ulp(watched(row)[0], watched) < error < bound


def test_unit_that_cuts_more_than_it_says_exceeds_its_bound() -> None:
    operation = golden.instruction("sm_80", "mma.m16n8k8.f32.f16.f16.f32").operation
    claimed, cuts_more = of_operation(operation, 8), of_operation(operation.changed(F=20), 8)
    rows = [*gapped_rows(claimed.arithmetic, range(20, 30)), *stimulus_rows(claimed.arithmetic, 60, 0)]
    pairs = [(cuts_more.error(row), claimed.error(row)) for row in rows]
    assert any(wrong[0] > right[1] for wrong, right in pairs if wrong is not None and right is not None)


def test_integers_have_no_bound() -> None:
    i = golden.instruction("x86-avx512", "vpdpbusd")
    with pytest.raises(ValueError, match=r"^IDPA is exact arithmetic on integers and has no error bound$"):
        Bounded(Arithmetic.of_instruction(i))


def test_flushed_operand_is_bounded_by_its_smallest_normal_number_times_the_other() -> None:
    watched = bounded("gfx90a", "v_mfma_f32_4x4x4f16")
    d, ledger = watched(Row(a=(0x3FF, 0, 0, 0), b=(FP16.encode(3), 0, 0, 0), c=0))
    assert d == 0
    assert ledger.bounds[INPUT_FTZ] == 3 * power_of_two(-14)
    tiny = bounded("gfx90a", "v_mfma_f32_4x4x2bf16")
    smallest = 1 << 7
    d, ledger = tiny(Row(a=(smallest, 0), b=(0x3F00, 0), c=0))
    assert (d, ledger.bounds[OUTPUT_FTZ]) == (0, power_of_two(-126))


def test_flushed_elements_that_are_added_are_bounded_by_their_smallest_normal_number_each() -> None:
    adds = of_operation(ADD(a="bf16", b="bf16", flush_inputs=True), 1)  # type: ignore[arg-type]
    row = Row(a=(0x7F,), b=(0x1,), c=0)
    d, ledger = adds(row)
    assert (d, ledger.bounds[INPUT_FTZ], adds.arithmetic.exact(row)) == (0, power_of_two(-125), power_of_two(-126))


def test_rounding_is_half_a_place_to_nearest_and_a_whole_one_toward_zero() -> None:
    row = Row(a=(FP16.encode(1), 0, 0, 0), b=(FP16.encode(1), 0, 0, 0), c=0)
    for rho, places in (("RZ-FP32", 1), ("RNE-FP32", Fraction(1, 2)), ("RZ-E8M13", 1 << 10)):
        operation = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32").operation.changed(rho=rho)
        _, ledger = of_operation(operation, 4)(row)
        assert ledger.bounds[OUTPUT_ROUNDING] == places * power_of_two(-FP32.man_bits)


def exceeding_units(seed: int, count: int) -> list[Operation]:
    """Of so many units with parameters drawn from all that units may have, those that a short search breaks the bound of."""
    rng, found, tried = random.Random(seed), [], 0
    while tried < count:
        operation = random_operation(rng)
        if operation.name == "IDPA" or operation.length > 16:
            continue
        watched = of_operation(operation, operation.length)
        start = shares(watched, stimulus_rows(watched.arithmetic, 16, seed))
        if start:
            tried += 1
            if searched(watched, start, 24, seed)[0] > 1:
                found.append(operation)
    return found


@pytest.mark.slow
def test_bounds_hold_for_units_off_the_catalogue() -> None:
    assert exceeding_units(7, 20) == []


@pytest.mark.long
def test_bounds_hold_for_many_units_off_the_catalogue() -> None:
    assert exceeding_units(8, 500) == []


def test_search_comes_nearer_to_the_bound() -> None:
    watched = Bounded(Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")))
    start = shares(watched, stimulus_rows(watched.arithmetic, 12, 0))
    found, row = searched(watched, start, 150, 0)
    assert max(share for share, _ in start) < found <= 1
    assert watched.share(row) == found
