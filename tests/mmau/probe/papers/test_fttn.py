"""Every test of FTTN answers otherwise on a device under test that is altered in the feature that it is about."""

from collections.abc import Callable

import pytest

import golden
from golden.device import Device
from mmau.probe.device_under_test import dut_of
from mmau.probe.papers import FTTN, features
from tests.mmau.probe.papers.altered import exact, fma, pairs, tensor_core


def cdna3() -> Device:
    """c is added to the sum of the products."""
    return dut_of(golden.instruction("gfx942", "v_mfma_f32_16x16x16_f16"))


ALTERED: dict[str, tuple[Callable[[], Device], str, str]] = {
    "T_si_no": (lambda: tensor_core(flush_inputs=True), "yes", "no"),
    "T_sa": (lambda: tensor_core(flush_inputs=True), "yes", "no"),
    "T_1_bit": (lambda: tensor_core(F=23), "yes", "no"),
    "T_rnd_dir": (lambda: exact(), "truncate", "RTN-TE"),
    "T_3_bits_fin_rnd": (lambda: tensor_core(F=25), "1, truncate", "2, truncate"),
    "T_blk_fma_width": (lambda: tensor_core(L=4), "8", "4"),
    "T_pres_extra_acc": (lambda: tensor_core(L=1), "yes", "no"),
    "T_acc_order": (cdna3, "no", "yes"),
}


def answers(dut: Device) -> dict[str, str]:
    return {name: reading.answer for name, reading in features(FTTN, dut).readings.items()}


@pytest.mark.parametrize("test", ALTERED)
def test_an_altered_unit_is_seen(test: str) -> None:
    altered, before, after = ALTERED[test]
    assert answers(tensor_core())[test] == before
    assert answers(altered())[test] == after


def test_subnormal_products_that_are_flushed() -> None:
    kept, flushed = (answers(tensor_core(a="bf16", b="bf16", flush_results=flush)) for flush in (False, True))
    assert (kept["T_ni_so"], flushed["T_ni_so"]) == ("yes", "no")


def test_products_that_d_cannot_hold() -> None:
    keys = {"c": "fp16", "e_zero": -20}
    assert answers(fma())["T_prod"] == "RN"
    assert answers(tensor_core(rho="RZ-FP16", **keys))["T_prod"] == "RZ"
    assert answers(tensor_core(rho="RD-FP16", **keys))["T_prod"] == "RD"


def test_three_bits_where_sums_are_rounded_to_nearest() -> None:
    def bits(F: int) -> str:
        return answers(tensor_core(F=F, rho="RNE-FP32"))["T_3_bits_fin_rnd"]

    assert [bits(F) for F in (24, 25, 26, 27)] == ["1, RTN-TE", "2, RTN-TE", "3, RTN-TE", "3, RTN-TE"]


def test_sums_that_are_rounded_one_by_one_are_blocks_of_one() -> None:
    assert answers(pairs())["T_blk_fma_width"] == "1"


def test_every_test_is_altered_somewhere() -> None:
    assert {test.name for test in FTTN.tests} == ALTERED.keys() | {"T_ni_so", "T_prod"}
