"""The documentation's table: PTX or builtin name → SASS or ISA instruction, per architecture.

    python -m hwtests.instruction_table docs/instructions.md

It is written from what the compile tests expect, and `make kernels` holds every row to the disassembly; so it needs no
compiler.
"""

import re
import sys
from collections.abc import Iterable

import golden
from golden import Instruction
from golden.files import write_atomically
from hwtests.amd.mfma import mfma_kernel
from hwtests.nvidia.disassembly import expected
from hwtests.nvidia.kernels import is_nvidia, kernel_of

HEAD = """\
# What each instruction becomes

Written by `python -m hwtests.instruction_table docs/instructions.md`; do not edit. Every row is checked by `make kernels`:
the kernel of each instruction of the catalogue is compiled for its part and disassembled. `N` stands for every N of the
catalogue; the types of `tcgen05` are in its instruction descriptor, not in its name.

Where one PTX instruction becomes two HMMA, no datapath of its own stands behind it: FP8 `mma.sync` on sm_90 and sm_100 is
converted to fp16 by the compiler, computed from zero over the k with k mod 4 < 2, then over the rest, and C is added last.
"""


def rows() -> dict[str, dict[str, list[str]]]:
    """Vendor to (source name, target instructions) to architectures, in the catalogue's order."""
    found: dict[str, dict[str, list[str]]] = {"NVIDIA": {}, "AMD": {}}
    for entry in golden.instructions():
        if not entry.arch.startswith(("sm_", "gfx")):
            continue  # a processor's own instruction: no kernel of a GPU
        if is_nvidia(entry):
            vendor, source, target = "NVIDIA", _any_n(entry, kernel_of(entry).ptx), _any_n(entry, _sass(expected(entry)))
        else:
            vendor, source, target = "AMD", mfma_kernel(entry).builtin, entry.name
        archs = found[vendor].setdefault(f"| `{source}` | {target} |", [])
        if entry.arch not in archs:
            archs.append(entry.arch)
    return found


def _any_n(entry: Instruction, text: str) -> str:
    """The name with N in place of a warpgroup instruction's n."""
    if not entry.name.startswith("wgmma."):
        return text
    return re.sub(r"64x\d+x", "64xNx", re.sub(r"m64n\d+k", "m64nNk", text))


def _sass(counts: dict[str, int]) -> str:
    return ", ".join(f"`{mnemonic}`" + (f" ×{count}" if count > 1 else "") for mnemonic, count in counts.items())


def document() -> str:
    """The whole page."""
    text = HEAD
    for vendor, (source, target) in {"NVIDIA": ("PTX", "SASS"), "AMD": ("clang builtin", "ISA")}.items():
        text += f"\n## {vendor}\n\n| {source} | {target} | architectures |\n| --- | --- | --- |\n"
        text += "\n".join(_lines(rows()[vendor].items())) + "\n"
    return text


def _lines(found: Iterable[tuple[str, list[str]]]) -> list[str]:
    return [f"{row} {', '.join(archs)} |" for row, archs in found]


if __name__ == "__main__":
    write_atomically(sys.argv[1], document().encode())
