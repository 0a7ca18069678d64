"""Table 10 of paper 000."""

import pytest

from mmau.analysis.risks import ASYMMETRY
from studies.analysis.risks import PAPER_TABLE_10, found_for


@pytest.mark.parametrize(("line", "published"), [(line, published) for line, _, published in PAPER_TABLE_10])
def test_line_of_the_table_is_found(line: str, published: frozenset[tuple[str, str]]) -> None:
    """CDNA3's TF32 is in the paper's text and not in its table."""
    expected = published | {("gfx942", "TF32")} if line == ASYMMETRY else published
    assert found_for(line) == expected
