"""The asker: what it measures of a unit, and that nothing is asked twice."""

import pytest

from mmau.probe.papers.asker import Asker, Count
from mmau.probe.papers.operand_values import NotHeldError, Sum, power
from tests.mmau.probe.devices import dut
from tests.mmau.probe.papers.altered import exact, fma, operation, tensor_core


@pytest.mark.parametrize(
    ("keys", "bits"),
    [({}, 24), ({"rho": "RZ-E8M13"}, 14), ({"c": "fp16", "rho": "RNE-FP16"}, 11), ({"F": 9}, 10), ({"c": "fp16"}, 24)],
)
def test_precision_is_what_results_show(keys: dict[str, object], bits: int) -> None:
    assert Asker(tensor_core(**keys)).precision == bits


@pytest.mark.parametrize("F", [23, 24, 25, 31, 35])
@pytest.mark.parametrize("name", ["fp16", "e4m3"])
def test_extra_bits_are_those_below_the_result(F: int, name: str) -> None:
    extra = Asker(tensor_core(F=F, a=name, b=name)).extra
    assert extra == Count(F - 23, False) or (name == "e4m3" and extra.open and extra.count <= F - 23)


def test_extra_bits_of_exact_sums_have_no_end() -> None:
    assert Asker(exact()).extra == Count(40, True)


def test_width() -> None:
    assert Asker(tensor_core(L=4)).width == Count(4, False)
    assert Asker(dut(operation(), K=8)).width == Count(8, True)
    assert Asker(fma()).width == Count(1, False)


def test_nothing_is_asked_twice() -> None:
    asker = Asker(tensor_core())
    assert asker.ask(Sum(1, (1, 2)), Sum(2, ())) == [4, 2]
    assert asker.ask(Sum(1, (1, 2))) == [4]
    assert asker.vectors == 2
    assert str(asker.rows[0]) == "c = 1, r1 = 1, r2 = 2: d = 4"


def test_sums_that_no_power_of_two_makes_fit() -> None:
    with pytest.raises(NotHeldError, match=r"^c = 0, r1 = 1, r2 = 2\^-200 takes more range than there is$"):
        Asker(tensor_core()).ask_scaled(Sum(0, (1, power(-200))))
