"""The kernel of any AMD instruction of the catalogue."""

import golden
from golden import Instruction
from hwtests.amd.mfma import HipKernel, mfma_kernel
from hwtests.amd.wmma import layout_is_known, wmma_kernel


def kernel_of(instruction: Instruction) -> HipKernel:
    """The kernel that runs an instruction on whole tiles.

    Raises:
        ValueError: an instruction of another vendor, or one whose layout in registers is unknown.
    """
    if not instruction.arch.startswith("gfx"):
        raise ValueError(f"{instruction.name} is no AMD instruction: it runs on {instruction.arch}")
    return mfma_kernel(instruction) if instruction.name.startswith("v_mfma") else wmma_kernel(instruction)


def has_kernel(instruction: Instruction) -> bool:
    """Whether there is a kernel: every AMD instruction whose layout in registers is known has one."""
    return instruction.arch.startswith("gfx") and layout_is_known(instruction)


def instructions() -> list[Instruction]:
    """Every AMD instruction of the catalogue that has a kernel."""
    return [entry for entry in golden.instructions() if has_kernel(entry)]
