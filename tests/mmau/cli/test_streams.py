"""The exit status where stdout or stderr is closed, full, or read no further.

In processes of their own, with Python's buffers as users have them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}

DIFFERING = """
import sys
from mmau import DIFFERED
from mmau.cli import main
from mmau.cli import list_catalogue
def run_list(arguments):
    print("a line\\n" * {lines})
    return DIFFERED
list_catalogue.run_list = run_list
sys.exit(main.main(["list"]))
"""


def shell(redirected: str, *command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command with its streams redirected as a shell does it."""
    words = ["bash", "-c", f'"$@" {redirected}', "bash", *command]
    return subprocess.run(words, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)


FULL = "stdout cannot be written: No space left on device\n"

CLOSED = "mmau: stdout is closed; redirect it to a file, or to /dev/null\n"

READ_NO_FURTHER = "| head -n 1; exit ${PIPESTATUS[0]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirected", "line", "status", "said"),
    [
        (">/dev/full", "list --arch sm_90", 2, f"mmau list: {FULL}"),
        (">/dev/full", "list --arch sm_70 --json", 2, f"mmau list: {FULL}"),
        (">/dev/full", "--help", 2, f"mmau: {FULL}"),
        (">&-", "list", 2, CLOSED),
        (">&-", "--help", 2, CLOSED),
        (">&-", "frobnicate", 2, CLOSED),
        (">&-", "rtl --arch sm_70 --instr mma.m8n8k4.f16.f16.f16.f16 -o u.v", 2, CLOSED),
        ("2>/dev/full", "list --arch sm_70", 0, ""),
        ("2>/dev/full", "list --arch sm_71", 2, ""),
        ("2>&-", "list --arch sm_71", 2, ""),
        ("2>/dev/full", "list --frob", 2, ""),
        (">&- 2>&-", "list", 2, ""),
        (READ_NO_FURTHER, "list --arch sm_90", 0, ""),
    ],
)
def test_status_and_message(redirected: str, line: str, status: int, said: str, tmp_path: Path) -> None:
    """A stdout that takes nothing is an error, found before a file is written; a stderr that does leaves the status."""
    done = shell(redirected, sys.executable, "-m", "mmau", *line.split(), folder=tmp_path)
    assert (done.returncode, done.stderr) == (status, said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("lines", [pytest.param(1, marks=pytest.mark.long), 100_000])
@pytest.mark.parametrize(
    ("redirected", "status"),
    [("", 1), (">/dev/full", 2), ("2>/dev/full", 1), ("| true; exit ${PIPESTATUS[0]}", 1), (READ_NO_FURTHER, 1)],
)
def test_run_that_differed_is_never_a_success(redirected: str, status: int, lines: int) -> None:
    done = shell(redirected, sys.executable, "-c", DIFFERING.format(lines=lines))
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_stdout_and_messages_hold_no_control_characters() -> None:
    """Output of a design, or a name, must not control the terminal; nor does a value of any length fill it."""
    code = """
from mmau.cli import streams
streams.prepare()
print("found \\x1b[2J")
streams.say("wrong \\x1b[2J " + "9" * 9000)
streams.flush()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "found \\x1b[2J\n"
    assert done.stderr.startswith("wrong \\x1b[2J 999")
    assert len(done.stderr) < 2100
