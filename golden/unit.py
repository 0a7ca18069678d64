"""A unit: an operation under a name, with `.dot`, and how it is built."""

from dataclasses import dataclass, field, replace
from math import lcm
from typing import Any

from golden.arrays import check_shape, from_bits, scale_codes, to_bits
from golden.chain import Chain, ConvertedChain
from golden.checks import check_choice, check_int, check_name, check_type
from golden.engines import Batch, run
from golden.formats import Format
from golden.memory import check_operands
from golden.operations import Operation
from golden.ordered_chain import ChainTable, chain_of
from golden.trace import Trace, trace_of

ENCODINGS = ("sign-magnitude", "ones-complement", "twos-complement")
"""How negative numbers are held inside the aligned sum; never changes a result."""

MAX_STAGES = 8

CIRCUIT_CHOICES: dict[str, tuple[str, ...]] = {
    "max_exp": ("tree", "pairwise"),
    "reduction": ("carry-save", "adder-tree"),
    "leading_zeros": ("count", "anticipate"),
    "result_exp": ("serial", "parallel"),
}
"""Keys of `Implementation` that choose a circuit for one step, each with its choices; the first one is the default."""


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """How a unit is built, which never changes what it computes.

    n is the number of terms of a sum. What each choice costs is measured in docs/area.md on an fp16 unit of four products;
    shares below are of that unit's cells, depths of its critical path.

    Attributes:
        encoding: one of `ENCODINGS`, how negative terms enter the sum. `sign-magnitude`: positive and negative terms are
            reduced apart and then together. `ones-complement`: a negative term is inverted, and the increments that this
            lacks ride as single bits in empty places of the rows, without an incrementer; smallest, by about 5 and
            11 %, and shallowest. `twos-complement`: an incrementer for every term.
        stages: pipeline registers, 0 (combinational) to 8.
        max_exp: how the largest exponent is found. `tree`: n − 1 compare-and-select cells in ⌈log2 n⌉ levels, then one
            subtractor a term for its shift. `pairwise`: all n·(n − 1) differences at once, and one row of them selected,
            which holds every term's shift; 3 to 5 % less deep at n = 5 for about the same cells, but they grow with n².
        reduction: how many aligned terms become two, which one last adder sums. `carry-save`: layers of full adders, without
            carries. `adder-tree`: levels of carry-propagate adders; up to 4 % larger and 10 to 20 % deeper.
        leading_zeros: how far a total moves left. `count`: counted in the total, after the adder. `anticipate`: found beside
            the last adder from its two operands, at most two too few, which a last shift by 0, 1 or 2 corrects; up to
            6 % more cells for at most 5 levels less, and deeper in two's complement: the correction takes the gain back.
        result_exp: how the result's exponent takes up a carry out of rounding. `serial`: it is added into the packed result,
            an adder of the result's width behind the rounding. `parallel`: the exponents with and without a carry are both
            made beside the rounding and one is selected; up to 2 % more cells, 1 to 5 levels less.
    """

    encoding: str = "ones-complement"
    stages: int = 0
    max_exp: str = "tree"
    reduction: str = "carry-save"
    leading_zeros: str = "count"
    result_exp: str = "serial"

    def __post_init__(self) -> None:
        check_choice("encoding", self.encoding, ENCODINGS)
        check_int("stages", self.stages, 0, MAX_STAGES)
        for key, choices in CIRCUIT_CHOICES.items():
            check_choice(key, getattr(self, key), choices)


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A unit of one's own: an operation, chained over K, under a name.

    Attributes:
        chain: how it is chained; steps in order of k by default.
        converted: formats of a and b before `chain` converts them, None where it does not; the operation multiplies fp16.
    """

    name: str
    operation: Operation
    implementation: Implementation = field(default_factory=Implementation)
    chain: ChainTable = field(default_factory=ChainTable)
    converted: tuple[Format, Format] | None = None

    def __post_init__(self) -> None:
        check_name("key name", self.name)
        check_type("operation of a unit", self.operation, Operation)
        check_type("implementation of a unit", self.implementation, Implementation)
        check_type("chain of a unit", self.chain, ChainTable)
        if (self.converted is None) != (self.chain.convert is None):
            raise ValueError(f"{self.name}: the formats before the conversion go with [chain] convert, and only with it")
        self.chain.check(self.operation, self.a, self.b)

    @property
    def a(self) -> Format:
        """Format of the elements of A; where the chain converts, before that."""
        return self.operation.a if self.converted is None else self.converted[0]

    @property
    def b(self) -> Format:
        """As `a`."""
        return self.operation.b if self.converted is None else self.converted[1]

    @property
    def step(self) -> "Unit":
        """The unit of one step, without the chain: what a datapath computes."""
        return self if self.chain == ChainTable() else replace(self, chain=ChainTable(), converted=None)

    @property
    def usual_K(self) -> int:
        """Products of a stimulus: one step; under a table [chain] two, that there is a chain to see."""
        if self.chain == ChainTable():
            return self.operation.length
        return lcm(2 * self.operation.length, 4)

    def chain_over(self, K: int) -> Chain | ConvertedChain:
        """The chain over K products.

        Raises:
            TypeError, ValueError: K does not fit.
        """
        return chain_of(self.operation, self.chain, self.a, self.b, K)

    def dot(
        self,
        a: Any,
        b: Any,
        c: Any,
        scale_a: Any = None,
        scale_b: Any = None,
        engine: str | None = None,
    ) -> Any:
        """d = c + Σ a_k·b_k, each row in the unit's arithmetic.

        Args:
            a, b: operands [..., K], K ≤ L or a multiple of L: longer products are chained, in order of k unless the unit's
                table [chain] says otherwise.
            c: accumulators [...].
            scale_a, scale_b: scales [..., ⌈K/K_block⌉], where the operation has scales.
            engine: "reference", "native", or None for the fastest there is.

        Returns:
            d [...], bits where c came as bits, floats where c came as floats.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, code or engine. MemoryError: a broadcast larger than memory.
        """
        bits = to_bits("a", a, self.a)
        K = bits.shape[-1] if bits.ndim else 0
        if not K:
            raise ValueError(f"a must have shape [..., K] with K at least 1, got {bits.shape}")
        return batched_dot(self.chain_over(K), K, (a, b, c, scale_a, scale_b), engine, self.a, self.b)

    def explain(self, a: Any, b: Any, c: Any, scale_a: Any = None, scale_b: Any = None) -> Trace:
        """The steps of one dot product.

        Args:
            a, b: operands [K]; c: one accumulator; scale_a, scale_b: scales [⌈K/K_block⌉], as of `dot`.

        Returns:
            Its trace, with text, HTML and JSON.

        Raises:
            TypeError: a wrong dtype. ValueError: a wrong shape, more rows than one, or a wrong code.
        """
        bits = to_bits("a", a, self.a)
        K = bits.shape[-1] if bits.ndim else 0
        if not K:
            raise ValueError(f"a must have shape [K] with K at least 1, got {bits.shape}")
        return explained(self.name, self.chain_over(K), K, (a, b, c, scale_a, scale_b), self.a, self.b)


def batched_dot(
    chain: Chain | ConvertedChain,
    K: int,
    operands: tuple[Any, Any, Any, Any, Any],
    engine: str | None,
    a_format: Format,
    b_format: Format,
) -> Any:
    """Check operands of shape [..., K], run the chain over their rows, and shape the result like c.

    `a_format` and `b_format` are what the arrays hold, which need not be what the operation multiplies.
    """
    batch, lead = _batch(chain, K, operands, a_format, b_format)
    return from_bits(run(engine, chain, batch).reshape(lead), chain.operation.d, operands[2])


def explained(
    name: str,
    chain: Chain | ConvertedChain,
    K: int,
    operands: tuple[Any, Any, Any, Any, Any],
    a_format: Format,
    b_format: Format,
) -> Trace:
    """Check one row of operands and trace the chain over it. The arguments: as of `batched_dot`; `name` of what computes."""
    batch, lead = _batch(chain, K, operands, a_format, b_format)
    if lead:
        raise ValueError(f"one dot product is explained at a time: a and b must have shape [{K}], got {(*lead, K)}")
    (a,), (b,), (c,) = batch.a.tolist(), batch.b.tolist(), batch.c.tolist()
    scale_a, scale_b = ((), ()) if batch.scale_a is None or batch.scale_b is None else (batch.scale_a[0], batch.scale_b[0])
    return trace_of(name, chain, a, b, c, list(map(int, scale_a)), list(map(int, scale_b)))


def _batch(
    chain: Chain | ConvertedChain,
    K: int,
    operands: tuple[Any, Any, Any, Any, Any],
    a_format: Format,
    b_format: Format,
) -> tuple[Batch, tuple[int, ...]]:
    """Operands of shape [..., K], checked, as rows; and the shape of c."""
    a, b, c, scale_a, scale_b = operands
    operation = chain.operation
    check_operands(operands, operation.d)
    a_bits = to_bits("a", a, a_format)
    b_bits = to_bits("b", b, b_format)
    c_bits = to_bits("c", c, operation.c)
    lead = a_bits.shape[:-1]
    check_shape("a", a_bits, (*lead, K), "the last axis is K")
    check_shape("b", b_bits, (*lead, K), "that of a")
    check_shape("c", c_bits, lead, "that of a without K")
    blocks = 0 if operation.block_size is None else -(-K // operation.block_size)
    rule = f"one scale for every {operation.block_size} elements"
    scales = [
        None if codes is None else codes.reshape(-1, blocks)
        for codes in (
            scale_codes("scale_a", scale_a, operation, (*lead, blocks), rule),
            scale_codes("scale_b", scale_b, operation, (*lead, blocks), rule),
        )
    ]
    return Batch(a_bits.reshape(-1, K), b_bits.reshape(-1, K), c_bits.reshape(-1), scales[0], scales[1]), lead
