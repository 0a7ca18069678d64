"""The kernels of processor instructions: the source file, compiler options and processor flags that each needs."""

from dataclasses import dataclass
from pathlib import Path

from golden import Instruction

SOURCES = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class Kernel:
    """The source and the options of one instruction's kernel.

    Attributes:
        source: path of the C source.
        options: options of the compiler.
        flags: processor flags that must all be present, as /proc/cpuinfo spells them.
    """

    source: Path
    options: tuple[str, ...]
    flags: tuple[str, ...]


_AVX512 = {
    "vdpbf16ps": ("avx512_bf16", "-mavx512bf16"),
    "vpdpbusd": ("avx512_vnni", "-mavx512vnni"),
    "vpdpbusds": ("avx512_vnni", "-mavx512vnni"),
    "vfmaddph": ("avx512_fp16", "-mavx512fp16"),
}
"""Instruction to processor flag and compiler option."""

_AMX = {"tdpbf16ps": ("amx_bf16", "-mamx-bf16"), "tdpfp16ps": ("amx_fp16", "-mamx-fp16")}


def kernel_of(instruction: Instruction) -> Kernel:
    """The kernel of an instruction of x86-amx or x86-avx512."""
    name = instruction.name.partition(".")[0]
    chosen = f"-DMMAU_{name.upper()}"
    if instruction.arch == "x86-avx512":
        flag, option = _AVX512[name]
        return Kernel(SOURCES / "avx512.c", ("-mavx512f", option, chosen), ("avx512f", flag))
    flag, option = _AMX.get(name, ("amx_int8", "-mamx-int8"))
    element = f"-DMMAU_ELEMENT_BYTES={instruction.a.storage_bits // 8}"
    return Kernel(SOURCES / "amx.c", ("-mamx-tile", option, chosen, element), ("amx_tile", flag))
