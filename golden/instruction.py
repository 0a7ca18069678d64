"""An instruction of the catalogue: its shape, its formats, its operation, and on what its model rests."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import check_shape, to_bits
from golden.chain import Chain, ConvertedChain
from golden.formats import Format
from golden.operations import Operation
from golden.unit import batched_dot

EVIDENCE: dict[str, str] = {
    "recorded": "this project's own run on that silicon, kept in the project",
    "third-party": "a recording of that silicon by others",
    "published": "validated on silicon by the cited authors",
    "inferred": "by analogy with an instruction that has one of the above",
}
"""What a model rests on, strongest first (numerics.md, section 10)."""


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """D = A·B + C of shape m×n×k, every element computed alone by a chain of `operation`.

    Attributes:
        arch, name: as in the catalogue.
        m, n, k: shape.
        a, b: formats of the operands as the instruction takes them.
        operation: the elementary operation, its L fitted to k.
        chain: how the k products are spent on steps of the operation.
        evidence: one of `EVIDENCE`.
        note: what is unmeasured, or empty.
    """

    arch: str
    name: str
    m: int
    n: int
    k: int
    a: Format
    b: Format
    operation: Operation
    chain: Chain | ConvertedChain
    evidence: str
    note: str = ""

    @property
    def c(self) -> Format:
        """Format of the accumulator."""
        return self.operation.c

    @property
    def d(self) -> Format:
        """Format of the result."""
        return self.operation.d

    @property
    def scale(self) -> Format | None:
        """Format of the scales, None where unscaled."""
        return self.operation.scale_format

    @property
    def block_size(self) -> int | None:
        """K_block, None where unscaled."""
        return self.operation.block_size

    def dot(
        self,
        a: npt.NDArray[Any],
        b: npt.NDArray[Any],
        c: npt.NDArray[Any],
        scale_a: npt.NDArray[Any] | None = None,
        scale_b: npt.NDArray[Any] | None = None,
        engine: str | None = None,
    ) -> npt.NDArray[Any]:
        """d = c + Σ a_k·b_k, each row as the instruction computes one element of D.

        Args:
            a, b: operands [..., k]; c: accumulators [...]; scale_a, scale_b: [..., k/K_block] where block-scaled.
            engine: "reference", "native", or None for the fastest there is.

        Returns:
            d [...], bits where c came as bits, floats where c came as floats.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, code or engine.
        """
        return batched_dot(self.chain, self.k, (a, b, c, scale_a, scale_b), engine, self.a, self.b)

    def __call__(
        self,
        A: npt.NDArray[Any],
        B: npt.NDArray[Any],
        C: npt.NDArray[Any],
        scale_a: npt.NDArray[Any] | None = None,
        scale_b: npt.NDArray[Any] | None = None,
        engine: str | None = None,
    ) -> npt.NDArray[Any]:
        """D = A·B + C.

        Args:
            A: [m, k]. B: [k, n]. C: [m, n]. scale_a: [m, k/K_block]. scale_b: [k/K_block, n].
            engine: as in `dot`.

        Returns:
            D [m, n], bits or floats as C came.
        """
        shape = (self.m, self.n, self.k)
        a = self._matrix("A", A, self.a, (self.m, self.k), "m×k")
        b = self._matrix("B", B, self.b, (self.k, self.n), "k×n").T
        self._matrix("C", C, self.c, (self.m, self.n), "m×n")
        if self.scale is not None and self.block_size is not None:
            blocks = self.k // self.block_size
            if scale_a is not None:
                alpha = self._matrix("scale_a", scale_a, self.scale, (self.m, blocks), "m×k/K_block")
                scale_a = np.broadcast_to(alpha[:, None, :], (self.m, self.n, blocks))
            if scale_b is not None:
                beta = self._matrix("scale_b", scale_b, self.scale, (blocks, self.n), "k/K_block×n").T
                scale_b = np.broadcast_to(beta[None, :, :], (self.m, self.n, blocks))
        a_rows = np.broadcast_to(a[:, None, :], shape)
        b_rows = np.broadcast_to(b[None, :, :], shape)
        return self.dot(a_rows, b_rows, C, scale_a, scale_b, engine)

    def _matrix(
        self, what: str, matrix: npt.NDArray[Any], operand: Format, shape: tuple[int, int], rule: str
    ) -> npt.NDArray[Any]:
        bits = to_bits(what, matrix, operand)
        check_shape(what, bits, shape, f"{rule} of {self.name}")
        return bits
