"""Audits of tests: which wrong kernels a tolerance lets pass."""

from typing import Any

import numpy as np
import pytest

import golden
from mmau.testing import assert_gemm, audit, probe_data, probe_scales
from mmau.testing.tolerance_audit import CAUGHT, PASSES, RIGHT, SAME_BITS

MMA = "mma.m16n8k16.f32.f16.f16.f32"
WGMMA = "wgmma.m64n128k32.f32.e4m3.e4m3"
ORDER = golden.GemmOrder(promote_every=4)


def with_tolerance(atol: float) -> Any:
    def test(kernel: Any) -> None:
        rng = np.random.default_rng(1)
        a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((16, 256), (256, 16)))
        reference = a.astype(np.float64) @ b.astype(np.float64)
        assert np.abs(np.asarray(kernel(a, b), np.float64) - reference).max() <= atol, "too far"

    return test


def test_loose_tolerance_lets_every_kernel_pass() -> None:
    found = audit(with_tolerance(1e9), arch="sm_80", instr=MMA)
    assert found.outcomes[RIGHT] == PASSES
    assert set(found.passed) == {
        "zero output", "K tail missing", "F - 1", "operand b transposed", "fp16 accumulator", "one lane missing",
    }  # fmt: skip


def test_usual_tolerance_catches_gross_faults_alone() -> None:
    found = audit(with_tolerance(0.1), arch="sm_80", instr=MMA)
    assert found.passed == ("F - 1", "fp16 accumulator")
    assert found.outcomes["zero output"] == found.outcomes["K tail missing"] == CAUGHT
    assert found.failures["zero output"] == "too far"
    assert str(found).split("\n")[1] == "zero output           caught"


@pytest.mark.slow
def test_faults_of_kernels_are_mutants_too() -> None:
    """A usual tolerance catches what is lost, and lets orders and roundings pass."""
    found = audit(with_tolerance(0.1), arch="sm_80", instr=MMA, faults=True)
    assert len(found.outcomes) > 16
    assert found.outcomes["the last 16 of K counted twice"] == CAUGHT
    assert found.outcomes["neighbouring output tiles of 8 x 8 are swapped"] == CAUGHT
    orders = [name for name in found.passed if name.startswith(("split_k", "lanes that load"))]
    assert len(orders) == 5
    assert not [name for name in found.passed if "missing" in name or "twice" in name]


def test_data_on_which_a_wrong_kernel_is_right() -> None:
    """Operands of one: the transposed operand is the same, and nothing is lost below F."""

    def test(kernel: Any) -> None:
        ones = np.ones((16, 16), np.float16)
        assert (kernel(ones, ones) == 16).all()

    found = audit(test, arch="sm_80", instr=MMA)
    assert found.outcomes == {
        RIGHT: PASSES, "zero output": CAUGHT, "K tail missing": CAUGHT, "F - 1": SAME_BITS,
        "operand b transposed": SAME_BITS, "fp16 accumulator": SAME_BITS, "one lane missing": CAUGHT,
    }  # fmt: skip


def test_test_that_refuses_the_right_kernel_is_shown() -> None:
    found = audit(with_tolerance(0), arch="sm_80", instr=MMA)
    assert set(found.outcomes.values()) == {CAUGHT}


def bits(kernel: Any) -> None:
    """The three kinds of probe data, and `assert_gemm`."""
    shape, order = (16, 24, 32 * 4 * 4), golden.GemmOrder(promote_every=4, scale_at="promotion")
    scale_a, scale_b = probe_scales(shape, 128)
    for kind in ("dense", "precision", "promotion"):
        a, b, c = probe_data("sm_90", WGMMA, shape, kind)
        d = kernel(a, b, c, scale_a, scale_b)
        assert_gemm(d, a, b, c, arch="sm_90", instr=WGMMA, order=order, scale_a=scale_a, scale_b=scale_b)


@pytest.mark.slow
def test_probe_data_and_bits_let_no_wrong_kernel_pass() -> None:
    found = audit(bits, arch="sm_90", instr=WGMMA, order=golden.GemmOrder(promote_every=4, scale_at="promotion"))
    assert found.outcomes.pop(RIGHT) == PASSES
    assert len(found.outcomes) == 8
    assert set(found.outcomes.values()) == {CAUGHT}


def test_test_that_never_calls_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the test must call the kernel that it is given, and did not$"):
        audit(lambda kernel: None, arch="sm_80", instr=MMA)


def test_other_errors_of_a_test_are_passed_on() -> None:
    def test(kernel: Any) -> None:
        kernel(np.ones((4, 4), np.float16), np.ones((4, 4), np.float16))
        raise KeyError("of the test")

    with pytest.raises(KeyError, match="of the test"):
        audit(test, arch="sm_80", instr=MMA)
