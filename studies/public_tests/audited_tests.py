"""The public tests as functions of a kernel, made from their facts."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import golden
from golden.arrays import float_dtype
from golden.files import read_toml
from mmau.testing.tolerance_audit import Audit, Kernel, audit

FILE = Path(__file__).with_name("tests.toml")


class PublicTest(NamedTuple):
    """A test: its facts, and the function that runs it on a kernel."""

    facts: Mapping[str, Any]
    run: Callable[[Kernel], None]

    @property
    def order(self) -> golden.GemmOrder:
        """The order of the right kernel."""
        every, has_scales = self.facts.get("promote_every", 0), "scales" in self.facts
        return golden.GemmOrder(
            promote_every=every, scale_at="promotion" if has_scales else "unit", output=self.facts["output"]
        )

    def audited(self) -> Audit:
        """The outcome of each wrong kernel."""
        arch, _, instr = self.facts["instruction"].partition(":")
        return audit(self.run, arch=arch, instr=instr, order=self.order)


def public_tests() -> list[PublicTest]:
    """The eight tests of tests.toml."""
    return [PublicTest(facts, partial(_run, facts)) for facts in read_toml(FILE)["test"]]


def _run(facts: Mapping[str, Any], kernel: Kernel) -> None:
    arch, _, instr = facts["instruction"].partition(":")
    instruction = golden.instruction(arch, instr)
    rng = np.random.default_rng(0)
    M, N, K = facts["shape"]
    a, b = (_drawn(rng, facts, shape).astype(float_dtype(instruction.a)) for shape in ((M, K), (K, N)))
    scales = _scales(rng, facts, instruction.k)
    got = np.asarray(kernel(a, b, None, *scales), np.float64)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    if scales:
        exact = exact * scales[0][:, :1] * scales[1][:1]
    reference = exact.astype(float_dtype(golden.FORMATS[facts["output"]])).astype(np.float64)
    if facts["rule"] == "calc_diff":
        with np.errstate(invalid="ignore", over="ignore"):  # of a wrong kernel's infinities
            difference = 1 - 2 * (got * reference).sum() / (got * got + reference * reference).sum()
        assert bool(difference < facts["limit"]), f"calc_diff {difference:.2g}"
    else:
        away = np.abs(got - reference) - facts["rtol"] * np.abs(reference)
        assert (away <= facts["atol"]).all(), f"{away.max():.2g} away"


def _drawn(rng: np.random.Generator, facts: Mapping[str, Any], shape: tuple[int, int]) -> Any:
    drawn = rng.standard_normal(shape) if facts["distribution"] == "normal" else rng.random(shape) - 0.5
    limit = 448 if "e4m3" in facts["instruction"] else np.inf
    return np.clip(facts["factor"] * drawn, -limit, limit)


def _scales(rng: np.random.Generator, facts: Mapping[str, Any], k: int) -> tuple[Any, ...]:
    """Scales of rows and columns, equal along K, for each promotion; none where the test has none."""
    if "scales" not in facts:
        return ()
    M, N, K = facts["shape"]
    groups = -(-K // (k * facts["promote_every"]))
    rows, columns = rng.standard_normal((M, 1)), rng.standard_normal((1, N))
    if facts["scales"] == "inverse":
        rows, columns = np.full((M, 1), 1 / facts["factor"]), np.full((1, N), 1 / facts["factor"])
    return (rows * np.ones((1, groups))).astype(np.float32), (columns * np.ones((groups, 1))).astype(np.float32)
