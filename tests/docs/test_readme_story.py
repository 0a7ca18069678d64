"""The README's stories: each command is run, ends as it should, and says what is shown."""

import shutil
from pathlib import Path

import pytest
from cocotb_tools.check_results import get_results

from tests.docs.documents import ROOT, blocks, commands
from tests.docs.test_own_design import holds, run

README = blocks(ROOT / "README.md")
UNIT = next(block.text for block in README if block.language == "toml")
STORY = next(list(commands(block)) for block in README if block.language == "sh" and "mmau rtl" in block.text)
BENCH = next(block.text for block in README if block.language == "python" and "@cocotb.test" in block.text)
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
def test_cocotb_test_passes_the_unit_and_fails_the_other_specification(folder: Path) -> None:
    """The README's testbench, under the makefile of the example."""
    (folder / "bench.py").write_text(BENCH)
    shutil.copy(ROOT / "examples" / "testbench" / "Makefile", folder)
    make = ["make", "VERILOG_SOURCES=unit.v", "COCOTB_TOPLEVEL=unit", "COCOTB_TEST_MODULES=bench"]
    assert run(STORY[0], folder)[0] == 0
    assert run(make, folder)[0] == 0
    assert get_results(folder / "results.xml") == (1, 0)
    shutil.copy(folder / "spec.toml", folder / "unit.toml")
    assert run([*make, "-o", "unit.v"], folder)[0] != 0
    assert get_results(folder / "results.xml") == (1, 1)
