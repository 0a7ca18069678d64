"""tinygrad's Python device with the matrix instructions of a named part: within `on` a warp's tile is golden's.

The device is `DEV=PYTHON::sm_80`. tinygrad does not tell its helper which dtype a tile has: the caller names the formats,
and a number that they do not hold is refused. Half precision on that device needs Python 3.12.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import Format
from golden.arrays import float_dtype
from mmau.frameworks.core import multiply

try:
    from tinygrad.runtime import ops_python
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "tinygrad":
        raise
    message = "tinygrad_wmma needs tinygrad, which is not installed: pip install 'mmau[tinygrad]'"
    raise ModuleNotFoundError(message, name="tinygrad") from error


@contextmanager
def on(arch: str, a: str, b: str | None = None, d: str = "fp32") -> Iterator[None]:
    """Context manager: tinygrad's Python device computes tiles as an architecture does.

    Args:
        arch: an architecture of the catalogue, the one of DEV. a, b: formats of the operands; b is a's if None.
        d: format of C and D.
    """
    tile = _Tile(arch, a, a if b is None else b, d)
    replaced = ops_python.generic_wmma_helper
    ops_python.generic_wmma_helper = tile
    try:
        yield
    finally:
        ops_python.generic_wmma_helper = replaced


class _Tile:
    """The function in the place of `generic_wmma_helper`."""

    def __init__(self, arch: str, a: str, b: str, d: str) -> None:
        self.arch, self.formats = arch, (a, b, d)
        golden.instructions(arch)
        if "fp16" in self.formats and sys.version_info < (3, 12):
            raise ValueError(
                f"fp16 on tinygrad's Python device needs Python 3.12, whose memoryview reads it; this is "
                f"{sys.version_info.major}.{sys.version_info.minor}"
            )

    def __call__(
        self, inp: Any, warp_size: int, threads: int, K: int, num_a: int, num_b: int, num_c: int,
        a_elem: Callable[..., float], b_elem: Callable[..., float], c_map: Callable[[int, int], tuple[int, int]],
    ) -> list[list[float]]:  # fmt: skip
        """D in the registers of a warp, as lists for each element of each lane."""
        instruction = self._instruction(K)
        places = [[c_map(lane, element) for lane in range(threads)] for element in range(num_c)]
        N, M = (1 + max(place[side] for row in places for place in row) for side in (0, 1))
        out = [list(inp[2][element]) for element in range(num_c)]
        for first in range(0, warp_size, threads):
            A = [[a_elem(inp[0], k, row, first) for k in range(K)] for row in range(M)]
            B = [[b_elem(inp[1], column, k, first) for column in range(N)] for k in range(K)]
            C = np.zeros((M, N))
            for element, row in enumerate(places):
                for lane, (j, i) in enumerate(row):
                    C[i, j] = inp[2][element][first + lane]
            operands = (self._held(x, f) for x, f in ((A, instruction.a), (B, instruction.b), (C, instruction.c)))
            D = multiply(instruction, *operands).astype(np.float64)
            for element, row in enumerate(places):
                for lane, (j, i) in enumerate(row):
                    out[element][first + lane] = float(D[i, j])
        return out

    def _instruction(self, K: int) -> golden.Instruction:
        a, b, d = self.formats
        for i in golden.instructions(self.arch):
            if (i.a.name, i.b.name, i.c.name, i.d.name, i.scale, i.k) == (a, b, d, d, None, K):
                return i
        raise ValueError(f"{self.arch} has no instruction of {K} products that multiplies {a} by {b} into {d}")

    def _held(self, numbers: Any, operand: Format) -> Any:
        """Numbers as an array of a format.

        Raises:
            ValueError: one that the format does not hold.
        """
        given = np.array(numbers, np.float64)
        with np.errstate(over="ignore"):
            held = given.astype(np.float32).astype(float_dtype(operand))
        differs = (held.astype(np.float64) != given) & ~np.isnan(given)
        if differs.any():
            first = given[differs][0]
            raise ValueError(f"a tile's operand holds {first!r}, which {operand} does not: the context names other formats")
        return held
