"""Files of spaces for tests."""

import tomllib
from pathlib import Path

from mmau.explore.design_space import Space
from mmau.explore.space_file import space_from_table

SMALL = """
name = "small"
[fixed]
operation = "T-FDPA"
a = "e4m3"
b = "e4m3"
c = "fp32"
rho = "RZ-FP32"
e_zero = -133
[sweep]
L = [2, 4]
F = {from = 8, to = 10}
[sweep.implementation]
encoding = ["ones-complement", "sign-magnitude"]
"""

MEASURED = """
[accuracy]
workloads = ["normal"]
rows = 1000
[cosimulation]
vectors = 1000
"""


def space_of(text: str) -> Space:
    """The space of a text."""
    return space_from_table(tomllib.loads(text), Path(), text)
