"""Every test of Fasi et al. answers otherwise on a device under test that is altered in the feature that it is about."""

from collections.abc import Callable

import pytest

import golden
from golden.device import Device
from mmau.probe.device_under_test import dut_of
from mmau.probe.papers import FASI, NO_ANSWER, features
from tests.mmau.probe.papers.altered import exact, fma, overflowing, products_cut, products_first, tensor_core

ALTERED: dict[str, tuple[Callable[[], Device], str, str]] = {
    "extra bits in the alignment": (lambda: tensor_core(F=23), "1", "0"),
    "subnormal operands": (lambda: tensor_core(flush_inputs=True), "kept", "lost"),
    "subnormal c": (lambda: tensor_core(flush_inputs=True), "kept", "lost"),
    "subnormals in hardware": (lambda: exact(), "subnormal rounded down", "subnormal rounded up"),
    "exact products": (lambda: products_cut(tensor_core()), "exact", "d = 4 - 2^-8"),
    "rounding errors and order": (
        lambda: products_first(tensor_core()), "from the largest",
        "depends on the order; 1 swallows the others as r1, r2, r3, r4",
    ),
    "rounding of additions": (lambda: exact(), "RZ", "RN"),
    "normalisation in addition": (lambda: tensor_core(L=1), "at the end", "after each addition"),
    "normalisation in subtraction": (lambda: tensor_core(L=1), "none before the end", "normalised, d = 0"),
    "extra bits for carries": (lambda: overflowing(tensor_core()), "3", "2; 8 overflows to 0"),
    "final rounding": (lambda: tensor_core(rho="RNE-FP32"), "RZ", "RN"),
    "monotonicity": (lambda: exact(), "violated: 1 + 2^-23 above 1", "no violation"),
}  # fmt: skip


@pytest.fixture(scope="module")
def base() -> dict[str, str]:
    return answers(tensor_core())


def answers(dut: Device) -> dict[str, str]:
    return {name: reading.answer for name, reading in features(FASI, dut).readings.items()}


@pytest.mark.parametrize("test", ALTERED)
def test_an_altered_unit_is_seen(test: str, base: dict[str, str]) -> None:
    altered, before, after = ALTERED[test]
    assert base[test] == before
    assert answers(altered())[test] == after


def test_subnormal_results_that_are_flushed() -> None:
    kept, flushed = (answers(tensor_core(a="bf16", b="bf16", flush_results=flush)) for flush in (False, True))
    assert (kept["subnormal results"], flushed["subnormal results"]) == ("kept", "lost")


@pytest.mark.slow
def test_binary16_results() -> None:
    keys = {"c": "fp16", "rho": "RNE-FP16", "e_zero": -20}
    found = answers(tensor_core(**keys))
    assert (found["exact products, binary16"], found["rounding to binary16"]) == ("exact", "RN or RU")
    cut = {**keys, "rho": "RZ-FP16"}
    assert answers(products_cut(tensor_core(**cut)))["exact products, binary16"] == "d = 1 - 2^-10"
    assert answers(tensor_core(**cut))["rounding to binary16"] == "RZ or RD"


def test_every_test_is_altered_somewhere() -> None:
    here = {"subnormal results", "exact products, binary16", "rounding to binary16"}
    assert {test.name for test in FASI.tests} == ALTERED.keys() | here


def test_carries_of_fma_need_no_bits() -> None:
    assert answers(fma("fp64"))["extra bits for carries"] == "none: each sum is normalised"


def test_integers_have_no_answers() -> None:
    integers = golden.instruction("x86-amx", "tdpbssd.m16n16k16")
    assert set(answers(dut_of(integers)).values()) == {NO_ANSWER}
