"""Prints how fast co-simulation is on this machine: `python -m studies.cosim_speed`. Exit status 1: a bar is missed."""

import sys
from functools import partial

import golden
from cosim.runner.needed_tools import check_tools
from golden import Implementation, Unit
from golden.processes import supervised
from mmau.jobs.provenance import processor
from studies.cosim_speed.measurements import LEAST_SHARE, MOST_SECONDS, first_vector, speed_of

ARCH, INSTRUCTION = "sm_90", "mma.m16n8k16.f32.f16.f16.f32"
"""Sixteen lanes of FP16."""


def main() -> int:
    """All measurements, the machine first, then the bars and which of them are missed."""
    check_tools("verilator")
    print(processor(), flush=True)
    missed = []
    operation = golden.instruction(ARCH, INSTRUCTION).operation
    for stages in (0, 3):
        built = Implementation(encoding="sign-magnitude", stages=stages)
        unit = Unit(name=f"{ARCH} {INSTRUCTION}, {stages} stages", operation=operation, implementation=built)
        speed = supervised(partial(speed_of, unit))
        print("\n".join(speed.lines()), flush=True)
        missed += speed.missed()
    for mode in ("cocotb", "volume"):
        first = first_vector(["--arch", ARCH, "--instr", INSTRUCTION], mode)
        print(first.line(), flush=True)
        missed += first.missed()
    seconds = ", ".join(f"{most:.0f} s {how}" for how, most in MOST_SECONDS.items())
    print(f"bars: a mode reaches at least {LEAST_SHARE} of its loop; one vector takes at most {seconds}")
    print("\n".join(f"missed: {bar}" for bar in missed) or "no bar is missed")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
