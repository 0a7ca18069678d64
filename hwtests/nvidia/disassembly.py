"""The contents of a cubin: its SASS, by `nvdisasm`, and its tensor-core instructions; and the instructions that each PTX
instruction is expected to become."""

import hashlib
import json
import re
import shutil
import struct
import subprocess
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from golden import Instruction
from golden.arithmetic.formats import B1, FP64, UE8M0, IntegerFormat
from golden.cache import File
from golden.files import temporary_folder
from golden.native.cuda import cached
from golden.processes import run_tool
from hwtests.nvidia.tcgen05 import kind_of

_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;?\s*$", re.M)
DISASSEMBLY_SECONDS = 120.0

SASS = "sass.json"
"""Name of the file with a cubin's disassembly, in the cache entry named by the SHA-256 of the cubin."""

_FLAGS_OFFSET = 48
"""Offset of e_flags in a 64-bit ELF header; its low byte and its third byte hold the architecture."""


def nvdisasm() -> Path:
    """Path of the disassembler, from the wheel `nvidia-cuda-nvdisasm` or from an installed toolkit.

    Raises:
        FileNotFoundError: it is not installed.
    """
    spec = find_spec("nvidia")
    for place in () if spec is None else spec.submodule_search_locations or ():
        program = Path(place) / "cu13/bin/nvdisasm"
        if program.exists():
            return program
    found = shutil.which("nvdisasm")
    if found is None:
        raise FileNotFoundError("nvdisasm was not found; install it with: pip install nvidia-cuda-nvdisasm")
    return Path(found)


def sass(cubin: bytes) -> list[tuple[str, str]]:
    """The SASS of a cubin, one entry for each instruction: mnemonic, operands.

    Raises:
        FileNotFoundError: nvdisasm is not installed.
        ValueError: nvdisasm cannot read the cubin, or not within DISASSEMBLY_SECONDS.
    """
    with temporary_folder("mmau-cuda-") as temporary:
        path = Path(temporary) / "kernel.cubin"
        path.write_bytes(_readable(cubin))
        try:
            result = run_tool([nvdisasm(), "-c", path], timeout=DISASSEMBLY_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"nvdisasm does not read the cubin within {DISASSEMBLY_SECONDS:g} s") from error
    if result.returncode:
        raise ValueError(f"nvdisasm does not read the cubin: {result.stderr.strip()}")
    return [(match[1], match[2]) for match in _INSTRUCTION.finditer(result.stdout)]


def _readable(cubin: bytes) -> bytes:
    """A cubin that nvdisasm 13 can read. It refuses Volta's cubins but reads Turing's, whose instructions are encoded alike,
    so a cubin of Volta is relabelled."""
    (flags,) = struct.unpack_from("<I", cubin, _FLAGS_OFFSET)
    if flags & 0xFF != 70:
        return cubin
    relabelled = bytearray(cubin)
    struct.pack_into("<I", relabelled, _FLAGS_OFFSET, flags & ~0xFF00FF | 75 << 16 | 75)
    return bytes(relabelled)


def matrix_instructions(cubin: bytes) -> Counter[str]:
    """Mnemonics of the tensor-core instructions of a cubin, and how often each occurs."""
    return Counter(mnemonic for mnemonic, _ in sass(cubin) if "MMA" in mnemonic)


def cached_machine_code(cubin: bytes) -> dict[str, int]:
    """The tensor-core instructions of a cubin, with their counts, from the cache of cubins; a missing entry is added. So a
    machine without a disassembler reads the disassembly that comes with its cubins.

    Raises:
        FileNotFoundError: no cached disassembly, and no nvdisasm.
        ValueError: nvdisasm cannot read the cubin.
    """
    cubins, key = cached(), hashlib.sha256(cubin).hexdigest()
    entry = None if cubins is None else cubins.read(key)
    if entry is not None:
        return {str(mnemonic): int(count) for mnemonic, count in json.loads(entry[SASS].content).items()}
    found = dict(matrix_instructions(cubin))
    if cubins is not None:
        cubins.write(key, {SASS: File(json.dumps(found).encode())})
    return found


def known_machine_code(cubin: bytes) -> dict[str, int]:
    """The tensor-core instructions of a cubin, with their counts; empty if they cannot be found out, because a kernel's
    results count without them."""
    try:
        return cached_machine_code(cubin)
    except (OSError, ValueError):
        return {}


_TYPE_WORDS = {"fp16": "", "bf16": ".BF16", "tf32": ".TF32"}
_RESULT_WORDS = {"fp32": "F32", "fp16": "F16"}


def expected(instruction: Instruction) -> dict[str, int]:
    """The tensor-core instructions that the PTX instruction must become: mnemonic to count.

    FP8 `mma.sync` on sm_90 and sm_100 is expected to become two HMMA: those parts have no FP8 datapath behind it.
    """
    family = instruction.name.split(".")[0]
    return {"mma": _expected_mma, "wgmma": _expected_wgmma, "tcgen05": _expected_tcgen05}[family](instruction)


def _expected_mma(i: Instruction) -> dict[str, int]:
    shape, mma = f"{i.m}{i.n}{i.b_k}", f"MMA{'.SP' if i.sparse else ''}"
    if i.a == FP64:
        return {f"DMMA.{shape}" if i.arch in ("sm_80", "sm_89") else f"DMMA.{i.m}x{i.n}x{i.k}": 1}
    if isinstance(i.a, IntegerFormat):
        return _expected_imma(i)
    d = _RESULT_WORDS[i.d.name]
    if shape == "884":
        steps = 4 if d == "F32" else 2
        return {f"HMMA.884.{d}.{_RESULT_WORDS[i.c.name]}.STEP{step}": 1 for step in range(steps)}
    if i.fp16_order is not None:
        return {f"H{mma}.{i.m}{i.n}{i.b_k // 2}.{d}": 2}
    if i.a.name in _TYPE_WORDS:
        return {f"H{mma}.{shape}.{d}{_TYPE_WORDS[i.a.name]}": 1}
    types = f"{d}.{i.a.name.upper()}.{i.b.name.upper()}"
    if i.scale is None:
        return {f"QMMA.{shape}.{types}": 1}
    scale = "E8" if i.scale == UE8M0 else "UE4M3"
    scales = ".4X" if i.k // (i.block_size or i.k) == 4 else ""
    return {f"{'OMMA' if i.k == 64 else 'QMMA'}.SF.{shape}.{types}.{scale}{scales}": 1}


def _expected_imma(i: Instruction) -> dict[str, int]:
    """The IMMA that an instruction must become, or BMMA for single bits.

    Hopper and Blackwell have no 4-bit factors: the compiler makes two IMMA of 8 bits that start from zero, adds c and limits
    the sum itself. Hopper has no xor: two BMMA count x without y and y without x. Blackwell has neither single bits, for
    which the compiler makes IMMA of 8 bits, nor an IMMA of eight rows.
    """
    hopper, blackwell = i.arch == "sm_90", i.arch in ("sm_100", "sm_120")
    shape, types = f"{16 if blackwell else i.m}{i.n}", _integer_words(i)
    if i.a == B1 and blackwell:
        return {f"IMMA.{shape}32.U8.U8": i.k // 32}
    if i.a == B1:
        xor = ".xor." in i.name
        return {f"BMMA.{shape}{i.k}.{'XOR' if xor and not hopper else 'AND'}.POPC": 2 if xor and hopper else 1}
    if i.a.width == 4 and (hopper or blackwell):
        return {f"IMMA.{shape}{i.k // 2}.{types.replace('4', '8')}": 2}
    return {f"IMMA{'.SP' if i.sparse else ''}.{shape}{i.b_k}.{types}{_saturated(i)}": 1}


def _integer_words(i: Instruction) -> str:
    """The types in an integer mnemonic, such as `S8.U8` for int8 and uint8."""
    return ".".join(f"{'S' if operand.signed else 'U'}{operand.width}" for operand in (i.a, i.b))


def _saturated(i: Instruction) -> str:
    return ".SAT" if ".satfinite." in i.name else ""


def _expected_wgmma(i: Instruction) -> dict[str, int]:
    shape = f"{'SP.' if i.sparse else ''}{i.m}x{i.n}x{i.b_k}"
    if i.a == B1:
        return {f"BGMMA.{shape}.AND.POPC": 1}
    if isinstance(i.a, IntegerFormat):
        return {f"IGMMA.{shape}.{_integer_words(i)}{_saturated(i)}": 1}
    d = _RESULT_WORDS[i.d.name]
    if i.a.name in _TYPE_WORDS:
        return {f"HGMMA.{shape}.{d}{_TYPE_WORDS[i.a.name]}": 1}
    return {f"QGMMA.{shape}.{d}.{i.a.name.upper()}.{i.b.name.upper()}": 1}


def _expected_tcgen05(i: Instruction) -> dict[str, int]:
    """The instruction that a `tcgen05.mma` must become; types and N are in the instruction descriptor, not in the
    mnemonic."""
    kind = kind_of(i)
    if kind in ("tf32", "f16"):
        return {"UTCHMMA": 1}
    if kind in ("f8f6f4", "mxf8f6f4"):
        return {"UTCQMMA": 1}
    return {"UTCOMMA" + (".4X" if i.block_size == 16 else ""): 1}
