"""Stochastic rounding beside gfloat, the library of IEEE P3109's working group: every number of fp16, in three variants."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from golden import Cls
from golden.units.unit_file import unit_from_table

pytestmark = pytest.mark.peer

VARIANTS = {"StochasticFastest": ("RZ", False), "StochasticFast": ("RZ", True), "Stochastic": ("RNE", False)}
"""gfloat's names of StochasticA, B and C, with the mode of ρ and `half`."""


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("name", "overflow"), [("e5m2", "infinity"), ("e5m2", "saturate"), ("e4m3", "saturate")])
@pytest.mark.parametrize("bits", [2, 7])
def test_numbers_round_as_gfloat_says(name: str, overflow: str, variant: str, bits: int) -> None:
    gfloat: Any = import_module("gfloat")
    target = getattr(import_module("gfloat.formats"), f"format_info_ocp_{name}")
    mode, half = VARIANTS[variant]
    table = {"operation": "E-FDPA", "L": 1, "a": "e2m1", "b": "e2m1", "c": "fp16", "zero": "ieee", "overflow": overflow}
    control = {"key": "random", "bits": bits, "half": half}
    u = unit_from_table({"name": "u", **table, "rho": f"{mode}-{name.upper()}", "controls": {"random": control}})
    c = np.flatnonzero(np.isfinite(np.arange(65536, dtype=np.uint16).view(np.float16))).astype(np.uint16)
    random = np.random.default_rng(5).integers(0, 1 << bits, len(c), np.uint8)
    zeros = np.where(c >> 15, 8, 0).astype(np.uint8)[:, None]  # ±0 · +0, which leaves the sign of c
    d = u.dot(zeros, np.zeros_like(zeros), c, random=random)
    wrong = []
    for code, number, drawn in zip(d.tolist(), c.view(np.float16).tolist(), random.tolist(), strict=True):
        expected = gfloat.round_float(
            target, number, getattr(gfloat.RoundMode, variant), overflow == "saturate", drawn, bits
        )
        sign, _, _, cls = u.d.decode(code)
        got = (np.inf if cls is Cls.INFINITY else abs(float(u.d.value(code) or 0))) * (-1 if sign else 1)
        if (got, bool(sign)) != (expected, bool(np.signbit(expected))):
            wrong.append((number, drawn, got, expected))
    assert not wrong
