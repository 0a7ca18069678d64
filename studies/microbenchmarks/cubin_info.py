"""The resources of a cubin's kernel: registers of a thread, and the number of warps that fit a block.

A cubin is an ELF file. Its section `.nv.info` is a list of attributes: format and number in a byte each, then 16 bits, which
are the size of what follows where the format is 4. Attribute 0x2f, REGCOUNT, holds a symbol and its registers, 32 bits each
(as `nvdisasm` prints them).
"""

import struct
from collections.abc import Iterator

REGISTERS_PER_SM = 65536
"""32-bit registers of an SM, which one block may take, from sm_70 to sm_120 (CUDA programming guide)."""

_GRANULE = 256
"""Registers are allocated to a warp in units of this many."""

_SIZED, _REGCOUNT = 4, 0x2F


def registers(cubin: bytes) -> int:
    """Registers of a thread, the most of any kernel in the cubin.

    Raises:
        ValueError: the file does not say.
    """
    counts = [
        int(struct.unpack_from("<II", value)[1])
        for section in _info_sections(cubin)
        for attribute, value in _attributes(section)
        if attribute == _REGCOUNT
    ]
    if not counts:
        raise ValueError("the cubin does not say how many registers its kernel takes")
    return max(counts)


def largest_block(cubin: bytes) -> int:
    """Largest number of warps of a block of the kernel that its registers allow."""
    of_a_warp = -(-registers(cubin) * 32 // _GRANULE) * _GRANULE
    return REGISTERS_PER_SM // of_a_warp


def _info_sections(cubin: bytes) -> Iterator[bytes]:
    if not cubin.startswith(b"\x7fELF\x02"):
        raise ValueError("a cubin must be a 64-bit ELF file")
    (start,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + size * index) for index in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        if cubin[at : cubin.index(b"\0", at)] == b".nv.info":
            yield cubin[header[4] : header[4] + header[5]]


def _attributes(section: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(section):
        kind, attribute, size = struct.unpack_from("<BBH", section, at)
        length = size if kind == _SIZED else 0
        yield attribute, section[at + 4 : at + 4 + length]
        at += 4 + length
