"""Table 9 of paper 000: what the page says, held again."""

import json
import random
from fractions import Fraction

import pytest

import golden
from golden.stimulus import Row
from mmau.analysis.error_bound import Bounded
from mmau.analysis.exact_value import Arithmetic
from studies.analysis import bounds
from studies.analysis.distinct_arithmetics import arithmetics
from tests.docs.documents import ROOT

RECORDS = json.loads((ROOT / "docs/evidence/analysis/bounds.json").read_text(encoding="utf-8"))


def row_of(table: dict[str, list[int] | int]) -> Row:
    return Row(**{name: tuple(codes) if isinstance(codes, list) else codes for name, codes in table.items()})  # type: ignore[arg-type]


def test_worst_rows_of_the_page_come_so_near_to_their_bounds_and_none_passes() -> None:
    watched = {arithmetic.name: Bounded(arithmetic) for arithmetic in map(Arithmetic.of_instruction, arithmetics())}
    for record in random.Random(0).sample(RECORDS, 60):
        share = watched[record["name"]].share(row_of(record["worst"]))
        assert share is not None
        assert float(share) == record["searched"] <= 1
        assert not record["exceeded"]


@pytest.mark.slow
def test_bound_that_is_exceeded_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound of half the size: the page says which arithmetics break it."""
    i = golden.instruction("gfx908", "v_mfma_f32_4x4x2bf16")
    whole = Bounded.share

    def twice(watched: Bounded, row: Row) -> Fraction | None:
        share = whole(watched, row)
        return None if share is None else 2 * share

    assert not bounds.held(i, 20, 5, 0).exceeded
    monkeypatch.setattr(Bounded, "share", twice)
    assert bounds.held(i, 20, 5, 0).exceeded
    monkeypatch.setattr(bounds, "arithmetics", lambda: [i])
    monkeypatch.setattr(bounds, "ROWS", 20)
    monkeypatch.setattr(bounds, "STEPS", 5)
    last = bounds.page(0)["bounds.md"].decode().split("| E-FDPA | RNE-FP32 |")[1]
    assert last.split("|")[3].strip() == "1"
