"""The command: see the package."""

import argparse
import sys
from pathlib import Path

from studies.lent_minutes.run import first_open, is_bad, run_list, summary


def main(arguments: list[str] | None = None) -> int:
    """Run the list. Exit status: 0 nothing wrong so far; 1 something differs, failed, hung or crashed; 2 the list cannot run
    here."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.lent_minutes", description="What is still to be measured on an H100."
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the results, which are appended to")
    parser.add_argument("--seconds", type=float, default=700.0, metavar="S", help="of this call (700)")
    parser.add_argument("--retry", action="store_true", help="try again what failed, hung or crashed")
    given = parser.parse_args(arguments)
    try:
        records = run_list(given.out, given.seconds, lambda line: print(line, flush=True), given.retry)
    except (ValueError, OSError) as error:
        print(f"studies.lent_minutes: {error}", file=sys.stderr)
        return 2
    print(summary(records))
    print("complete" if first_open(records) is None else "not complete: the same command goes on")
    return 1 if any(is_bad(entry) for units in records.units.values() for entry in units.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
