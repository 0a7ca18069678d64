"""The page on encodings: its tables and sentences say what the records hold."""

import pytest

from studies.answers import encodings
from tests.studies.answers import sample


@pytest.mark.slow
def test_page_says_what_the_records_hold() -> None:
    page = encodings.page(sample.encodings())
    assert sorted(page) == ["encodings-cost.svg", "encodings-error.svg", "encodings.csv", "encodings.md"]
    text = page["encodings.md"].decode()
    assert "| 24 | cut | ones-complement | 10,000 | 100 | 100,000 | 10.00 | 50.0 | 100 vectors, no mismatch |" in text
    assert "F = 26, cut: sign-magnitude against ones-complement: +20.0 % area, +20.0 % delay, +20.0 % energy." in text
    assert "F = 24, ones-complement: sticky against cut: +2.0 % area, +2.0 % delay, +2.0 % energy." in text
    assert "F = 24: the mean error with sticky is 1.020 (normal) to 1.020 (normal) times that of cut terms." in text
    assert "| 26 | normal | 1 | 3 | -0 | 1.02 | 3.06 | -0 | 1 | 3 | -0 |" in text
    assert text.count("| invalid | sticky must be false |") == 6
    assert (
        "**In short.** Against ones' complement, two's complement takes 10 to 10 % more area, sign and magnitude 20 to"
        in text
    )
    assert "out too large on 0 of 4 workloads, by up to -0 ulp" in text
