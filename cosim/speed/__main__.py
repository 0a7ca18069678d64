"""Prints how fast co-simulation is on this machine: python -m cosim.speed."""

from functools import partial

import golden
from cosim.runner.tools import check_tools
from cosim.speed.measure import seconds_to_first_vector, speed_of
from golden import Implementation, Unit
from jobs.provenance import processor
from rtl.tools import supervised

ARCH, INSTRUCTION = "sm_90", "mma.m16n8k16.f32.f16.f16.f32"
"""Sixteen lanes of FP16."""


def main() -> None:
    """All measurements, the machine first."""
    check_tools("verilator")
    print(processor(), flush=True)
    operation = golden.instruction(ARCH, INSTRUCTION).operation
    for stages in (0, 3):
        built = Implementation(encoding="sign-magnitude", stages=stages)
        unit = Unit(name=f"{ARCH} {INSTRUCTION}, {stages} stages", operation=operation, implementation=built)
        print("\n".join(supervised(partial(speed_of, unit)).lines()), flush=True)
    for mode in ("cocotb", "volume"):
        cold, cached = seconds_to_first_vector(["--arch", ARCH, "--instr", INSTRUCTION], mode)
        print(f"{mode} mode, one vector: {cold:.1f} s with an empty cache, {cached:.1f} s with the model cached", flush=True)


if __name__ == "__main__":
    main()
