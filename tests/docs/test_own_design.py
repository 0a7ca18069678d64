"""docs/guides/own-design.md from its first command to the last: each is run, ends as it should, and says what is shown."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.documents import ROOT, blocks, commands

DOCUMENT = ROOT / "docs" / "guides" / "own-design.md"
SHELL = [words for block in blocks(DOCUMENT) if block.language == "sh" for words in commands(block)]
SHOWN = [block.text for block in blocks(DOCUMENT) if block.language == "text"]
BROKEN = "tests/third_party/lanes/broken.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place that looks like the project's folder, so that what the commands leave is left there."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "tests").symlink_to(ROOT / "tests")
    (folder / "build").mkdir()
    return folder


def run(words: list[str], folder: Path) -> tuple[int, str]:
    """Status of a command, and what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(words, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout


def holds(output: str, shown: str) -> bool:
    """Whether an output has the lines of a block in this order; `…` stands for any lines, or at a line's end for more."""
    rest = iter(output.splitlines())
    wanted = [line.rstrip() for line in shown.splitlines() if line.strip() not in ("", "…")]
    return all(any(_is(line.rstrip(), want) for line in rest) for want in wanted)


def _is(line: str, want: str) -> bool:
    return line.startswith(want.removesuffix("…").rstrip()) if want.endswith("…") else line == want


@pytest.mark.simulator
@pytest.mark.long
def test_every_command_ends_as_it_should(folder: Path) -> None:
    """In order: of the sound design with 0, of the broken one with 1, its outputs as shown; GTKWave needs a screen."""
    outputs = {}
    for words in SHELL[1:]:
        if words[0] != "gtkwave":
            status, outputs[" ".join(words)] = run(words, folder)
            assert status == (1 if BROKEN in words else 0), " ".join(words)
    broken = [output for command, output in outputs.items() if BROKEN in command]
    assert len(broken) == 2
    assert SHOWN
    assert [shown for shown in SHOWN if not holds(broken[0], shown)] == []
    assert {"dot4.vcd", "dot4.gtkw", "build"} <= {path.name for path in folder.iterdir()}
    assert {"report.html", "v.npz"} <= {path.name for path in (folder / "build").iterdir()}
