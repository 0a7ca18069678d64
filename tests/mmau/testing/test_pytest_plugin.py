"""The fixture `mmau_gemm`: its call of `assert_gemm`, what it records, and no cost for other tests."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import golden
from mmau.testing.pytest_plugin import GemmAssertion

MMA = "mma.m16n8k16.f32.f16.f16.f32"


def test_fixture_asserts_and_records(mmau_gemm: GemmAssertion, request: pytest.FixtureRequest) -> None:
    a, b = np.ones((4, 32), np.float16), np.ones((32, 4), np.float16)
    order = Path(__file__).with_name("gemm.toml")
    d = golden.gemm(None, a, b, order=golden.load_order(order))
    mmau_gemm(d, a, b, arch="sm_80", instr=MMA, order="gemm.toml")
    assert request.node.user_properties == [("mmau_instruction", f"sm_80:{MMA}"), ("mmau_order", "gemm.toml")]
    d[0, 0] = 31
    with pytest.raises(AssertionError, match=r"^1 of 16 elements of D differ"):
        mmau_gemm(d, a, b, arch="sm_80", instr=MMA, order="gemm.toml")


@pytest.mark.slow
def test_loading_the_plugin_imports_nothing_of_the_models() -> None:
    program = (
        "import sys, mmau.testing.pytest_plugin\n"
        "print([name for name in ('golden', 'rtl', 'numpy', 'amaranth', 'cocotb') if name in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
