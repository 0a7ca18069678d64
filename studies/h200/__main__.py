"""The command: see the package."""

import argparse
import sys
from pathlib import Path

from studies.h200.job import Call, finished, run_call
from studies.h200.summary import agreed


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    found = argparse.ArgumentParser(
        prog="python -m studies.h200", description="Everything worth running on an H200, resumable."
    )
    found.add_argument("--state", type=Path, required=True, metavar="DIR", help="the state of the job, stored between calls")
    found.add_argument("--out", type=Path, required=True, metavar="DIR", help="this call's results, in pieces")
    found.add_argument("--seconds", type=float, default=520.0, metavar="S", help="of this call (520)")
    found.add_argument("--piece-bytes", type=int, default=16 << 20, metavar="N", help="most of one piece (16777216)")
    found.add_argument("--retry", action="store_true", help="try again what hung, crashed or failed")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 nothing wrong so far, 1 something differed, failed, hung or crashed, 2 the job cannot run here."""
    given = parser().parse_args(arguments)
    call = Call(
        state=given.state, out=given.out, seconds=given.seconds, piece_bytes=given.piece_bytes, retry=given.retry
    )  # fmt: skip
    try:
        state = run_call(call, lambda line: print(line, flush=True))
    except (ValueError, OSError) as error:
        print(f"studies.h200: {error}", file=sys.stderr)
        return 2
    if finished(call, state):
        print("complete")
    elif state.complete():
        print("not complete: the same command hands over the rest")
    return 0 if agreed(state) else 1


if __name__ == "__main__":
    sys.exit(main())
