"""An instruction of the catalogue: its shape, its formats, its operation, and the evidence for its model."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from golden.arithmetic.formats import TF32, Format
from golden.arrays import check_shape, to_bits
from golden.chains.chain import PAIRED, Chain, ChainTable, Order
from golden.checks import check_choice, check_int, check_name, check_type
from golden.engines.batched_dot import matrix_product
from golden.native.engine import PreparedProduct, prepared_product
from golden.operations import Operation
from golden.units.model import Model
from golden.units.selection import ONE_OF_TWO, PAIRS_OF_FOUR, Selections, selected

if TYPE_CHECKING:
    from golden.trace import Trace

EVIDENCE: dict[str, str] = {
    "recorded": "this project's own run on that silicon, kept in the project",
    "third-party": "a recording of that silicon by others",
    "published": "validated on silicon by the cited authors",
    "documented": "exact arithmetic that the vendor's manual states; no silicon",
    "emulated": "agrees with an emulator of the vendor's text; no silicon",
    "inferred": "by analogy with an instruction that has one of the above",
}
"""Kinds of evidence for a model, strongest first (numerics.md, section 10)."""


MAX_SIZE = 1 << 20
"""Largest m, n or k that is accepted; the largest published is 256."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Instruction(Model):
    """A matrix instruction D = A·B + C of shape m×n×k; a chain of `operation` computes every element independently.

    Attributes:
        arch, name: architecture and name in the catalogue.
        m, n, k: shape (elements): A is m×k, B is k×n, C and D are m×n. Of a sparse instruction k counts the stored elements
            of a row of A, half of the k in its name, and B is 2k×n.
        a, b: formats of the elements of A and B, before any conversion in the chain.
        operation: the elementary operation, with L at most k.
        chain: the order in which steps of the operation consume the k products.
        evidence: one of `EVIDENCE`.
        note: the part of the model that is not measured, or empty.
        sparse: whether metadata say which elements of B the stored elements of A are multiplied by.
    """

    arch: str
    name: str
    m: int
    n: int
    k: int
    a: Format
    b: Format
    operation: Operation
    chain: Chain
    evidence: str
    note: str = ""
    sparse: bool = False

    def __post_init__(self) -> None:
        check_name("arch of an instruction", self.arch)
        check_name("name of an instruction", self.name)
        for key in ("m", "n", "k"):
            check_int(f"{key} of {self.name}", getattr(self, key), 1, MAX_SIZE)
        check_type(f"a of {self.name}", self.a, Format)
        check_type(f"b of {self.name}", self.b, Format)
        check_type(f"operation of {self.name}", self.operation, Operation)
        check_type(f"chain of {self.name}", self.chain, Chain)
        check_choice(f"evidence of {self.name}", self.evidence, EVIDENCE)
        check_type(f"note of {self.name}", self.note, str)
        check_type(f"sparse of {self.name}", self.sparse, bool)
        self._check_consistent()

    def _check_consistent(self) -> None:
        """Check the relations between the fields."""
        chain = self.chain
        if chain.operation != self.operation:
            raise ValueError(f"operation of {self.name} must be that of its chain, got another")
        if (chain.a, chain.b) != (self.a, self.b):
            raise ValueError(
                f"a and b of {self.name} must be the formats that its chain takes, {chain.a} and {chain.b}; "
                f"got {self.a} and {self.b}"
            )
        if self.k % self.operation.length:
            raise ValueError(f"k of {self.name} must be a multiple of L={self.operation.length}, got {self.k}")

    def __repr__(self) -> str:
        return f"golden.instruction({self.arch!r}, {self.name!r})"

    @property
    def shape(self) -> tuple[int, int, int]:
        """m, n and k."""
        return self.m, self.n, self.k

    @property
    def selections(self) -> Selections:
        """Code of the metadata of a group to the positions in it that it selects; empty where dense."""
        if not self.sparse:
            return {}
        return dict(ONE_OF_TWO if self.a == TF32 else PAIRS_OF_FOUR)

    @property
    def b_k(self) -> int:
        """Rows of B: k, or 2k where sparse."""
        return 2 * self.k if self.sparse else self.k

    @property
    def fp16_order(self) -> Order | None:
        """The order in which the steps take products if the instruction converts FP8 to fp16; else None."""
        return self.chain.fp16_order

    @property
    def order(self) -> str:
        """The order in which the steps take products (golden.chains.chain.RUNS)."""
        return "in-order" if self.is_paired else self.chain.order

    @property
    def chain_table(self) -> ChainTable | None:
        """The table [chain] of a unit that computes what the instruction does; None if none does (`is_paired`)."""
        return None if self.is_paired else self.chain.table

    @property
    def step_name(self) -> str:
        """Name of the unit of one step; it says so if the instruction does more than take such steps from c on."""
        if self.fp16_order is not None:
            of = "fp16 step of "
        elif self.is_paired:
            of = "multiply-add of "
        else:
            of = "" if self.chain_table == ChainTable(order=self.order) else "step of "
        return f"{of}{self.arch} {self.name}"

    @property
    def is_paired(self) -> bool:
        """Whether every product and every sum is rounded separately, each by a multiply-add (golden.chains.chain.PAIRED)."""
        return self.chain.order == PAIRED

    @property
    def label(self) -> str:
        """The name in traces and reports."""
        return f"{self.arch} {self.name}"

    @property
    def usual_K(self) -> int:
        """Number of products of a dot product: the instruction's k."""
        return self.k

    def chain_over(self, K: int) -> Chain:
        """The chain over the instruction's k products.

        Raises:
            ValueError: K is not the instruction's k.
        """
        if self.k != K:
            raise ValueError(f"K of {self.label} must be {self.k}, got {K}")
        return self.chain

    def products_of(self, a: Any, shape: str) -> int:
        """The instruction's k, whatever the operand; `dot` refuses a wrong shape itself."""
        return self.k

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
        metadata: Any = None,
    ) -> Any:
        """Compute d = c + Σ a_k·b_k for each row, as the instruction computes one element of D.

        Args:
            a, b: operands [..., k]; c: accumulators [...], +0 if None.
            scale_a, scale_b: [..., k/K_block] if block-scaled, else None.
            engine: "reference", "native", "cuda" (CuPy arrays), or None for the fastest one available.
            flags: whether to return exception flags too, as of `golden.Unit.dot`.
            metadata: of a sparse instruction, a code of `selections` for each group [..., groups]; b is then [..., 2k]. None
                where b holds the k selected elements alone.

        Returns:
            d [...]: bit patterns if c holds bit patterns, floats if c holds floats; without c, of the kind of a.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, code or engine.
        """
        K = (getattr(a, "shape", None) or (self.k,))[-1]
        if self.k < K and not self.sparse:
            raise ValueError(f"a of {self.label} must have K = {self.k}, got {K}; golden.gemm multiplies matrices of any K")
        return super().dot(a, self._selected(b, metadata), c, scale_a, scale_b, engine, flags=flags)

    def _selected(self, b: Any, metadata: Any) -> Any:
        """The elements of b that are multiplied: all, or those that the metadata of a sparse instruction select.

        Raises:
            TypeError, ValueError: as `golden.units.selection.selected`, or metadata of a dense instruction.
        """
        if metadata is None:
            if self.sparse and getattr(b, "shape", ())[-1:] == (self.b_k,):
                raise ValueError(
                    f"{self.name} multiplies {self.k} of {self.b_k} elements of b: give metadata, which say which, or the "
                    f"selected elements alone"
                )
            return b
        if not self.sparse:
            raise ValueError(f"{self.name} is dense and takes no metadata")
        return selected(self.name, to_bits("b", b, self.b), metadata, self.selections, self.k)

    def explain(
        self, a: Any, b: Any = None, c: Any = None, scale_a: Any = None, scale_b: Any = None, *, metadata: Any = None
    ) -> "Trace":
        """Trace the steps of one dot product.

        Args:
            a, b: operands [k]; c: one accumulator; scale_a, scale_b: [k/K_block] if block-scaled, else None.
            metadata: as in `dot`.

        Returns:
            The trace, as text, HTML and JSON.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, more rows than one, or a wrong code.
        """
        return super().explain(a, self._selected(b, metadata), c, scale_a, scale_b)

    def __call__(
        self,
        A: Any,
        B: Any,
        C: Any = None,
        scale_a: Any = None,
        scale_b: Any = None,
        engine: str | None = None,
        *,
        metadata: Any = None,
    ) -> Any:
        """Compute D = A·B + C.

        Args:
            A: [m, k]. B: [k, n], of a sparse instruction [2k, n]. C: [m, n], zeros if None. scale_a: [m, k/K_block].
            scale_b: [k/K_block, n]. engine: as in `dot`.
            metadata: of a sparse instruction, codes [m, groups]: row i of A is multiplied by the elements of B that row i of
                the metadata selects.

        Returns:
            D [m, n]: bit patterns or floats, like C; without C, like A.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, code or engine.
        """
        if self.sparse or metadata is not None:
            return self._sparse_product(A, B, C, metadata, engine)
        if engine is None and C is not None and scale_a is None and scale_b is None and self._prepared is not None:
            d = self._prepared(A, B, C)
            if d is not None:
                return d
        return matrix_product(self, (self.m, self.n, self.k), (A, B, C, scale_a, scale_b), engine)

    def _sparse_product(self, A: Any, B: Any, C: Any, metadata: Any, engine: str | None) -> Any:
        """D of a sparse instruction, row i with the selection of row i."""
        if metadata is None:
            raise ValueError(f"{self.name} is sparse: its metadata must say which elements of B the stored ones of A meet")
        a, b = to_bits("A", A, self.a), to_bits("B", B, self.b)
        check_shape("A", a, (self.m, self.k), f"m×k of {self.name}")
        check_shape("B", b, (self.b_k, self.n), f"2k×n of {self.name}")
        if C is not None:
            check_shape("C", C, (self.m, self.n), f"m×n of {self.name}")
        groups = metadata.shape[-1] if hasattr(metadata, "shape") and metadata.ndim else 0
        check_shape("metadata", metadata, (self.m, groups), f"codes of every row of A of {self.name}")
        b = self._selected(b.T[None], metadata[:, None])  # [m, n, k]
        return self.dot(a[:, None].repeat(self.n, axis=1), b, C, engine=engine)

    @cached_property
    def _prepared(self) -> PreparedProduct | None:
        """The product with C of the native engine, for NumPy arrays; None where that does not compute it in one call."""
        return prepared_product(self.chain, self.a, self.b, (self.m, self.n, self.k))

    def as_dict(self) -> dict[str, Any]:
        """The shape, formats, parameters and evidence as values that JSON can hold."""
        return {
            "arch": self.arch,
            "name": self.name,
            "m": self.m,
            "n": self.n,
            "k": self.k,
            "a": self.a.name,
            "b": self.b.name,
            "c": self.c.name,
            "d": self.d.name,
            "scale": None if self.scale is None else self.scale.name,
            "block_size": self.block_size,
            "operation": self.operation.name,
            "parameters": self.operation.parameters(),
            "fp16_order": self.fp16_order,
            "order": self.order,
            "sparse": self.sparse,
            "evidence": self.evidence,
            "note": self.note,
        }
