"""The README's stories: each command is run, ends as it should, and says what is shown."""

from pathlib import Path

import pytest

from tests.docs.documents import ROOT, blocks, commands
from tests.docs.test_own_design import holds, run

README = blocks(ROOT / "README.md")
UNIT = next(block.text for block in README if block.language == "toml")
STORY = next(list(commands(block)) for block in README if block.language == "sh" and "mmau rtl" in block.text)
SECOND_STORY = next(list(commands(block)) for block in README if block.language == "sh" and "--dut-template" in block.text)
SHOWN = next(block.text for block in README if block.language == "text" and "my-fdpa" in block.text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a reader who wrote the unit, and the specification with F = 24."""
    assert UNIT.count("F = 25") == 1
    (tmp_path / "unit.toml").write_text(UNIT)
    (tmp_path / "spec.toml").write_text(UNIT.replace("F = 25", "F = 24"))
    return tmp_path


@pytest.mark.slow
def test_verilog_is_written(folder: Path) -> None:
    status, output = run(STORY[0], folder)
    assert status == 0
    assert "my-fdpa: module unit in unit.v" in output
    assert "module unit(" in (folder / "unit.v").read_text()


@pytest.mark.simulator
@pytest.mark.long
def test_sound_verilog_agrees_and_the_other_specification_is_named(folder: Path) -> None:
    outcomes = [run(words, folder) for words in STORY]
    assert [status for status, _ in outcomes] == [0, 0, 1]
    assert "20,000 sent, 20,000 received, queue empty; 1 of 1 units passed" in outcomes[1][1]
    assert "differ" not in outcomes[1][1]
    assert holds(outcomes[2][1], SHOWN)


@pytest.mark.simulator
@pytest.mark.long
def test_design_with_a_bug_is_explained() -> None:
    """The README's second story, whose files are the project's."""
    shown = next(block.text for block in README if block.language == "text" and "hidden bit" in block.text)
    outcomes = [run(words, ROOT) for words in SECOND_STORY]
    assert [status for status, _ in outcomes] == [0, 0, 1]
    assert 'top = "dot4_lanes"' in outcomes[0][1]
    assert holds(outcomes[2][1], shown)
