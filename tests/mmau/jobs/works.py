"""Work functions of the tests, one for each thing that a task may do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def square(content: dict[str, Any], folder: Path) -> int:
    return int(content["x"]) ** 2


def noisy_square(content: dict[str, Any], folder: Path) -> int:
    """Writes on stdout from here and from a program, which must not reach the answers."""
    print(f"x is {content['x']}")
    subprocess.run(["echo", '{"status": "done", "result": -1}'], check=True)
    return square(content, folder)


def write_files(content: dict[str, Any], folder: Path) -> list[str]:
    (folder / "inner").mkdir()
    (folder / "inner" / "wave.vcd").write_text(content["text"])
    return sorted(path.name for path in folder.iterdir())


def misbehave(content: dict[str, Any], folder: Path) -> Any:
    """Whatever `do` says; else the square."""
    match content.get("do"):
        case "raise":
            print("before the end")
            raise RuntimeError("no such thing\non two lines")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "abort":
            os.abort()
        case "leave":
            os._exit(3)
        case "exit":
            sys.exit("it is over")
        case "hang":
            print("hanging", flush=True)
            child_in_own_session(content["pids"])
            time.sleep(600)
        case "no JSON":
            return {1, 2}
        case "NaN":
            return float("nan")
        case "full":
            raise OSError(28, "No space left on device", "there")
        case "fail once":
            marker = Path(content["marker"])
            if not marker.exists():
                marker.touch()
                os.abort()
    return square(content, folder)


def child_in_own_session(pids: str) -> None:
    """A program that outlives this process unless somebody looks for it; its number goes to a file."""
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    with Path(pids).open("a") as stream:
        stream.write(f"{child.pid}\n")


def slow_square(content: dict[str, Any], folder: Path) -> int:
    time.sleep(content["seconds"])
    return square(content, folder)


def long_program(content: dict[str, Any], folder: Path) -> None:
    child_in_own_session(content["pids"])
    time.sleep(600)


def noted_square(content: dict[str, Any], folder: Path) -> int:
    """Notes that it was started, and by which process; then takes its time."""
    with Path(content["starts"]).open("a") as stream:
        stream.write(f"{content['x']} {os.getpid()}\n")
    time.sleep(content["seconds"])
    (folder / "x").write_text(str(content["x"]))
    return square(content, folder)
