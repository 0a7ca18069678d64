"""Every test of the papers answers otherwise on a device under test that is altered in the feature that it is about."""

from collections.abc import Callable

import pytest

import golden
from golden.device import Device
from mmau.probe.device_under_test import dut_of
from mmau.probe.papers import FASI, FTTN, KHATTAK, NO_ANSWER, Paper, features
from tests.mmau.probe.papers.altered import (
    exact,
    fma,
    overflowing,
    pairs,
    products_cut,
    products_first,
    reversed_places,
    tensor_core,
)


def cdna3() -> Device:
    """c is added to the sum of the products."""
    return dut_of(golden.instruction("gfx942", "v_mfma_f32_16x16x16_f16"))


Altered = tuple[Callable[[], Device], str, str]

ALTERED: tuple[tuple[Paper, dict[str, Altered]], ...] = (
    (FASI, {
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
    }),
    (FTTN, {
        "T_si_no": (lambda: tensor_core(flush_inputs=True), "yes", "no"),
        "T_sa": (lambda: tensor_core(flush_inputs=True), "yes", "no"),
        "T_1_bit": (lambda: tensor_core(F=23), "yes", "no"),
        "T_rnd_dir": (lambda: exact(), "truncate", "RTN-TE"),
        "T_3_bits_fin_rnd": (lambda: tensor_core(F=25), "1, truncate", "2, truncate"),
        "T_blk_fma_width": (lambda: tensor_core(L=4), "8", "4"),
        "T_pres_extra_acc": (lambda: tensor_core(L=1), "yes", "no"),
        "T_acc_order": (cdna3, "no", "yes"),
    }),
    (KHATTAK, {
        "subnormals in": (lambda: tensor_core(flush_inputs=True), "yes", "no"),
        "n_eab": (lambda: tensor_core(F=26), "1", "3"),
        "n_ecb": (lambda: tensor_core(L=4), "≥ 3", "≥ 2"),
        "I.Norm": (lambda: tensor_core(L=1), "no", "yes"),
        "N_FMA": (lambda: tensor_core(L=4), "8", "4"),
        "alignment": (lambda: tensor_core(truncation="RD"), "truncated", "RD"),
        "RM-BFMA": (lambda: tensor_core(rho="RNE-FP32"), "RZ", "RN"),
        "RM-MBFMA": (lambda: tensor_core(rho="RU-FP32"), "RZ", "RU"),
        "order of blocks": (lambda: reversed_places(tensor_core()), "(c + T1) + T2", "(c + T2) + T1"),
    }),
)  # fmt: skip
"""By paper and test a device, the answer of the base before, and that of the altered device."""

FLUSHED = (
    (FASI, "subnormal results", "kept", "lost"),
    (FTTN, "T_ni_so", "yes", "no"),
    (KHATTAK, "subnormals out", "yes", "no"),
)
"""Tests of subnormal results, which fp16 has not."""

OF_ROUNDED = {"exact products, binary16", "rounding to binary16", "T_prod"}
"""Tests that have tests of their own below."""


def answers(paper: Paper, dut: Device) -> dict[str, str]:
    return {name: reading.answer for name, reading in features(paper, dut).readings.items()}


@pytest.fixture(scope="module")
def base() -> dict[str, str]:
    return {name: answer for paper, _ in ALTERED for name, answer in answers(paper, tensor_core()).items()}


@pytest.mark.parametrize(
    ("paper", "test", "case"), [(paper, test, case) for paper, cases in ALTERED for test, case in cases.items()]
)
def test_an_altered_unit_is_seen(paper: Paper, test: str, case: Altered, base: dict[str, str]) -> None:
    altered, before, after = case
    assert base[test] == before
    assert answers(paper, altered())[test] == after


@pytest.mark.parametrize(("paper", "test", "kept", "flushed"), FLUSHED)
def test_subnormal_results_that_are_flushed(paper: Paper, test: str, kept: str, flushed: str) -> None:
    for flush, answer in ((False, kept), (True, flushed)):
        assert answers(paper, tensor_core(a="bf16", b="bf16", flush_results=flush))[test] == answer


def test_every_test_is_altered_somewhere() -> None:
    names = {name for _, cases in ALTERED for name in cases} | {test for _, test, *_ in FLUSHED} | OF_ROUNDED
    assert {test.name for paper, _ in ALTERED for test in paper.tests} == names


@pytest.mark.slow
def test_binary16_results() -> None:
    keys = {"c": "fp16", "rho": "RNE-FP16", "e_zero": -20}
    found = answers(FASI, tensor_core(**keys))
    assert (found["exact products, binary16"], found["rounding to binary16"]) == ("exact", "RN or RU")
    cut = {**keys, "rho": "RZ-FP16"}
    assert answers(FASI, products_cut(tensor_core(**cut)))["exact products, binary16"] == "d = 1 - 2^-10"
    assert answers(FASI, tensor_core(**cut))["rounding to binary16"] == "RZ or RD"


def test_carries_of_fma_need_no_bits() -> None:
    assert answers(FASI, fma("fp64"))["extra bits for carries"] == "none: each sum is normalised"


def test_integers_have_no_answers() -> None:
    integers = golden.instruction("x86-amx", "tdpbssd.m16n16k16")
    assert set(answers(FASI, dut_of(integers)).values()) == {NO_ANSWER}


def test_products_that_d_cannot_hold() -> None:
    keys = {"c": "fp16", "e_zero": -20}
    assert answers(FTTN, fma())["T_prod"] == "RN"
    assert answers(FTTN, tensor_core(rho="RZ-FP16", **keys))["T_prod"] == "RZ"
    assert answers(FTTN, tensor_core(rho="RD-FP16", **keys))["T_prod"] == "RD"


def test_three_bits_where_sums_are_rounded_to_nearest() -> None:
    def bits(F: int) -> str:
        return answers(FTTN, tensor_core(F=F, rho="RNE-FP32"))["T_3_bits_fin_rnd"]

    assert [bits(F) for F in (24, 25, 26, 27)] == ["1, RTN-TE", "2, RTN-TE", "3, RTN-TE", "3, RTN-TE"]


def test_sums_that_are_rounded_one_by_one_are_blocks_of_one() -> None:
    assert answers(FTTN, pairs())["T_blk_fma_width"] == "1"


@pytest.mark.parametrize("name", ["e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "bf16", "tf32"])
def test_the_formats_alone_make_the_vectors(name: str) -> None:
    """The same unit with other operands reads the same, FP4 too."""
    found = answers(KHATTAK, tensor_core(a=name, b=name, F=25))
    assert (found["n_eab"], found["N_FMA"], found["RM-BFMA"], found["alignment"]) == ("2", "8", "RZ", "truncated")


def test_results_shorter_than_their_format() -> None:
    """FP8 on Ada: results are cut to 13 bits after the leading one, terms to 13 as well."""
    assert answers(KHATTAK, tensor_core(a="e4m3", b="e4m3", F=13, rho="RZ-E8M13"))["n_eab"] == "0"
    assert answers(KHATTAK, tensor_core(a="e4m3", b="e4m3", F=15, rho="RZ-E8M13"))["n_eab"] == "2"


def test_sums_of_carries_that_are_lost() -> None:
    """Three products just below 2 on such a c carry twice; without room for that, one carry is left."""
    assert answers(KHATTAK, overflowing(tensor_core(L=2)))["n_ecb"] == "≥ 1"
