"""Pieces of CUDA source that the templates share: tables as arrays, register lists, packing of codes into registers."""

from golden.arithmetic.formats import E2M1, Format, IntegerFormat
from hwtests.nvidia.fragments import Table

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
