"""The pytest fixture `mmau_gemm`, which the installation registers: a kernel's product against the model, bit for bit.

    def test_my_kernel(mmau_gemm):
        a, b, c = probe_data("sm_90", INSTR, (128, 256, 1024), "precision")
        mmau_gemm(my_kernel(a, b), a, b, arch="sm_90", instr=INSTR, order="gemm.toml")

This module imports only pytest, so that tests without the fixture do not wait for other imports.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from golden import GemmOrder


class GemmAssertion(Protocol):
    """The type of the fixture `mmau_gemm`."""

    def __call__(
        self,
        actual: Any,
        a: Any,
        b: Any,
        c: Any = None,
        *,
        arch: str,
        instr: str,
        order: "GemmOrder | str | Path | None" = None,
        scale_a: Any = None,
        scale_b: Any = None,
    ) -> None:
        """`mmau.testing.assert_gemm`; the path of an order starts at the folder of the test's file."""


@pytest.fixture
def mmau_gemm(request: pytest.FixtureRequest) -> GemmAssertion:
    """Assert that a kernel's product is right, bit for bit; JUnit reports have the instruction and the order's file."""
    folder = request.path.parent

    def assert_product(
        actual: Any,
        a: Any,
        b: Any,
        c: Any = None,
        *,
        arch: str,
        instr: str,
        order: "GemmOrder | str | Path | None" = None,
        scale_a: Any = None,
        scale_b: Any = None,
    ) -> None:
        __tracebackhide__ = True
        from mmau.testing.assertion import assert_gemm

        request.node.user_properties.append(("mmau_instruction", f"{arch}:{instr}"))
        if isinstance(order, (str, Path)):
            request.node.user_properties.append(("mmau_order", str(order)))
            order = folder / order
        assert_gemm(actual, a, b, c, arch=arch, instr=instr, order=order, scale_a=scale_a, scale_b=scale_b)

    return assert_product
