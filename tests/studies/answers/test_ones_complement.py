"""The page of RDNA3's one's complement, from figures written down here."""

from golden.unit import ENCODINGS
from studies.answers.ones_complement import WORKLOADS, Measured, page, sums, units
from tests.docs.documents import ROOT

ERRORS = {
    "ulp": {"mean": 0.25, "max": 3.0},
    "bias": {"mean_ulp": 0.5, "low95": 0.4, "high95": 0.6},
    "magnitude_bias": {"mean_ulp": -0.5, "low95": -0.6, "high95": -0.4},
}


def test_page_says_what_the_figures_say() -> None:
    every = [
        Measured(name, unit.implementation.encoding, 900 if name == "RDNA3" else 1000, 90, dict.fromkeys(WORKLOADS, ERRORS))
        for name, unit in units()
    ]
    of_sums = {name: (110 if name.startswith("inverted") else 100, 20) for name in sums()}
    text = page(every, of_sums, rows=7)["ones-complement.md"].decode()
    for encoding in ENCODINGS:
        assert f"10.0 % more cells than the exact sum in {encoding} (depth 20 against 20)" in text
    assert "The unit takes 10.0 % fewer cells than “rounded correctly” (900 against 1,000; depth 90 against 90)." in text
    assert "| RDNA4 | normal | 0.25 | 3 | 0.5 (0.4 … 0.6) | -0.5 (-0.6 … -0.4) |" in text
    assert "7 rows of each workload." in text


def test_the_question_has_a_target_and_a_page() -> None:
    assert "answers-ones-complement: " in (ROOT / "Makefile").read_text()
    assert (
        (ROOT / "docs/evidence/explore/ones-complement.md").read_text().startswith("# What RDNA3's one's complement saves")
    )
