"""Every test of Khattak and Mikaitis answers differently on a device that is altered in the tested feature."""

from collections.abc import Callable

import pytest

from golden.device import Device
from mmau.probe.papers import KHATTAK, features
from tests.mmau.probe.papers.altered import overflowing, reversed_places, tensor_core

ALTERED: dict[str, tuple[Callable[[], Device], str, str]] = {
    "subnormals in": (lambda: tensor_core(flush_inputs=True), "yes", "no"),
    "n_eab": (lambda: tensor_core(F=26), "1", "3"),
    "n_ecb": (lambda: tensor_core(L=4), "≥ 3", "≥ 2"),
    "I.Norm": (lambda: tensor_core(L=1), "no", "yes"),
    "N_FMA": (lambda: tensor_core(L=4), "8", "4"),
    "alignment": (lambda: tensor_core(truncation="RD"), "truncated", "RD"),
    "RM-BFMA": (lambda: tensor_core(rho="RNE-FP32"), "RZ", "RN"),
    "RM-MBFMA": (lambda: tensor_core(rho="RU-FP32"), "RZ", "RU"),
    "order of blocks": (lambda: reversed_places(tensor_core()), "(c + T1) + T2", "(c + T2) + T1"),
}


def answers(dut: Device) -> dict[str, str]:
    return {name: reading.answer for name, reading in features(KHATTAK, dut).readings.items()}


@pytest.mark.parametrize("test", ALTERED)
def test_an_altered_unit_is_seen(test: str) -> None:
    altered, before, after = ALTERED[test]
    assert answers(tensor_core())[test] == before
    assert answers(altered())[test] == after


def test_subnormal_results_that_are_flushed() -> None:
    kept, flushed = (answers(tensor_core(a="bf16", b="bf16", flush_results=flush)) for flush in (False, True))
    assert (kept["subnormals out"], flushed["subnormals out"]) == ("yes", "no")


@pytest.mark.parametrize("name", ["e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "bf16", "tf32"])
def test_the_formats_alone_make_the_vectors(name: str) -> None:
    """The same unit with other operands reads the same, FP4 too."""
    found = answers(tensor_core(a=name, b=name, F=25))
    assert (found["n_eab"], found["N_FMA"], found["RM-BFMA"], found["alignment"]) == ("2", "8", "RZ", "truncated")


def test_results_shorter_than_their_format() -> None:
    """FP8 on Ada: results are cut to 13 bits after the leading one, terms to 13 as well."""
    assert answers(tensor_core(a="e4m3", b="e4m3", F=13, rho="RZ-E8M13"))["n_eab"] == "0"
    assert answers(tensor_core(a="e4m3", b="e4m3", F=15, rho="RZ-E8M13"))["n_eab"] == "2"


def test_sums_of_carries_that_are_lost() -> None:
    """Three products just below 2 on such a c carry twice; without room for that, one carry is left."""
    assert answers(overflowing(tensor_core(L=2)))["n_ecb"] == "≥ 1"


def test_every_test_is_altered_somewhere() -> None:
    assert {test.name for test in KHATTAK.tests} == ALTERED.keys() | {"subnormals out"}
