"""Two arithmetics told apart by a small input, and the ends that a search may have."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import golden
from golden.stimulus import generate
from mmau.probe.distinguish import Alike, Difference, Side, Verdict, asked_prover, differs, distinguish, sides, text_of
from tests.golden.units.own_formats import own_unit
from tests.mmau.probe.devices import TINY, unit
from tests.volume import one_in


def found(x: golden.Unit | golden.Instruction, y: golden.Unit | golden.Instruction) -> Difference:
    result = distinguish(*sides(x, y), vectors=20_000, seed=0)
    assert isinstance(result, Difference)
    return result


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    one_in(3, [
        {"F": 10}, {"e_zero": 0}, {"truncation": "RD"}, {"sticky": False}, {"rho": "RZ-FP16"}, {"L": 1},
        {"overflow": "saturate"}, {"flush_inputs": True}, {"flush_results": True},
    ]),
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_units_that_differ_in_one_key_are_distinguished(changes: dict[str, object]) -> None:
    operation = TINY.changed(c="fp16")
    x, y = unit(operation), unit(operation.changed(**changes))
    difference = found(x, y)
    row = difference.row
    assert int(x.dot(row.a, row.b, row.c)[0]) == difference.d[0]
    assert int(y.dot(row.a, row.b, row.c)[0]) == difference.d[1]
    assert difference.d[0] != difference.d[1]


@pytest.mark.slow
def test_the_input_is_small_and_its_step_is_named() -> None:
    name = "mma.m16n8k8.f32.f16.f16.f32"
    difference = found(golden.instruction("sm_80", name), golden.instruction("sm_90", name))
    row = difference.row
    assert np.count_nonzero((row.a[0] != 0) & (row.b[0] != 0)) <= 3
    text = text_of(difference)
    assert "they first differ in" in text
    assert "bits of d differ" in text


@pytest.mark.slow
def test_equal_arithmetics_show_no_difference() -> None:
    x, y = sides(unit(TINY.changed(e_zero=-200)), unit(TINY.changed(e_zero=-300)))
    assert x.chain != y.chain
    found = distinguish(x, y, 5000, 0)
    assert isinstance(found, Alike)
    assert found.tried > 5000
    assert (found.proved, found.why) == (False, "")


OF_FP32 = [unit(TINY.changed(e_zero=e_zero)) for e_zero in (-200, -300)]

ALIKE = [unit(TINY.changed(c="fp16", e_zero=e_zero)) for e_zero in (-200, -300)]


@pytest.mark.slow
def test_a_prover_has_the_last_word_where_no_vector_tells() -> None:
    asked: list[int] = []

    def prover(left: Side, right: Side) -> Verdict:
        asked.append(left.shape.K)
        return True

    found = distinguish(*sides(*ALIKE), 100, 0, prover)
    assert isinstance(found, Alike)
    assert found.proved
    assert asked == [TINY.length]  # one step of the two


def test_a_prover_that_does_not_finish_or_is_wrong() -> None:
    x, y = sides(*ALIKE)
    assert asked_prover(lambda left, right: "too long", x, y, 7) == Alike(7, why="too long")
    row = generate(replace(x.shape, K=TINY.length), 1, 0).operands
    found = asked_prover(lambda left, right: row, x, y, 7)
    assert isinstance(found, Alike)
    assert "shows no difference between the models" in found.why


def test_a_provers_input_is_a_difference_where_the_models_differ() -> None:
    x, y = sides(unit(TINY), unit(TINY.changed(rho="RZ-FP16")))
    step = generate(replace(x.shape, K=TINY.length), 4096, 0).operands
    telling = step.rows(np.flatnonzero(differs(x, y, step))[:1])
    found = asked_prover(lambda left, right: telling, x, y, 7)
    assert isinstance(found, Difference)
    assert found.d[0] != found.d[1]


def test_steps_of_different_lengths_are_compared_over_as_many_products_as_are_whole_steps_of_both() -> None:
    asked: list[tuple[int, str]] = []

    def prover(left: Side, right: Side) -> Verdict:
        asked.append((left.shape.K, left.shape.c.name))
        return True

    x, y = sides(unit(TINY.changed(c="fp16", L=2)), unit(TINY.changed(c="fp16", L=3)))
    assert asked_prover(prover, x, y, 7) == Alike(7, proved=True)
    assert asked == [(6, "fp16")]


def test_steps_whose_c_has_another_format_from_the_second_one_on_are_proved_too() -> None:
    whole = [replace(side, shape=replace(side.shape, K=3 * TINY.length)) for side in sides(*OF_FP32)]
    asked: list[str] = []

    def prover(verdict: Verdict) -> Callable[[Side, Side], Verdict]:
        def asks(left: Side, right: Side) -> Verdict:
            asked.append(left.shape.c.name)
            assert left.chain.operation.c == left.shape.c
            return True if len(asked) == 1 else verdict

        return asks

    x, y = whole
    assert asked_prover(prover(True), x, y, 7) == Alike(7, proved=True)
    assert asked == ["fp32", "fp16"]
    asked.clear()
    assert asked_prover(prover("too long"), x, y, 7) == Alike(7, why="too long")
    asked.clear()
    row = generate(x.shape, 1, 0).operands
    assert asked_prover(prover(row), x, y, 7) == Alike(7, why="from the second step on they may differ")


def test_units_with_scales_of_one_side() -> None:
    one_side = own_unit("weights under fp16")
    operation = one_side.operation
    difference = found(one_side, unit(operation.changed(F=21)))
    row = difference.row
    assert int(one_side.dot(*row[:3], scale_b=row.scale_b)[0]) == difference.d[0]
    assert "scale_a" not in text_of(difference)
    with pytest.raises(ValueError, match=r"^scales must be the same for both, .*; got scale_b, and scale_a and scale_b$"):
        sides(one_side, unit(operation.changed(scales="both")))


def test_other_operands_are_refused() -> None:
    with pytest.raises(ValueError, match="a must be the same for both, to give them the same inputs; got e4m3 and e5m2"):
        sides(unit(TINY), unit(TINY.changed(a="e5m2")))
