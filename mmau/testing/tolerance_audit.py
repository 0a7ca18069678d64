"""An audit of a user's own test: it runs on kernels that are wrong on purpose, some of which its tolerance lets pass."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import golden
from golden.arrays import from_bits
from mmau.testing.assertion import differing
from mmau.testing.changes import wrong_kernels
from mmau.testing.kernel_faults import faults, faults_along_k, mutants
from mmau.testing.product_under_test import kernel_product

PASSES = "P"
"""Outcome of a kernel that the test accepts although its results differ, or of the right kernel if the test accepts it."""

SAME_BITS = "="
"""Outcome of a wrong kernel that gives the right bits on the test's data."""

CAUGHT = "caught"
"""Outcome of a kernel for which the test fails, as it should."""

RIGHT = "right kernel"
"""Name of the row for the right kernel."""

Kernel = Callable[..., Any]
"""kernel(a, b, c=None, scale_a=None, scale_b=None) → D [M, N], of the kind of a."""


@dataclass(frozen=True)
class Audit:
    """The outcome for each kernel: `PASSES`, `SAME_BITS` or `CAUGHT`; of the right kernel `PASSES` if the test accepts it.

    Attributes:
        outcomes: by the kernel's name, the right one first.
        failures: the first line of what the test raised, by the kernel's name.
    """

    outcomes: dict[str, str]
    failures: dict[str, str]

    @property
    def passed(self) -> tuple[str, ...]:
        """The wrong kernels that the test lets pass."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome == PASSES and name != RIGHT)

    def __str__(self) -> str:
        width = max(map(len, self.outcomes))
        return "\n".join(f"{name:{width}}  {outcome}" for name, outcome in self.outcomes.items())


def audit(
    test: Callable[[Kernel], None], *, arch: str, instr: str, order: golden.GemmOrder | None = None, faults: bool = False
) -> Audit:
    """Run a test with the right kernel and with kernels that are wrong on purpose.

    Args:
        test: called with a kernel, which it calls as kernel(a, b, c=None, scale_a=None, scale_b=None), as often as it
            likes; it raises AssertionError where it finds the result wrong.
        arch, instr, order: what the right kernel computes; operands must have the instruction's formats.
        faults: whether to try a kernel with each kind of fault that `assert_gemm` knows, beside the eight wrong ones.

    Raises:
        ValueError: the test never calls the kernel. What else a test raises is passed on.
    """
    outcomes, failures = {}, {}
    for name in _kernels(test, arch, instr, order, faults):
        asked = _Asked(arch, instr, order, name, faults)
        try:
            test(asked)
            outcome = PASSES if asked.differed or name == RIGHT else SAME_BITS
        except AssertionError as error:
            outcome = CAUGHT
            failures[name] = str(error).strip().split("\n")[0][:200]
        if not asked.calls:
            raise ValueError("the test must call the kernel that it is given, and did not")
        outcomes[name] = outcome
    return Audit(outcomes, failures)


def _kernels(
    test: Callable[[Kernel], None], arch: str, instr: str, order: golden.GemmOrder | None, faults: bool
) -> list[str]:
    """The right kernel and the wrong ones that exist for a test's operands."""
    asked = _Asked(arch, instr, order, RIGHT, faults)
    with suppress(AssertionError):
        test(asked)
    return [RIGHT, *asked.wrong]


class _Asked:
    """A kernel that a test calls, and whether its results differed from the right one's."""

    def __init__(self, arch: str, instr: str, order: golden.GemmOrder | None, name: str, faults: bool) -> None:
        self.faults = faults
        self.arch, self.instr, self.order, self.name = arch, instr, order, name
        self.calls = 0
        self.differed = False
        self.wrong: dict[str, None] = {}

    def __call__(self, a: Any, b: Any, c: Any = None, scale_a: Any = None, scale_b: Any = None) -> Any:
        operands = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b}
        product = kernel_product(self.arch, self.instr, operands, self.order)
        self.calls += 1
        d = product.d
        changes = {change.words: change for change in wrong_kernels(product)}
        self.wrong |= dict.fromkeys(changes)
        if self.faults and self.name == RIGHT:
            self.wrong |= dict.fromkeys(change.words for change in mutants(product))
        elif self.faults:
            changes |= {change.words: change for change in (*faults(product), *faults_along_k(product))}
        if self.name in changes:
            with suppress(ValueError):  # the shape cannot have it: the right bits
                d = changes[self.name].results(product)
            self.differed |= bool(differing(product, d, product.d).any())
        return from_bits(d, product.output, a if c is None else c)
