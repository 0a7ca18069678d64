"""The documentation's table: PTX or builtin name → SASS or ISA instruction, per architecture.

    python -m studies.instruction_table docs/reference/instructions.md

It is written from what the compile tests expect, and `make kernels` holds every row to the disassembly; so it needs no
compiler.
"""

import re
import sys

import golden
from golden import Instruction
from golden.files import write_atomically
from hwtests.amd import kernels as amd
from hwtests.nvidia.disassembly import expected
from hwtests.nvidia.kernels import is_nvidia, kernel_of
from mmau.report import markdown

HEAD = """\
Written by `python -m studies.instruction_table docs/reference/instructions.md`; do not edit. `make kernels` checks each row:
the kernel of each instruction of the catalogue is compiled for its part and disassembled. `N` stands for every N of the
catalogue; the types of `tcgen05` are in its instruction descriptor, not in its name.

Where one PTX instruction becomes two HMMA, no datapath of its own stands behind it: FP8 `mma.sync` on sm_90 and sm_100 is
converted to fp16 by the compiler, computed from zero over the k with k mod 4 < 2, then over the rest, and C is added last.
Nor does one behind 4-bit integers on sm_90, sm_100 and sm_120, behind xor of single bits on sm_90, and behind any single
bits on sm_100 and sm_120: the compiler makes several instructions of 8 bits, or of and, adds C and limits it.
"""


def rows() -> dict[str, dict[tuple[str, str], list[str]]]:
    """Vendor to (source name, target instructions) to architectures, in the catalogue's order."""
    found: dict[str, dict[tuple[str, str], list[str]]] = {"NVIDIA": {}, "AMD": {}}
    for entry in golden.instructions() + golden.sparse_instructions():
        if not is_nvidia(entry) and not amd.has_kernel(entry):
            continue  # a processor's own instruction, or one that no kernel of a GPU runs
        if is_nvidia(entry):
            vendor, source, target = "NVIDIA", _any_n(entry, kernel_of(entry).ptx), _any_n(entry, _sass(expected(entry)))
        else:
            kernel = amd.kernel_of(entry)
            vendor, source, target = "AMD", kernel.builtin, kernel.mnemonic
        archs = found[vendor].setdefault((f"`{source}`", target), [])
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
    """The text of the page."""
    found, parts = rows(), [HEAD.rstrip()]
    for vendor, (source, target) in {"NVIDIA": ("PTX", "SASS"), "AMD": ("clang builtin, or assembly", "ISA")}.items():
        lines = [(*names, ", ".join(archs)) for names, archs in found[vendor].items()]
        parts += [f"## {vendor}", markdown.table((source, target, "architectures"), lines)]
    return markdown.document("What each instruction becomes", *parts)


if __name__ == "__main__":
    write_atomically(sys.argv[1], document().encode())
