"""The page of specifications that are proved to be golden's step."""

from pathlib import Path

import pytest

from studies import specification_proofs
from studies.specification_proofs import prove_all

pytestmark = pytest.mark.slow

KEYS = {"operation": "IDPA", "a": "uint8", "b": "int8", "c": "int32", "L": 2}

NAME = "IDPA a=uint8 b=int8 c=int32 L=2"


@pytest.mark.parametrize(("seconds", "verdict"), [pytest.param(600.0, "proved", marks=pytest.mark.long), (0.0, "open")])
def test_another_run_writes_the_same_page(
    seconds: float, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specification_proofs, "UNITS", (KEYS,))
    monkeypatch.setattr(specification_proofs, "FULL_SIZE", ())
    pages = []
    for number in range(2):
        page = tmp_path / f"{number}.md"
        assert prove_all(page, tmp_path / f"store{number}", seconds) == 0
        pages.append(page.read_text())
    assert pages[0] == pages[1]
    assert f"| {NAME} | {verdict} |" in pages[0]
