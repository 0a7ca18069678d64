"""A generated kernel: its source, its launch configuration, and the memory it reads and writes.

Every kernel computes whole tiles, D = A·B + C each, from arrays of bit patterns with the storage widths of
`golden.Format` (FP6 and FP4 one code a byte):

    a [tiles, m, k], b [tiles, n, k], c [tiles, m, n], scale_a [tiles, m, k/K_block], scale_b [tiles, n, k/K_block]
    → d [tiles, m, n]

B is stored by columns, so that row i of `a` and row j of `b` are the operands of D[i, j].
"""

from dataclasses import dataclass

from golden.arithmetic.formats import Format

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
