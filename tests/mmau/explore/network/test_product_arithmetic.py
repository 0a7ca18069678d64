"""The unit of a network's products: refused early where its numbers do not fit, unchanged by a round trip through text."""

import numpy as np
import pytest

import golden
from mmau.explore.network.product_arithmetic import Product, product_of
from tests.mmau.explore.network.network_units import HYBRID, t_fdpa

HOPPER = golden.instruction("sm_90", "wgmma.m64n8k32.f32.e4m3.e5m2")


@pytest.mark.parametrize("unit", [t_fdpa(), HYBRID, HOPPER], ids=["unit", "hybrid", "instruction"])
def test_text_gives_the_product_back(unit: golden.Unit | golden.Instruction) -> None:
    for product in (Product(unit), Product(unit, promote_every=4), Product(unit, split_k=3)):
        assert product_of(product.text) == product
    assert Product(unit).text != Product(unit, promote_every=4).text


def test_product_is_goldens_gemm_in_its_order() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 120, (3, 200)).astype(np.uint8), rng.integers(0, 120, (200, 5)).astype(np.uint8)
    results = set()
    for every, parts in ((0, 1), (2, 1), (0, 2)):
        d = Product(HOPPER, promote_every=every, split_k=parts)(a, b).tolist()
        order = golden.GemmOrder(promote_every=every, split_k=parts)
        assert d == golden.gemm(HOPPER, a, b, order=order).tolist()
        results.add(str(d))
    assert len(results) == 3  # the order matters here, so that a forgotten one would show


def test_promoted_results_are_fp32() -> None:
    unit = t_fdpa(rho="RNE-FP16", c="fp16")
    assert Product(unit).d.name == "fp16"
    assert Product(unit, promote_every=2).d.name == "fp32"


def test_what_takes_no_numbers_of_a_network_is_refused() -> None:
    scaled = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0")
    with pytest.raises(
        ValueError, match=r"^the unit of a network must have no scales of blocks, for a tensor has one scale; got "
    ):
        Product(scaled)
    with pytest.raises(
        ValueError, match=r"^a of a network's unit must be one of fp32, tf32, .*; tdpbssd.m16n16k64 has int8$"
    ):
        Product(golden.instruction("x86-amx", "tdpbssd.m16n16k64"))
    double = golden.Unit(name="double", operation=golden.instruction("sm_90", "mma.m8n8k4.f64.f64.f64.f64").operation)
    with pytest.raises(ValueError, match=r"^a of a network's unit must be one of fp32, tf32, .*; double has fp64$"):
        Product(double)
    with pytest.raises(TypeError, match=r"^unit of a network must be an? Unit or an Instruction, got 'T-FDPA'$"):
        Product("T-FDPA")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^promote_every must be an integer from 0 to 1073741824, got -1$"):
        Product(t_fdpa(), promote_every=-1)
