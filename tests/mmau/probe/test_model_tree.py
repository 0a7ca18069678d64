"""Summation trees."""

import pytest

import golden
from golden.arithmetic.formats import E4M3, FP16, FP32, Format
from golden.stimulus import OperandShape
from mmau.probe.model import CONVERTED, Keys, Model, model
from mmau.probe.model_tree import drawn, tree_of


def shape(a: Format = FP16, c: Format = FP32, K: int = 4) -> OperandShape:
    return OperandShape(a=a, b=a, c=c, d=c, K=K)


def of(family: str, keys: Keys, operands: OperandShape) -> Model:
    return model(family, keys, operands)


@pytest.mark.parametrize(
    ("family", "keys", "tree"),
    [
        ("T-FDPA", {"L": 2, "F": 9, "rho": "RZ-FP32", "e_zero": 0}, [["c", "p0", "p1"], "p2", "p3"]),
        ("FTZ-AddMul", {"P": 4}, ["c", [["p0", "p1"], ["p2", "p3"]]]),
        ("TR-FDPA", {"L": 4, "F": 9, "F2": 9}, ["c", ["p0", "p1", "p2", "p3"]]),
        ("GTR-FDPA", {"L": 4, "F": 9, "F2": 9}, ["c", [["p0", "p2"], ["p1", "p3"]]]),
        ("FTZ-EO-FMA", {"L": 4}, ["c", [["p0", "p2"], ["p1", "p3"]]]),
    ],
)
def test_tree(family: str, keys: Keys, tree: object) -> None:
    assert tree_of(of(family, keys, shape())) == tree


def test_tree_of_groups() -> None:
    operands = OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=4, scale=golden.FORMATS["ue8m0"], block_size=4)
    keys = {"L": 4, "F": 9, "rho": "RZ-FP32", "e_zero": 0, "G": 2}
    assert tree_of(of("GST-FDPA", keys, operands)) == ["c", ["p0", "p1"], ["p2", "p3"]]


def test_tree_of_converted_products() -> None:
    keys = {"order": "even-odd", "L": 2, "F": 9, "rho": "RZ-FP32", "e_zero": 0}
    assert tree_of(of(f"{CONVERTED}T-FDPA", keys | {"add_c": "last"}, shape(E4M3))) == [[["0", "p0", "p2"], "p1", "p3"], "c"]


def test_drawing_shortens_runs() -> None:
    keys = {"L": 8, "F": 9, "F2": 9}
    assert drawn(tree_of(of("GTR-FDPA", keys, shape(K=8)))) == ("d\n├─ c\n└─ +\n   ├─ + p0, p2 … p6\n   └─ + p1, p3 … p7")
