"""The model under several arithmetics, in a small size."""

from pathlib import Path

import numpy as np
import pytest

from golden.native.library import library
from studies.model import __main__ as pages
from studies.model.__main__ import page, picture, write
from studies.model.arithmetics import ARITHMETICS, on_part, outcomes
from studies.model.transformer import Size, Transformer
from tests.docs.documents import ROOT

pytestmark = pytest.mark.skipif(library() is None, reason="the native library is not installed")

SMALL = Size(width=64, hidden=512, heads=2, layers=1, vocabulary=96, prompt=12, written=24)


@pytest.mark.slow
def test_arithmetics_differ_in_bits_and_in_tokens() -> None:
    found, distances = outcomes(SMALL, 3)
    assert [outcome.name for outcome in found] == list(ARITHMETICS)
    first, *others = found
    assert (first.differing, first.first) == (0, None)
    assert all(outcome.differing > 0 for outcome in others)
    assert all(len(outcome.tokens) == SMALL.written for outcome in found)
    for outcome in others:
        away = [at for at in range(SMALL.written) if outcome.tokens[at] != first.tokens[at]]
        assert outcome.first == (away[0] if away else None)
    by_name = {outcome.name: outcome for outcome in found}
    fp8, bf16 = by_name["sm_90, FP8 promoted"], by_name["sm_90, one pass"]
    assert fp8.furthest > 2 * bf16.furthest
    assert by_name["sm_90, FP8 not promoted"].tokens != [] and set(distances) == set(by_name)  # noqa: PT018
    text = page(SMALL, found)
    assert text.count("| sm_") + text.count("| gfx") == len(found)
    assert picture(distances).startswith(b"<?xml")


@pytest.mark.slow
def test_page_is_written_into_a_folder_that_was_not_there(tmp_path: Path) -> None:
    tiny = Size(width=32, hidden=64, heads=2, layers=1, vocabulary=32, prompt=4, written=2)
    write(tmp_path / "new" / "folder", tiny, 3)
    assert sorted(file.name for file in (tmp_path / "new" / "folder").iterdir()) == ["model.md", "model.svg"]


def test_a_folder_that_cannot_be_made_is_refused_before_the_model_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "outcomes", lambda *_: pytest.fail("the model ran"))
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="Not a directory"):
        write(tmp_path / "file" / "folder", SMALL, 3)


def test_same_seed_gives_the_same_model() -> None:
    one, two = Transformer(SMALL, 3), Transformer(SMALL, 3)
    product = on_part("sm_80")
    assert one.prompt == two.prompt
    assert np.array_equal(one.logits(one.prompt, product), two.logits(two.prompt, product))
    assert Transformer(SMALL, 4).prompt != one.prompt


def test_page_has_the_size_of_its_program() -> None:
    text = (ROOT / "docs" / "evidence" / "model.md").read_text(encoding="utf-8")
    assert text.startswith(page(Size(), []).split("|")[0].strip()[:400])
    assert (ROOT / "docs" / "evidence" / "model.svg").is_file()
