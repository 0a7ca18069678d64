"""Matrices in shared memory as `wgmma` and `tcgen05.mma` read them: core matrices without swizzling, and descriptors.

A row of A (a column of B) is K elements = 32 bytes in every dense shape, two chunks of 16 bytes; where A is sparse, a column
of B is four chunks. Eight rows of one chunk are a core matrix of 128 contiguous bytes; the core matrices of eight rows
follow each other, then the next eight rows. Inside a chunk elements are packed without gaps from bit 0; what 16 FP6 or FP4
codes leave of a chunk is padding (kind::f8f6f4, mxf8f6f4). Sources: PTX ISA 9.0, sections 9.7.15.5.1 (wgmma), 9.7.16.4.1 and
9.7.16.10.4 (tcgen05).
"""

from dataclasses import dataclass

from golden.arithmetic.formats import Format

CHUNK_BYTES = 16
CHUNKS_PER_ROW = 2
ROW_BYTES = CHUNKS_PER_ROW * CHUNK_BYTES
CORE_ROWS = 8

NEXT_CHUNK_BYTES = CORE_ROWS * CHUNK_BYTES
"""Leading-dimension byte offset: distance from a core matrix to the next along K."""

CHUNK_OFFSET = (
    f"row / {CORE_ROWS} * CHUNKS * {NEXT_CHUNK_BYTES} + chunk * {NEXT_CHUNK_BYTES} + row % {CORE_ROWS} * {CHUNK_BYTES}"
)
"""CUDA expression for the byte offset of a chunk, in a row of CHUNKS chunks."""


@dataclass(frozen=True)
class Packing:
    """How codes lie in a chunk: the number of codes, and the bits of each."""

    elements: int
    element_bits: int


def packing_of(operand: Format, k: int) -> Packing:
    """The packing of a matrix whose rows have k elements of a format."""
    elements = k // CHUNKS_PER_ROW
    return Packing(elements, min(operand.width, operand.storage_bits))


PACK = f"""\
template <int ELEMENTS, int ELEMENT_BITS, int CHUNKS = {CHUNKS_PER_ROW}, class Code>
__device__ void pack_rows(unsigned char* shared, const Code* matrix, int rows) {{
    for (int i = threadIdx.x; i < rows * CHUNKS; i += blockDim.x) {{
        const int row = i / CHUNKS, chunk = i % CHUNKS;
        unsigned long long halves[2] = {{0, 0}};
        #pragma unroll
        for (int e = 0; e < ELEMENTS; ++e) {{
            const int bit = e * ELEMENT_BITS, above = bit % 64 + ELEMENT_BITS - 64;
            const unsigned long long code = matrix[i * ELEMENTS + e];
            halves[bit / 64] |= code << (bit % 64);
            if (above > 0) halves[1] |= code >> (ELEMENT_BITS - above);
        }}
        *(ulonglong2*)(shared + {CHUNK_OFFSET}) = make_ulonglong2(halves[0], halves[1]);
    }}
}}
"""
"""CUDA function that packs `rows` rows of codes, row-major in memory, into shared memory."""

SHARED_ADDRESS = """\
__device__ unsigned int shared_address(const void* pointer) {
    return (unsigned int)__cvta_generic_to_shared(pointer);
}
"""


def descriptor_source(constant_bits: int) -> str:
    """CUDA function that makes the 64-bit descriptor of a matrix at a shared-memory address.

    Args:
        constant_bits: the other bits that the architecture needs set: 0 on sm_90, bit 46 on sm_100.
    """
    fixed = (NEXT_CHUNK_BYTES >> 4) << 16 | constant_bits
    return f"""\
__device__ unsigned long long descriptor(unsigned int address, unsigned long long chunks = {CHUNKS_PER_ROW}) {{
    return {fixed:#x}ull | (chunks * {NEXT_CHUNK_BYTES} >> 4) << 32 | (address & 0x3ffff) >> 4;
}}
"""
