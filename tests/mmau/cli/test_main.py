"""Exit status 1 means that something differed: every error ends as one message with status 2, whatever raised it."""

import argparse
import re
import tokenize
import zipfile
from pathlib import Path

import pytest

from mmau import DIFFERED
from mmau.cli import list_catalogue, main

HERE = rf"at {re.escape(__file__)}:\d+: "


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("a must be b, got c"), "a must be b, got c"),
        (TypeError("a must be an array"), "a must be an array"),
        (FileNotFoundError(2, "No such file or directory", "x.npz"), r"x\.npz: No such file or directory"),
        (OSError(28, "No space left on device"), r"\[Errno 28\] No space left on device"),
        (MemoryError(), "there is not enough memory for this request"),
        (MemoryError("Unable to allocate 29.8 GiB"), r"Unable to allocate 29\.8 GiB"),
        (
            ModuleNotFoundError("No module", name="amaranth.hdl"),
            r"needs the package amaranth, which is not installed; install it with: pip install 'mmau\[rtl\]'",
        ),
        (ModuleNotFoundError("No module", name="cocotb"), r".*; install it with: pip install 'mmau\[cosim\]'"),
        (ModuleNotFoundError("No module", name="bitwuzla"), r".*; install it with: pip install 'mmau\[formal\]'"),
        (ModuleNotFoundError("No module", name="somebodys"), r".*; install it with: pip install somebodys"),
        (RecursionError("maximum recursion depth exceeded"), rf"RecursionError {HERE}maximum recursion depth exceeded"),
        (
            tokenize.TokenError("EOF in multi-line string", (1, 4)),
            rf"TokenError {HERE}\('EOF in multi-line string', \(1, 4\)\)",
        ),
        (
            RuntimeError("error while executing\n\n  wasm trap: out of bounds\n"),
            rf"RuntimeError {HERE}error .*; wasm trap: .*",
        ),
        (KeyError("scale"), rf"KeyError {HERE}'scale'"),
        (AssertionError(), rf"AssertionError {HERE}without a message"),
        (zipfile.BadZipFile("bad"), rf"BadZipFile {HERE}bad"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_every_error_is_one_line_and_status_2(
    error: Exception, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_list(arguments: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr(list_catalogue, "run_list", run_list)
    assert main.main(["list"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.fullmatch(f"mmau list: {said}\n", captured.err), captured.err


def test_what_differs_is_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_catalogue, "run_list", lambda arguments: DIFFERED)
    assert main.main(["list"]) == 1


@pytest.mark.attack("inputs without an end, or hostile text")
def test_folder_that_is_gone_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = Path("examples/units/cvfpu-fma-fp16.toml").resolve()
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert main.main(["vectors", "--unit", str(unit), "--vectors", "3", "-o", "v.txt"]) == 2
    assert capsys.readouterr().err == "mmau vectors: the current folder no longer exists: change to another one (cd)\n"
