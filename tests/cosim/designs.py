"""The types of the fixtures that make designs (conftest.py)."""

from collections.abc import Callable
from typing import Protocol

from cosim import Dut
from golden import Unit
from rtl import Design

Generated = Callable[[Unit | Design], Dut]


class Wrapped(Protocol):
    def __call__(self, design: Unit | Design, faults: dict[str, str], declarations: str = "") -> Dut: ...
