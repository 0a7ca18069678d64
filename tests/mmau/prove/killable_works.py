"""Work for `watched`: each ends in another way."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from mmau.prove.deadline import Refused, Report, killable


@killable
def answers(content: Mapping[str, Any], report: Report) -> Any:
    report({"first": content["x"]})
    print("words of a library")
    report({"second": 2})
    return {"sum": content["x"] + 2}


@killable
def hangs(content: Mapping[str, Any], report: Report) -> None:
    """With a program of its own, and a temporary file."""
    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    (Path(tempfile.gettempdir()) / "left").touch()
    report({"pids": [os.getpid(), program.pid], "folder": tempfile.gettempdir()})
    time.sleep(1000)


@killable
def crashes(content: Mapping[str, Any], report: Report) -> None:
    report({"first": 1})
    os.kill(os.getpid(), signal.SIGSEGV)


@killable
def refuses(content: Mapping[str, Any], report: Report) -> None:
    raise Refused("the file has no module")


@killable
def fails(content: Mapping[str, Any], report: Report) -> None:
    raise KeyError("align")


@killable
def lacks_a_package(content: Mapping[str, Any], report: Report) -> None:
    import_module("no_such_package")


@killable
def proves_in_part(content: Mapping[str, Any], report: Report) -> None:
    """As `mmau.prove.proof_work.prove_design`, whose last question takes for ever."""
    report({"assumed": [], "verilog": "digest"})
    report({"obligations": [("decode_x_0", "open"), ("d", "open")]})
    report({"decided": (0, "proved")})
    time.sleep(1000)
