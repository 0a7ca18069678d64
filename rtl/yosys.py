"""Yosys as a child process: the package pyosys, a native build that writes Verilog and reads the designs of users.

Not in this process: an error ends the interpreter that Yosys runs in, and each command is echoed to standard output.
"""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path

from golden.cache import tool_environment
from golden.files import temporary_folder
from golden.processes import run_tool, supervised
from golden.text import BYTES, last_line
from rtl.tools import MissingTool, python_program

LOG = "yosys.log"
"""Name of the file that Yosys logs everything into, warnings and errors included."""

SCRIPT = "script.ys"

PROGRAM = f"""
from pyosys import libyosys
libyosys.run_pass("tee -q -o {LOG} script {SCRIPT}", libyosys.Design())
"""

Watched = Callable[[Path], AbstractContextManager[object]]
"""Called with the path of the log of a run; the run takes place within the context."""


class YosysError(Exception):
    """Yosys failed, or did not end in time.

    Attributes:
        log: what it wrote to its end, errors last.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


def run_yosys(script: str, results: Sequence[str], files: Mapping[str, str], limit: float | None = None) -> dict[str, str]:
    """Run the native Yosys.

    Args:
        script: its commands, separated by `; ` or by line ends.
        results: names of the files that they write; `LOG` can be one.
        files: files that they read, text by name.
        limit: time after which Yosys is ended (seconds); None for no limit.

    Returns:
        The contents of the results, by name.

    Raises:
        MissingTool: Yosys is not installed.
        YosysError: Yosys failed, or did not end in time.
    """
    if find_spec("pyosys") is None:
        raise MissingTool(
            "Verilog needs the package pyosys, which is not installed; install it with: pip install 'mmau[rtl]'"
            " (there are wheels for Linux with glibc, x86-64 and aarch64, and for macOS; elsewhere use a container of these)"
        )
    return run_in_folder("pyosys", python_program(PROGRAM), results, {**files, SCRIPT: script}, limit)


def run_in_folder(
    name: str,
    command: Sequence[str],
    results: Sequence[str],
    files: Mapping[str, str],
    limit: float | None = None,
    watched: Watched = nullcontext,
) -> dict[str, str]:
    """Run a Yosys in a temporary folder, where it finds its files and writes its log and its results.

    Args:
        name: name of the package, for messages.
        command: command that starts Yosys.
        results, files, limit: as for `run_yosys`.
        watched: context in which the run takes place; it is given the path of the log.
    """
    return supervised(lambda: _run_in_folder(name, command, results, files, limit, watched))


def _run_in_folder(
    name: str,
    command: Sequence[str],
    results: Sequence[str],
    files: Mapping[str, str],
    limit: float | None,
    watched: Watched,
) -> dict[str, str]:
    with temporary_folder("mmau-rtl-") as folder_name:
        folder = Path(folder_name)
        for file, content in files.items():
            (folder / file).write_text(content, encoding="utf-8", errors=BYTES)
        # Yosys makes folders of its own, which it leaves behind where it is ended.
        environment = tool_environment() | {"TMPDIR": folder_name}
        with watched(folder / LOG):
            try:
                ran = run_tool(command, cwd=folder, env=environment, timeout=limit)
                failed, stderr, how = ran.returncode != 0, ran.stderr, f"exited with status {ran.returncode}"
            except subprocess.TimeoutExpired as error:
                failed, stderr, how = True, str(error.stderr), f"did not end within {limit:g} s"
        if failed or not all((folder / result).is_file() for result in results):
            log = (folder / LOG).read_text(errors="replace") if (folder / LOG).exists() else ""
            whole = f"{log}\n{stderr}"  # an error stands in either
            reason = next((line for line in reversed(whole.splitlines()) if line.startswith("ERROR: ")), last_line(stderr))
            raise YosysError(f"{name} {how}: {reason}", whole)
        return {result: (folder / result).read_text(encoding="utf-8") for result in results}
