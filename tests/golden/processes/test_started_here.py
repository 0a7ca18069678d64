"""All code of the project that starts a process does so by `golden.processes`: ruff says where it does not."""

import sys

import pytest

from golden.processes import run_tool
from tests.docs.documents import ROOT


def is_noticed(code: str, name: str = "studies/one.py") -> bool:
    """Whether ruff, as the project sets it, refuses the code of a file because it starts a process."""
    command = [sys.executable, "-m", "ruff", "check", "-q", "--select", "TID251", "--stdin-filename", name, "-"]
    done = run_tool(command, input=f"{code}\n", cwd=ROOT)
    assert done.stderr == ""
    return "TID251" in done.stdout


@pytest.mark.attack("a process that is started elsewhere")
@pytest.mark.parametrize(
    "line",
    [
        "import subprocess\nsubprocess.run(['git'])",
        "import subprocess as s\ndef f():\n    return s.check_output('git')",
        "from subprocess import Popen",
        "def f():\n    import os\n    os.system('git')",
        "import os\nrun = os.popen",
        "import multiprocessing",
        "from multiprocessing import Pool",
        "import multiprocessing.pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "import asyncio\nasyncio.create_subprocess_exec('git')",
        "from concurrent import futures\nfutures.ProcessPoolExecutor()",
    ],
)
def test_process_that_is_started_elsewhere_is_noticed(line: str) -> None:
    assert is_noticed(line)
    assert not is_noticed(line, "golden/processes/child.py")


@pytest.mark.parametrize("line", ["import subprocess\nerror = subprocess.TimeoutExpired", "import os\nos.execv('a', ['a'])"])
def test_what_starts_no_process_is_allowed(line: str) -> None:
    assert not is_noticed(line)
