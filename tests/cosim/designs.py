"""The types of the fixtures that make designs (conftest.py)."""

from collections.abc import Callable
from typing import Protocol

from cosim import Design
from cosim.bench.subject import Subject
from golden import Unit

Generated = Callable[[Unit | Subject], Design]


class Wrapped(Protocol):
    def __call__(self, subject: Unit | Subject, faults: dict[str, str], declarations: str = "") -> Design: ...
