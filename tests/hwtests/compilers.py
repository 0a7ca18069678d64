"""Which compilers are here: tests that need an absent one are skipped and say so."""

from collections.abc import Callable
from typing import Any

import pytest

from golden.native.hip import require_clang
from golden.native.nvrtc import load
from hwtests.nvidia.disassembly import nvdisasm


def _why_not(*needs: Callable[[], Any]) -> str:
    """The message of the first missing need; empty if all are met."""
    for need in needs:
        try:
            need()
        except FileNotFoundError as error:
            return str(error)
    return ""


def _unless(why_not: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(bool(why_not), reason=why_not or "present")


def needs_cuda_compiler(function: Any) -> Any:
    """Mark a test that compiles with NVRTC 12 and 13 and disassembles."""
    why_not = _why_not(lambda: load(13), lambda: load(12), nvdisasm)
    return pytest.mark.cuda_compiler(_unless(why_not)(function))


def needs_amd_compiler(function: Any) -> Any:
    """Mark a test that compiles for AMD."""
    return pytest.mark.amd_compiler(_unless(_why_not(require_clang))(function))
