"""Sparse `mma.sp` and `wgmma.sp`, not in the catalogue yet, for nobody has measured what they compute; and 8-bit `mma.sync`,
of which a study records whole tiles.

In a sparse instruction A is stored with half of its K: of every group along K only the elements that the metadata selects.
Every metadata register holds the same selection for every group here, so that nothing depends on which lane's register
describes which group. Source: PTX ISA 9.1, section 9.7.14.6 (mma.sp), 9.7.14.5.8 (integer fragments).
"""

from dataclasses import dataclass
from string import Template
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from golden.formats import FORMATS
from golden.names import NVIDIA_TYPES
from hwtests.nvidia.fragments import accumulators, columns_of_b, rows_of_a
from hwtests.nvidia.kernel import ENTRY, Kernel, target_of
from hwtests.nvidia.source import GATHER, constraints, operand_list, table
from hwtests.nvidia.wgmma import Warpgroup, warpgroup_kernel

THREADS = 128

T = TypeVar("T", bound=np.integer[Any])

PAIRS_OF_FOUR: dict[int, tuple[int, int]] = {
    0x4: (0, 1), 0x8: (0, 2), 0xC: (0, 3), 0x9: (1, 2), 0xD: (1, 3), 0xE: (2, 3),
}  # fmt: skip
"""Selections of two elements in four: metadata nibble to positions (16-bit and 8-bit types)."""

ONE_OF_TWO: dict[int, tuple[int, ...]] = {0x4: (0,), 0xE: (1,)}
"""Selections of one element in two (tf32)."""


@dataclass(frozen=True, kw_only=True)
class MatrixInstruction:
    """An instruction outside the catalogue.

    Attributes:
        arch: where it is to be run. shape: m, n and k as PTX counts them (k before the selection).
        types: PTX types of D, A, B and C, of a `wgmma` of D, A and B. sparse: whether half of A is selected by metadata.
        saturate: `.satfinite`.
    """

    arch: str
    shape: tuple[int, int, int]
    types: tuple[str, ...]
    sparse: bool = False
    saturate: bool = False

    @property
    def family(self) -> str:
        """`mma` or `wgmma`."""
        return "wgmma" if self.shape[0] == 64 else "mma"

    @property
    def name(self) -> str:
        """As names are built in the catalogue: `mma.sp.m16n8k32.f32.f16.f16.f32`."""
        m, n, k = self.shape
        flags = (".sp" if self.sparse else "") + (".satfinite" if self.saturate else "")
        return f"{self.family}{flags}.m{m}n{n}k{k}.{'.'.join(self.types)}"

    @property
    def element_bits(self) -> int:
        """Width of an element of A and B (bits)."""
        return {"tf32": 32, "f16": 16, "bf16": 16}.get(self.types[1], 8)

    @property
    def stored_k(self) -> int:
        """Elements of a row of A that are stored."""
        return self.shape[2] // (2 if self.sparse else 1)

    @property
    def selections(self) -> dict[int, tuple[int, ...]]:
        """Metadata nibble to the positions it selects in a group; empty where dense."""
        if not self.sparse:
            return {}
        return dict(ONE_OF_TWO if self.types[1] == "tf32" else PAIRS_OF_FOUR)

    @property
    def ptx(self) -> str:
        """The PTX spelling."""
        m, n, k = self.shape
        if self.family == "wgmma":
            return f"wgmma.mma_async.sp.sync.aligned.m{m}n{n}k{k}.{'.'.join(self.types)}"
        sparse = ".sp::ordered_metadata" if self.sparse else ""
        saturate = ".satfinite" if self.saturate else ""
        return f"mma{sparse}.sync.aligned.m{m}n{n}k{k}.row.col{saturate}.{'.'.join(self.types)}"


_FP8 = ("e4m3", "e5m2")

SPARSE = [
    MatrixInstruction(arch="sm_90", shape=(16, 8, k), types=(d, t, t, d), sparse=True)
    for t, ks in {"f16": (16, 32), "bf16": (16, 32), "tf32": (8, 16)}.items()
    for k in ks
    for d in (("f32", "f16") if t == "f16" else ("f32",))
]
"""On sm_90: mma.sp of 16-bit types and tf32."""

SPARSE_FP8 = [
    MatrixInstruction(arch=arch, shape=(16, 8, 64), types=("f32", a, b, "f32"), sparse=True)
    for arch in ("sm_89", "sm_90")
    for a in _FP8
    for b in _FP8
]
"""On sm_89, which has FP8 behind `mma`, and on sm_90, which has not: there it becomes two HMMA.SP."""

SPARSE_WGMMA = [
    MatrixInstruction(arch="sm_90", shape=(64, 8, 64 * 8 // bits), types=types, sparse=True)
    for bits, types in [
        (16, ("f32", "f16", "f16")), (16, ("f16", "f16", "f16")), (16, ("f32", "bf16", "bf16")),
        (32, ("f32", "tf32", "tf32")),
        *((8, (d, a, b)) for d in ("f32", "f16") for a in _FP8 for b in _FP8),
    ]
]  # fmt: skip
"""On sm_90: wgmma.sp of every type at the smallest N; a column of B is 64 bytes."""

INTEGER = [
    MatrixInstruction(arch="sm_90", shape=shape, types=("s32", a, b, "s32"), saturate=saturate)
    for shape in ((8, 8, 16), (16, 8, 16), (16, 8, 32))
    for a, b in (("s8", "s8"), ("u8", "u8"), ("s8", "u8"))
    for saturate in (False, True)
]
"""On sm_90: 8-bit integers, wrapping and saturating."""

_SOURCE = Template("""\
$tables
typedef unsigned int Register;

$gather
extern "C" __global__ void $entry(const $code* a, const $code* b, const $result* c, $metadata_parameter$result* d,
                                     unsigned int tiles) {
    const int lane = threadIdx.x % 32;
    const unsigned int warps = gridDim.x * blockDim.x / 32;
    for (unsigned int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32; group < tiles; group += warps) {
        const unsigned long long tile = group;
        Register a_reg[$a_count], b_reg[$b_count], c_reg[$c_count], d_reg[$c_count];
        gather<$a_count, $bits, 0>(a_reg, a + tile * $m * $stored_k, A_PLACE[lane]);
        gather<$b_count, $bits, 0>(b_reg, b + tile * $n * $k, B_PLACE[lane]);
        gather<$c_count, $c_bits, 0>(c_reg, c + tile * $m * $n, C_PLACE[lane]);
        asm volatile("$ptx $operands;"
                     : $outputs
                     : $inputs);
        scatter(d + tile * $m * $n, d_reg, C_PLACE[lane]);
    }
}
""")


def by_name(arch: str, name: str) -> MatrixInstruction:
    """The instruction of a name.

    Raises:
        ValueError: no such instruction.
    """
    for instruction in SPARSE + SPARSE_FP8 + SPARSE_WGMMA + INTEGER:
        if (instruction.arch, instruction.name) == (arch, name):
            return instruction
    raise ValueError(f"{arch} has no instruction outside the catalogue called {name!r}")


def kernel_of_instruction(instruction: MatrixInstruction) -> Kernel:
    """The kernel: run_tiles(a, b, c[, metadata], d, tiles), metadata one 32-bit word a tile for all lanes."""
    i, (m, n, k) = instruction, instruction.shape
    if i.family == "wgmma":
        d, a_format, b_format = (FORMATS[NVIDIA_TYPES.get(word, word)] for word in i.types)
        shape = Warpgroup(ptx=i.ptx, n=n, k=i.stored_k, b_k=k, a=a_format, b=b_format, d=d)
        return warpgroup_kernel(i.arch, i.name, shape)
    bits, c_bits = i.element_bits, 16 if i.types[0] == "f16" else 32
    places = {
        "A_PLACE": rows_of_a(m, i.stored_k, 32 // bits),
        "B_PLACE": columns_of_b(n, k, 32 // bits),
        "C_PLACE": accumulators(m, n),
    }
    a, b, c = (place.shape[1] * width // 32 for place, width in zip(places.values(), (bits, bits, c_bits), strict=True))
    operands = ", ".join([operand_list(0, c), operand_list(c, a), operand_list(c + a, b), operand_list(c + a + b, c)])
    inputs = ", ".join([constraints("r", "a_reg", a), constraints("r", "b_reg", b), constraints("r", "c_reg", c)])
    if i.sparse:
        operands += f", %{2 * c + a + b}, 0x0"
        inputs += ', "r"(metadata[tile])'
    source = _SOURCE.substitute(
        tables="\n".join(table(name, place) for name, place in places.items()), gather=GATHER, entry=ENTRY, ptx=i.ptx,
        code={8: "unsigned char", 16: "unsigned short", 32: "unsigned int"}[bits],
        result="unsigned short" if c_bits == 16 else "unsigned int",
        metadata_parameter="const unsigned int* metadata, " if i.sparse else "",
        a_count=a, b_count=b, c_count=c, bits=bits, c_bits=c_bits, m=m, n=n, k=k, stored_k=i.stored_k,
        operands=operands, outputs=constraints("=r", "d_reg", c), inputs=inputs,
    )  # fmt: skip
    return Kernel(
        arch=i.arch, target=target_of(i.arch), name=i.name, ptx=i.ptx, source=source, threads=THREADS,
        tiles_per_block=THREADS // 32,
    )  # fmt: skip


def metadata_word(nibble: Any) -> Any:
    """The 32-bit register that holds one selection eight times; of an integer or of a uint32 array."""
    return nibble * 0x1111_1111


def selected(b: npt.NDArray[T], positions: tuple[int, ...]) -> npt.NDArray[T]:
    """The elements of B that a selection pairs with the stored elements of A: [..., k] → [..., k/2].

    Args:
        positions: of a group of four (two of them) or of two (one).
    """
    group = 2 * len(positions)
    grouped = b.reshape(*b.shape[:-1], -1, group)
    return grouped[..., list(positions)].reshape(*b.shape[:-1], -1)


def integer_dot(
    instruction: MatrixInstruction, a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8], c: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    """The result of an exact 8-bit integer instruction: c + Σ a_k·b_k, wrapped modulo 2^32 or saturated to 32 bits.

    Args:
        a, b: bytes [..., k]. c: 32-bit words [...].
    """
    signed = [
        array.view(np.int8) if kind == "s8" else array for array, kind in zip((a, b), instruction.types[1:3], strict=True)
    ]
    total = (signed[0].astype(np.int64) * signed[1].astype(np.int64)).sum(axis=-1) + c.view(np.int32)
    if instruction.saturate:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    wrapped: npt.NDArray[np.uint32] = (total & 0xFFFF_FFFF).astype(np.uint32)
    return wrapped
