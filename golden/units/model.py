"""A model of dot products: what an instruction of the catalogue and a unit have in common."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from golden.arithmetic.formats import Format
from golden.chains.chain import Chain
from golden.engines.batched_dot import batched_dot, explained
from golden.operations import Operation

if TYPE_CHECKING:
    from golden.trace import Trace


class Model(ABC):
    """d = c + Σ a_k·b_k in an arithmetic: steps of `operation`, chained over K products.

    Attributes:
        name: its name in the catalogue, or that of a unit.
        operation: the elementary operation of one step.
    """

    name: str
    operation: Operation

    if TYPE_CHECKING:  # fields of an instruction, properties of a unit

        @property
        def a(self) -> Format:
            """Format of the elements of a."""

        @property
        def b(self) -> Format:
            """Format of the elements of b."""

    @property
    def label(self) -> str:
        """The name in traces and reports."""
        return self.name

    @property
    @abstractmethod
    def usual_K(self) -> int:
        """Number of products of a dot product if the caller gives no other."""

    @abstractmethod
    def chain_over(self, K: int) -> Chain:
        """The chain over K products.

        Raises:
            TypeError, ValueError: K does not fit.
        """

    @abstractmethod
    def products_of(self, a: Any, shape: str) -> int:
        """K of an operand a, which must have a shape such as "[..., K]".

        Raises:
            TypeError: a wrong dtype. ValueError: a has no K.
        """

    @cached_property
    def c(self) -> Format:
        """Format of the accumulator."""
        return self.operation.c

    @cached_property
    def d(self) -> Format:
        """Format of the result."""
        return self.operation.d

    @cached_property
    def scale(self) -> Format | None:
        """Format of the scales, None where unscaled."""
        return self.operation.scale_format

    @cached_property
    def block_size(self) -> int | None:
        """K_block, None where unscaled."""
        return self.operation.block_size

    def dot(
        self,
        a: Any,
        b: Any = None,
        c: Any = None,
        scale_a: Any = None,
        scale_b: Any = None,
        engine: str | None = None,
        *,
        flags: bool = False,
    ) -> Any:
        """Compute d = c + Σ a_k·b_k for each row, as one element of a matrix product.

        Args:
            a, b: operands [..., K]. An instruction's K is its k. A unit's is at most L or a multiple of L: with K > L,
                steps are chained in order of k or as the unit's table [chain] specifies. CVT has no b.
            c: accumulators [...]; None: +0. MUL, ADD and CVT have no c, and take no other.
            scale_a, scale_b: scales [..., ⌈K/K_block⌉] if the operation has scales, else None.
            engine: "reference", "native", "cuda" (CuPy arrays), or None for the fastest one available.
            flags: whether to return exception flags too, which FMA, MUL, ADD, CVT and E-FDPA define (numerics.md,
                section 14).

        Returns:
            d [...]: bit patterns if c holds bit patterns, floats if c holds floats; without c, of the kind of a. With
            `flags` d and the flags [...] that its steps raise together, uint8: bit 0 NX, 1 UF, 2 OF, 3 DZ, 4 NV.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, code, engine, or flags of another operation. MemoryError: a
                broadcast larger than memory.
        """
        K = self.products_of(a, "[..., K]")
        return batched_dot(self.chain_over(K), K, (a, b, c, scale_a, scale_b), engine, flags)

    def explain(self, a: Any, b: Any = None, c: Any = None, scale_a: Any = None, scale_b: Any = None) -> "Trace":
        """Trace the steps of one dot product.

        Args:
            a, b: operands [K]; c: one accumulator; scale_a, scale_b: scales [⌈K/K_block⌉], as in `dot`.

        Returns:
            The trace, as text, HTML and JSON.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, more rows than one, or a wrong code.
        """
        K = self.products_of(a, "[K]")
        return explained(self.label, self.chain_over(K), K, (a, b, c, scale_a, scale_b))
