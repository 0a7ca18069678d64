"""`python -m studies.answers`, and the example spaces that it is for."""

import json
import re
from pathlib import Path

import pytest

from mmau.explore.space_file import load_space
from studies.answers.__main__ import QUESTIONS, main
from tests.docs.documents import ROOT
from tests.studies.answers import sample


@pytest.mark.slow
def test_page_is_written(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in sample.encodings()))
    main(["encodings", str(tmp_path), str(tmp_path / "new" / "docs")])
    assert (tmp_path / "new" / "docs" / "encodings.md").read_text().startswith("# Sign and magnitude or complements")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encodings"], "arguments must be QUESTION RESULTS FOLDER, got 1"),
        (["colours", "x", "y"], "question must be one of round-down, encodings; got 'colours'"),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        main(arguments)


@pytest.mark.parametrize("question", ["round-down", "encodings"])
def test_every_question_has_a_space_a_target_and_a_page(question: str) -> None:
    assert question in QUESTIONS
    space = load_space(ROOT / "examples" / "spaces" / f"{question}.toml")
    assert space.name == question
    commands = (ROOT / "Makefile").read_text()
    assert f"answers-{question}: " in commands
    assert (ROOT / "docs" / "evidence" / "explore" / f"{question}.md").is_file()
