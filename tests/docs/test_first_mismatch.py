"""From a clean environment to the first explained mismatch: pip installs the wheel, and the README's story is done."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.docs.test_own_design import holds
from tests.docs.test_readme_story import SHOWN, STORY, UNIT

WHEEL = os.environ.get("MMAU_WHEEL")
"""A wheel that was built before, as `make release` does; otherwise the test builds one."""

SECONDS = 300.0
"""In which a release must get there, from the wheel on."""


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command as a newcomer would start it: in this folder, whose environment is home and PATH alone."""
    environment = {"PATH": f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    if WHEEL is not None:
        return Path(WHEEL).absolute()
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.site
def test_first_mismatch_is_explained_in_a_clean_environment(
    wheel: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """The time is in the summary. It is compared in a release alone."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    installed = run(["pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[cosim]"], tmp_path)
    assert installed.returncode == 0, installed.stderr
    (tmp_path / "unit.toml").write_text(UNIT)
    (tmp_path / "spec.toml").write_text(UNIT.replace("F = 25", "F = 24"))
    outcomes = [run(words, tmp_path) for words in STORY]
    seconds = time.monotonic() - began
    record_property("told", f"from the wheel to the first explained mismatch: {seconds:.0f} s")
    assert [outcome.returncode for outcome in outcomes] == [0, 0, 1], outcomes[0].stderr + outcomes[1].stderr
    assert holds(outcomes[2].stdout, SHOWN)
    assert WHEEL is None or seconds < SECONDS
