"""The kernel of any NVIDIA instruction of the catalogue."""

from collections.abc import Callable

import golden
from golden import Instruction
from hwtests.nvidia.mma import mma_kernel
from hwtests.nvidia.source import Kernel
from hwtests.nvidia.tcgen05 import tcgen05_kernel
from hwtests.nvidia.wgmma import wgmma_kernel

FAMILIES: dict[str, Callable[[Instruction], Kernel]] = {
    "mma": mma_kernel,
    "wgmma": wgmma_kernel,
    "tcgen05": tcgen05_kernel,
}
"""First word of an instruction's name to the function that makes its kernel."""


def is_nvidia(instruction: Instruction) -> bool:
    """Whether the instruction is one of NVIDIA's."""
    return instruction.arch.startswith("sm_")


def kernel_of(instruction: Instruction) -> Kernel:
    """The kernel that runs an instruction on whole tiles.

    Raises:
        ValueError: an instruction of another vendor, or a `wmma`.
    """
    if not is_nvidia(instruction):
        raise ValueError(f"{instruction.name} is no NVIDIA instruction: it runs on {instruction.arch}")
    if instruction.name.startswith("wmma."):
        raise ValueError(f"{instruction.name} is no instruction of the machine: {instruction.note}; run that")
    return FAMILIES[instruction.name.split(".")[0]](instruction)


def kernels_of(instruction: Instruction) -> list[Kernel]:
    """The kernels of an instruction, one for every operand route: A of a `wgmma` comes from shared memory or from registers.

    Raises:
        ValueError: an instruction of another vendor.
    """
    kernels = [kernel_of(instruction)]
    if instruction.name.startswith("wgmma."):
        kernels.append(wgmma_kernel(instruction, a_in_registers=True))
    return kernels


def instructions() -> list[Instruction]:
    """Every NVIDIA instruction of the catalogue, dense and sparse."""
    return [entry for entry in golden.instructions() + golden.sparse_instructions() if is_nvidia(entry)]
