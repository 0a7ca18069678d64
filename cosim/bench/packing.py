"""Packing of codes for the simulator: one integer for each port, element k in bits [k·w, (k+1)·w)."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class Sized(Protocol):
    """Anything with a width: a `golden.Format`, or `Bits`."""

    @property
    def width(self) -> int:
        """Bits of a code."""


def packed(codes: npt.NDArray[Any], operand: Sized) -> list[int]:
    """Pack codes [rows, elements]: one integer for each row."""
    rows, elements = codes.shape
    little_endian = np.ascontiguousarray(codes, codes.dtype.newbyteorder("<"))
    bits = np.unpackbits(little_endian.view(np.uint8).reshape(rows, elements, -1), axis=2, bitorder="little")
    lanes = np.packbits(bits[:, :, : operand.width].reshape(rows, -1), axis=1, bitorder="little")
    content, size = lanes.tobytes(), lanes.shape[1]
    return [int.from_bytes(content[at : at + size], "little") for at in range(0, len(content), size)]
