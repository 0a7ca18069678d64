"""Correct products in orders drawn from the whole grammar of a gemm.toml raise no false alarm in assert_gemm."""

from typing import Any

import numpy as np
import pytest

import golden
from golden.arrays import bits_dtype
from mmau.testing import assert_gemm
from tests.mmau.probe.drawn_orders import INSTRUCTIONS, Draw, drawn_operands

SHAPE = (6, 8, 100)


def correct(seed: int) -> dict[str, Any]:
    """A product that the reference engine computed, in Python on exact integers, with what assert_gemm needs."""
    rng = np.random.default_rng(1000 + seed)
    named = list(INSTRUCTIONS)[seed % len(INSTRUCTIONS)]
    name, (arch, instr) = named.split()[0], INSTRUCTIONS[named]
    model = golden.instruction(arch, instr)
    a, b = drawn_operands(rng, name, *SHAPE)
    order = Draw(rng, model, name, SHAPE).order()
    while "bias" in order.epilogue:  # which assert_gemm does not take
        order = Draw(rng, model, name, SHAPE).order()
    c = rng.standard_normal(SHAPE[:2], np.float32).view(bits_dtype(model.c))
    d = golden.gemm(model, a, b, c, engine="reference", order=order)
    return {"actual": d, "a": a, "b": b, "c": c, "arch": arch, "instr": instr, "order": order}


@pytest.mark.slow
@pytest.mark.parametrize("first", [pytest.param(n, marks=() if n == 0 else pytest.mark.long) for n in range(0, 200, 20)])
def test_no_false_alarm(first: int) -> None:
    for seed in range(first, first + 20):
        assert_gemm(**correct(seed))


@pytest.mark.attack("kernels in assert_gemm")
def test_an_alarm_is_raised_for_one_bit() -> None:
    given = correct(0)
    given["actual"] = np.array(given["actual"])
    given["actual"].view(f"u{given['actual'].itemsize}")[5, 7] ^= 1
    with pytest.raises(AssertionError, match=r"^1 of 48 elements of D differ from "):
        assert_gemm(**given)
