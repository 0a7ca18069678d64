"""The second implementation shares nothing with golden, and its numbers are those of NumPy and ml_dtypes."""

import ast
from math import isfinite, isinf
from pathlib import Path

import numpy as np
import pytest

from golden import FORMATS
from tests.docs.documents import ROOT
from tests.golden.peer_formats import floats
from tests.twin.rational import Fraction
from tests.twin.twin_numbers import LAYOUTS, decode, encode, infinity_code

SMALL = [name for name in FORMATS if name in LAYOUTS and FORMATS[name].width <= 16]


PERMITTED = {"collections", "fractions", "functools", "gmpy2", "math", "typing"}


def outside(root: Path) -> dict[str, set[str]]:
    """For each other file of a project's tests/twin, its imports beyond its neighbours, the standard library and gmpy2."""
    found: dict[str, set[str]] = {}
    for path in set((root / "tests/twin").glob("*.py")) - {Path(__file__)}:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {"." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)}
        names |= {node.id for node in nodes if isinstance(node, ast.Name) and node.id in ("__import__", "import_module")}
        found[path.stem] = {
            name for name in names if name.split(".")[0] not in PERMITTED and not f"{name}.".startswith("tests.twin.")
        }
    return found


def test_twin_shares_nothing_with_golden() -> None:
    found = outside(ROOT)
    assert {"twin", "twin_numbers"} <= set(found)
    assert set().union(*found.values()) == set()


@pytest.mark.attack("a second implementation that imports the first")
@pytest.mark.parametrize(
    "line", ["from golden import steps", "def f():\n    import golden.arithmetic.rounding", "import numpy"]
)
def test_twin_that_shares_something_is_noticed(line: str, tmp_path: Path) -> None:
    (tmp_path / "tests/twin").mkdir(parents=True)
    (tmp_path / "tests/twin/twin.py").write_text(line)
    assert len(outside(tmp_path)["twin"]) == 1


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
