"""The covergroup of exception flags: which of them a step raises together."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cosim.coverage.covergroup import Covergroup, IntArray, Point, Reason, Seen
from golden import Unit
from golden.arithmetic.flags import FLAGS
from golden.arrays import bits_dtype
from golden.operations.exact_sum import ExactSum

NO_FLAGS = "none"
"""The name of a result that raises no exception flag."""

TOGETHER = (NO_FLAGS, "NX", "NX UF", "NX OF", "NV")
"""The flags that a step can raise together: rounding raises NX with UF or OF, and an invalid operation gives a NaN."""


def flag_group(operation: ExactSum) -> Covergroup:
    """The exception flags of each step."""
    numbers = {sum(1 << FLAGS.index(flag) for flag in names.split() if flag in FLAGS): n for n, names in enumerate(TOGETHER)}

    def sample(seen: Seen) -> tuple[IntArray]:
        steps = [codes.reshape(-1, *codes.shape[2:]).astype(bits_dtype(of)) for of, codes in seen.codes]
        given = {name: codes for name, codes in zip("abc", steps, strict=True) if name in seen.operation.operands}
        dot: Callable[..., Any] = Unit(name="flags", operation=seen.operation).dot
        _, raised = dot(**given, flags=True)
        return (np.array([numbers[code] for code in raised.tolist()]),)

    def unreachable(names: str) -> Reason:
        can_be = names in (NO_FLAGS, *operation.raised_together)
        return None if can_be else f"no operands of these formats raise {names}"

    return Covergroup("exception flags", (Point("raised", TOGETHER),), sample, unreachable)
