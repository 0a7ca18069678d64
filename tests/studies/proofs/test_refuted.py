"""The campaign of checked refutations: what is refuted is kept and not tried again, and the page counts it."""

from pathlib import Path
from typing import Any

import pytest

from mmau.jobs.sealed import sealed, unsealed
from studies.proofs import refuted
from studies.proofs.outcome import table
from studies.proofs.proofs_page import document
from tests.studies.proofs import dying
from tests.studies.proofs.test_campaign import TARGET, settled


@pytest.mark.slow
def test_what_is_refuted_is_kept_and_the_rest_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = {"date": "2026-01-01", "versions": {}, "seconds": 60.0, **table([settled("never")])}
    proofs, kept, page = (tmp_path / name for name in ("proofs.json", "refuted.json", "page.md"))
    proofs.write_text(sealed(outcome), encoding="utf-8")
    replaced = {"STORE": tmp_path / "formal", "SECOND": tmp_path / "none", "chosen_targets": lambda _: [TARGET]}
    for name, value in replaced.items():
        monkeypatch.setattr(refuted, name, value)
    monkeypatch.setattr(refuted, "refute", dying.refute_short)
    arguments = [str(proofs), str(kept), str(page), "--jobs", "1"]
    assert refuted.main(arguments) == 0
    rows = unsealed(kept.read_bytes())["questions"]
    done = [row for row in rows if row[2] is not None]
    assert 0 < len(done) < len(rows)
    assert capsys.readouterr().out == f"{len(done)} of {len(rows)} questions refuted by checked lemmas\n"
    assert f"{len(done):,} are refuted" in page.read_text(encoding="utf-8")
    tried: list[str] = []

    def noted(tasks: Any, *rest: Any, **more: Any) -> list[Any]:
        tried.extend(task.name for task in tasks)
        return []

    monkeypatch.setattr(refuted, "run", noted)
    assert refuted.main(arguments) == 0
    assert unsealed(kept.read_bytes())["questions"] == rows
    assert len(tried) == len(rows) - len(done)


def test_the_page_counts_by_step() -> None:
    outcome = {"date": "2026-01-01", "versions": {"z3": "1"}, "seconds": 60.0, **table([settled("never")])}
    found = {
        "date": "2026-01-02", "seconds": 10.0, "solver": "z3 1",
        "questions": [["1", "decode_x_0", 7, ""], ["2", "decode_x_1", 0, ""], ["3", "sum_accumulate sum", None, "no"]],
    }  # fmt: skip
    text = document(outcome, None, found)
    assert "of 3 distinct questions that were tried 2 are refuted by lemmas" in text
    assert "| decode | 2 | 2 | 7 |" in text
    assert "| accumulate | 1 | 0 | 0 |" in text
