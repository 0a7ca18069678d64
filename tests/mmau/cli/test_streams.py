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


def shell(redirected: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command with its streams redirected as a shell does it."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirected}', "bash", *command], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )


def mmau(redirected: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return shell(redirected, sys.executable, "-m", "mmau", *argv)


@pytest.mark.slow
@pytest.mark.parametrize(
    "argv",
    [("list", "--arch", "sm_90"), ("list", "--arch", "sm_70", "--json"), pytest.param(("list",), marks=pytest.mark.long)],
    ids=" ".join,
)
def test_full_stdout_is_an_error(argv: tuple[str, ...]) -> None:
    """Long output does not wait for the end: `print` itself fails."""
    done = mmau(">/dev/full", *argv)
    assert (done.returncode, done.stderr) == (2, "mmau list: stdout cannot be written: No space left on device\n")


def test_full_stdout_under_help_is_an_error() -> None:
    done = mmau(">/dev/full", "--help")
    assert (done.returncode, done.stderr) == (2, "mmau: stdout cannot be written: No space left on device\n")


@pytest.mark.parametrize("argv", [("list",), ("--help",), ("frobnicate",)], ids=" ".join)
def test_closed_stdout_is_an_error(argv: tuple[str, ...]) -> None:
    done = mmau(">&-", *argv)
    assert done.returncode == 2
    assert done.stderr == "mmau: stdout is closed; redirect it to a file, or to /dev/null\n"


def test_closed_stdout_is_found_before_anything_is_written(tmp_path: Path) -> None:
    done = mmau(">&-", "rtl", "--arch", "sm_70", "--instr", "mma.m8n8k4.f16.f16.f16.f16", "-o", str(tmp_path / "u.v"))
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("redirected", ["2>/dev/full", pytest.param("2>&-", marks=pytest.mark.long)])
def test_stderr_that_takes_nothing_leaves_the_status(redirected: str) -> None:
    agreed = mmau(redirected, "list", "--arch", "sm_70")
    assert (agreed.returncode, sum(line.startswith("sm_70 ") for line in agreed.stdout.splitlines())) == (0, 3)
    wrong = mmau(redirected, "list", "--arch", "sm_71")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    usage = mmau(redirected, "list", "--frob")
    assert (usage.returncode, usage.stdout) == (2, "")


def test_both_closed() -> None:
    assert mmau(">&- 2>&-", "list").returncode == 2


@pytest.mark.slow
def test_reader_that_leaves_is_no_error() -> None:
    done = mmau("| head -n 1; exit ${PIPESTATUS[0]}", "list", "--arch", "sm_90")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [
        "arch",
        "instruction",
        "operation",
        "parameters",
        "evidence",
        "recorded",
        "simulated",
        "proved",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lines", [pytest.param(1, marks=pytest.mark.long), 100_000])
@pytest.mark.parametrize(
    ("redirected", "status"),
    [
        ("", 1),
        (">/dev/full", 2),
        ("2>/dev/full", 1),
        ("| true; exit ${PIPESTATUS[0]}", 1),
        ("| head -n 1; exit ${PIPESTATUS[0]}", 1),
    ],
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
