"""The picture of one dot product on six units is drawn from the models, and shows the results that the README names."""

from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

from studies.picture import UNITS, picture, result

FILE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "aligned-bits.svg"


def test_the_file_is_current() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text == picture(), "run: python -m studies.picture docs/evidence/aligned-bits.svg"
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "prefers-color-scheme: dark" in text


def test_six_units_give_six_results() -> None:
    assert [result(unit) for unit in UNITS] == [Fraction(n, 8) for n in (0, -3, -4, -6, -7, -8)]
    assert [result(unit, without=3) == result(unit) for unit in UNITS] == [True, False, True, True, False, True]
