"""Which cases of a test `make test` runs; the others are the volume of `make test-long`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def one_of_each(cases: Iterable[Any], kind: Callable[[Any], object]) -> list[Any]:
    """The cases of a test: the first of each kind for `make test`, all others for `make test-long`."""
    seen: set[object] = set()
    marked = []
    for case in cases:
        known = kind(case) in seen
        seen.add(kind(case))
        marked.append(pytest.param(case, marks=pytest.mark.long) if known else case)
    return marked


def one_in(step: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a test: every `step`-th, from the first, for `make test`, all others for `make test-long`."""
    return [
        case if number % step == 0 else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for number, case in enumerate(cases)
    ]
