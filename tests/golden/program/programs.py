"""Programs for tests: an honest one, and one for each way to misbehave.

    python -m tests.golden.program.programs KIND

answers each row with the last code of the line, which is c; `KIND` says what it does wrong.
"""

import os
import random
import signal
import sys
import time

AFTER = 40
"""Rows that are answered before something goes wrong."""

ROWS = 100
"""Rows of a question."""


def answer(kind: str, number: int, code: str) -> None:
    """The answer to one row."""
    if number == AFTER:
        if kind == "dies":
            print("the cable is out", file=sys.stderr)
            sys.exit(3)
        if kind == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "hangs":
            time.sleep(600)
        if kind == "answers too much":
            print(code, flush=True)
        if kind == "answers too little":
            return
        if kind.endswith("in an answer"):
            print(code[:3], end="", flush=True)
            sys.exit(3) if kind.startswith("dies") else time.sleep(600)
        code = {"answers words": "ready", "answers a wide code": "1" + code, "answers two codes": f"{code} {code}"}.get(
            kind, code
        )
    if kind == "dies in its last answer" and number == ROWS - 1:
        print(code[:3], end="", flush=True)
        sys.exit(3)
    if kind == "rounds by lot":
        code = f"{int(code, 16) ^ random.getrandbits(1):08x}"
    if kind == "changes its mind" and number >= 1000 and number % 100 == 7:
        code = f"{int(code, 16) ^ 1:08x}"
    print(code, flush=kind != "buffers")


def main(kind: str) -> None:
    """Answer the rows of standard input."""
    random.seed(1)  # the lot of every run is the same
    if kind == "answers before it is asked":
        print("00000000", flush=True)
    if kind == "babbles":
        os.write(2, b"warning: " * 2_000_000)
    if kind == "echoes":
        for line in sys.stdin:
            print(line, end="", flush=True)
    rows = (line for line in sys.stdin if not line.startswith("#"))
    for number, line in enumerate(rows):
        answer(kind, number, line.split()[-1])
    if kind == "speaks at the end":
        print("00000000")


if __name__ == "__main__":
    main(sys.argv[1])
