"""The second implementation shares nothing with golden, and its numbers are those of NumPy and ml_dtypes."""

from fractions import Fraction
from math import isfinite, isinf
from pathlib import Path

import numpy as np
import pytest

from golden import FORMATS
from tests.docs.documents import ROOT
from tests.golden.peer_formats import floats
from tests.import_rules import Imports
from tests.twin.twin_numbers import LAYOUTS, decode, encode, infinity_code

SMALL = [name for name in FORMATS if name in LAYOUTS and FORMATS[name].width <= 16]


STANDARD = {"collections", "fractions", "math", "typing"}


def outside(root: Path) -> dict[str, set[str]]:
    """For each module of a project's tests/twin but this one, its imports beyond its neighbours and the standard library."""
    modules = Imports.of(root, ("tests/twin",)).names
    inside = {*STANDARD, "tests.twin"}
    return {
        module: {name for name in names if not {name.partition(".")[0], ".".join(name.split(".")[:2])} & inside}
        for module, names in modules.items()
        if not module.endswith(".test_twin_numbers")
    }


def test_twin_shares_nothing_with_golden() -> None:
    found = outside(ROOT)
    assert {"tests.twin.twin", "tests.twin.twin_numbers"} <= set(found)
    assert set().union(*found.values()) == set()


@pytest.mark.attack("a second implementation that imports the first")
@pytest.mark.parametrize("line", ["from golden import steps", "def f():\n    import golden.rounding", "import numpy"])
def test_twin_that_shares_something_is_noticed(line: str, tmp_path: Path) -> None:
    (tmp_path / "tests/twin").mkdir(parents=True)
    (tmp_path / "tests/twin/twin.py").write_text(line)
    assert len(outside(tmp_path)["tests.twin.twin"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name == "bf16" else name for name in SMALL])
def test_every_code_has_the_value_of_the_peers_and_is_encoded_back(name: str) -> None:
    codes = np.arange(FORMATS[name].codes)
    for code, value in zip(codes.tolist(), floats(FORMATS[name], codes).tolist(), strict=True):
        number = decode(name, code)
        if isinf(value):
            assert (number.kind, infinity_code(name, number.negative)) == ("infinite", code)
        elif isfinite(value):
            assert (number.kind, number.value) == ("finite", Fraction(value))
            assert LAYOUTS[name].specials != "ieee" or number.is_zero or encode(name, number.value, "RNE") == code
        else:
            assert number.kind == "nan"
