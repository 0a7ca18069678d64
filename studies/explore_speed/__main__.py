"""Prints how long 200 points take on this machine: python -m studies.explore_speed [--whole] [--jobs N].

Without --whole samples of them are timed, and the rest counted at their rate. Exit status: 0; 1, where a bar is missed; 2,
where something could not be measured.
"""

import argparse
import sys

from cosim.runner.needed_tools import check_tools
from mmau.jobs import program
from mmau.jobs.provenance import processor
from rtl.tools import MissingTool
from studies.explore_speed.timed_spaces import CORES, MINUTES
from studies.explore_speed.timings import sampled, whole


def main() -> int:
    """The machine, both spaces, and whether the bars are kept."""
    parser = argparse.ArgumentParser(prog="bench-explore", description="How long design spaces of 200 points take.")
    parser.add_argument("--whole", action="store_true", help="all points: an hour or two")
    parser.add_argument("--jobs", type=int, default=CORES, metavar="N", help=f"workers ({CORES}, as the bars have)")
    options = parser.parse_args()
    check_tools("verilator")
    print(f"{processor()}, {options.jobs} workers", flush=True)
    missed = False
    for length in MINUTES:
        result = (whole if options.whole else sampled)(length, options.jobs)
        print("\n".join(result.lines), flush=True)
        missed = missed or result.missed
    return int(missed)


if __name__ == "__main__":
    sys.exit(program("bench-explore", main, (MissingTool,)))
