"""Tests of matrix-product kernels that mean something: bit-exact assertions, operands that tell, audits of tolerances."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmau.testing.assertion import assert_gemm
    from mmau.testing.bisection import Difference, bisect_gemm
    from mmau.testing.probe_operands import ProbeData, probe_data, probe_scales
    from mmau.testing.tolerance_audit import Audit, audit

__all__ = ["Audit", "Difference", "ProbeData", "assert_gemm", "audit", "bisect_gemm", "probe_data", "probe_scales"]

_MODULES = {
    "Audit": "tolerance_audit",
    "Difference": "bisection",
    "ProbeData": "probe_operands",
    "assert_gemm": "assertion",
    "audit": "tolerance_audit",
    "bisect_gemm": "bisection",
    "probe_data": "probe_operands",
    "probe_scales": "probe_operands",
}
"""The module of each public name, imported when the name is first used, so that the pytest plugin imports no model."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
