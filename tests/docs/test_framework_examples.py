"""docs/guides/frameworks.md: each program runs where its framework is installed, and prints what is shown below it."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.documents import ROOT, blocks
from tests.docs.test_own_design import holds

SHOWN = {
    before.text: after.text
    for before, after in pairwise(blocks(ROOT / "docs" / "guides" / "frameworks.md"))
    if (before.language, after.language) == ("python", "text")
}

PROGRAMS = sorted((ROOT / "examples" / "frameworks").glob("*.py"))


def shown(program: Path) -> str:
    """The output that the page shows of a program."""
    (found,) = [output for code, output in SHOWN.items() if code in program.read_text(encoding="utf-8")]
    return found


@pytest.mark.peer
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_prints_what_is_shown(program: Path) -> None:
    framework = program.stem.removeprefix("on_").replace("pytorch", "torch")
    pytest.importorskip(framework, reason=f"{framework} (extra `{framework}`) is not installed")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert holds(result.stdout, shown(program)), result.stdout
    assert len(result.stdout.splitlines()) == len(shown(program).splitlines())
