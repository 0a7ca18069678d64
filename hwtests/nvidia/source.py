"""A generated kernel, the pieces of CUDA source that the templates share, and the fragments of every `mma.sync`: which
element of A, B, C or D each lane of a warp holds in which register slot.

Every kernel computes whole tiles, D = A·B + C each, from arrays of bit patterns with the storage widths of `golden.Format`
(FP6 and FP4 one code a byte):

    a [tiles, m, k], b [tiles, n, k], c [tiles, m, n], scale_a [tiles, m, k/K_block], scale_b [tiles, n, k/K_block]
    → d [tiles, m, n]

B is stored by columns, so that row i of `a` and row j of `b` are the operands of D[i, j].

The pieces are tables as arrays, register lists, and the packing of codes into registers. The layouts are written down here
and nowhere else; the kernels index memory by the tables made here. A table has shape [32 lanes, slots] and holds offsets
into the group of tiles that one warp computes at once: A as [tiles, m, k], B as [tiles, n, k] (a column of B is contiguous),
C and D as [tiles, m, n]. Slots are in register order, the lowest bits of a register first. Source: PTX ISA 9.0, section
9.7.14.5 (matrix fragments for mma).

In all shapes except Volta's m8n8k4 the lanes form eight quads: `quad = lane / 4`, `place = lane % 4`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import E2M1, Format, IntegerFormat

ENTRY = "run_tiles"
"""Name of the entry point in every source: run_tiles(a, b, c[, scale_a, scale_b], d, tiles[, …])."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A CUDA kernel for one instruction.

    Attributes:
        arch: the catalogue's architecture.
        target: the compiler's target, such as sm_90a.
        name: the catalogue's name of the instruction.
        ptx: the PTX instruction in the source.
        source: CUDA C++, self-contained.
        threads: threads of a block.
        tiles_per_block: tiles that a block computes at once; a launch takes a multiple of it.
        arguments: 32-bit values that follow the entry point's `tiles`.
        route: the operand route (such as `A from registers`) of an instruction that has several; else empty.
    """

    arch: str
    target: str
    name: str
    ptx: str
    source: str
    threads: int
    tiles_per_block: int
    arguments: tuple[int, ...] = ()
    route: str = ""

    def __post_init__(self) -> None:
        if self.threads < 1 or self.tiles_per_block < 1:
            raise ValueError(f"{self.name}: threads and tiles_per_block must be positive")


def target_of(arch: str) -> str:
    """The compiler's target: from Hopper on the architecture-specific one, without which there is no wgmma, tcgen05 or
    block scaling."""
    return f"{arch}a" if arch in ("sm_90", "sm_100", "sm_120") else arch


def storage_type(operand: Format) -> str:
    """The C++ type that carries one code in memory."""
    return {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}[operand.storage_bits]


LANES = 32
QUAD = 4

Table = npt.NDArray[np.int64]
"""A layout: offsets [32 lanes, slots]."""


@dataclass(frozen=True)
class Fragments:
    """The layouts of one instruction, and the number of tiles that a warp computes at once."""

    a: Table
    b: Table
    c: Table
    tiles: int = 1


def _lanes() -> tuple[Table, Table]:
    """quad and place of every lane, as columns."""
    lane = np.arange(LANES)[:, None]
    return lane // QUAD, lane % QUAD


def rows_of_a(m: int, k: int, per_register: int) -> Table:
    """The layout of A (row-major) for every shape except m8n8k4 fp16.

    A register holds `per_register` neighbours along k, so a quad covers 4·per_register columns. Registers alternate between
    the upper and the lower eight rows, then move on along k.
    """
    quad, place = _lanes()
    slot = np.arange(m * k // LANES)
    register, within = slot // per_register, slot % per_register
    halves = m // 8
    row = quad + 8 * (register % halves)
    column = place * per_register + within + (register // halves) * QUAD * per_register
    return row * k + column


def columns_of_b(n: int, k: int, per_register: int) -> Table:
    """The layout of B (column-major) for n = 8: that of A with one half, and with columns in place of rows."""
    return rows_of_a(n, k, per_register)


def accumulators(m: int, n: int) -> Table:
    """The layout of C and D: two neighbours along n, then the lower eight rows, then (wgmma) the next eight columns."""
    quad, place = _lanes()
    slot = np.arange(m * n // LANES)
    halves = m // 8
    pair = slot // 2
    row = quad + 8 * (pair % halves)
    column = 2 * place + slot % 2 + 8 * (pair // halves)
    return row * n + column


def quad_pairs(c_is_fp32: bool) -> tuple[Table, Table, Table]:
    """The layouts of A, B and C of m8n8k4 fp16: a warp computes four tiles, each by a quad and the quad sixteen lanes above
    it."""
    lane = np.arange(LANES)[:, None]
    tile, upper, place = lane % 16 // QUAD, lane // 16, lane % QUAD
    along_k = np.arange(4)
    a = tile * 32 + (place + 4 * upper) * 4 + along_k
    slot = np.arange(8)
    if c_is_fp32:
        row = lane % 2 + (slot & 2) + 4 * upper
        column = (slot & 4) + (lane & 2) + slot % 2
    else:
        row = place + 4 * upper
        column = slot
    return a, a, tile * 64 + row * 8 + column


def mma_fragments(m: int, n: int, k: int, element_bits: int, b_k: int | None = None) -> Fragments:
    """The layouts of every `mma.sync` shape except m8n8k4 fp16, whose C and D lie differently by type, and of `mma.sp`.

    Args:
        element_bits: width of an element of A and B inside its register: 64, 32, 16, 8 or 4.
        b_k: number of elements of a column of B, if it is not k, because A is sparse.
    """
    per_register = max(1, 32 // element_bits)
    return Fragments(rows_of_a(m, k, per_register), columns_of_b(n, b_k or k, per_register), accumulators(m, n))


def scale_rows_of_a() -> Table:
    """scale_A of block-scaled `mma.sync` with selectors {0, 0}: which row of A's scales a lane supplies, −1 for none.

    The two first lanes of a quad supply rows quad and quad + 8; all scales of a row lie in one register, k ascending.
    """
    quad, place = _lanes()
    return np.where(place < 2, quad + 8 * place, -1)


def scale_columns_of_b() -> Table:
    """scale_B with selectors {0, 0}: which column of B's scales a lane supplies, −1 for none."""
    quad, place = _lanes()
    return np.where(place == 0, quad, -1)


FP4_IN_A_BYTE_SHIFT = 2
"""An e2m1 code in an 8-bit container of kind::f8f6f4 and mxf8f6f4 lies in bits 2 to 5; FP6 codes lie in bits 0 to 5
(PTX ISA 9.0, section 9.7.14.5.1)."""

GATHER = """\
template <int REGISTERS, int ELEMENT_BITS, int SHIFT, class Word, class Code, class Place>
__device__ void gather(Word (&registers)[REGISTERS], const Code* tile, const Place* place) {
    constexpr int PER_REGISTER = sizeof(Word) * 8 / ELEMENT_BITS;
    #pragma unroll
    for (int r = 0; r < REGISTERS; ++r) {
        registers[r] = 0;
        #pragma unroll
        for (int e = 0; e < PER_REGISTER; ++e)
            registers[r] |= (Word)tile[place[r * PER_REGISTER + e]] << (e * ELEMENT_BITS + SHIFT);
    }
}

template <int REGISTERS, class Word, class Code, class Place>
__device__ void scatter(Code* tile, const Word (&registers)[REGISTERS], const Place* place) {
    constexpr int PER_REGISTER = sizeof(Word) / sizeof(Code);
    #pragma unroll
    for (int r = 0; r < REGISTERS; ++r)
        #pragma unroll
        for (int e = 0; e < PER_REGISTER; ++e)
            tile[place[r * PER_REGISTER + e]] = (Code)(registers[r] >> (e * (int)sizeof(Code) * 8));
}
"""
"""CUDA functions that move codes of a tile into registers and back, by a layout."""


def table(name: str, offsets: Table) -> str:
    """Source text of a layout as a device array [lanes][slots]."""
    lanes, slots = offsets.shape
    kind = "short" if offsets.max(initial=0) < 1 << 15 else "int"
    rows = ",".join("{" + ",".join(map(str, row)) + "}" for row in offsets.tolist())
    return f"__device__ const {kind} {name}[{lanes}][{slots}] = {{{rows}}};"


def operand_list(start: int, count: int) -> str:
    """Operands of an inline PTX statement, such as `{%4, %5, %6}`."""
    return "{" + ", ".join(f"%{i}" for i in range(start, start + count)) + "}"


def constraints(kind: str, array: str, count: int) -> str:
    """Constraints of an inline PTX statement, such as `"r"(x[0]), "r"(x[1])`."""
    return ", ".join(f'"{kind}"({array}[{i}])' for i in range(count))


def container_bits(operand: Format, packed_fp4: bool) -> int:
    """Bits that one element takes inside a register of `mma.sync`; integers are packed without padding.

    Args:
        packed_fp4: whether e2m1 is packed without padding (kind::mxf4, kind::mxf4nvf4).
    """
    if isinstance(operand, IntegerFormat):
        return operand.width
    return 4 if packed_fp4 and operand == E2M1 else operand.storage_bits


def code_shift(operand: Format, packed_fp4: bool) -> int:
    """Distance of a code's lowest bit above the lowest bit of its container (bits)."""
    return FP4_IN_A_BYTE_SHIFT if operand == E2M1 and not packed_fp4 else 0


def register_bits(element_bits: int) -> int:
    """Width of the registers that hold elements of a width (bits)."""
    return max(32, element_bits)


def registers(offsets: Table, element_bits: int) -> int:
    """Number of registers of one lane for the slots of a layout."""
    return int(offsets.shape[1]) * element_bits // register_bits(element_bits)
