"""Rules for blocks of elements that share a scale."""

from golden.checks import check_int
from golden.operations.base import MAX_LENGTH


def check_block(K_block: int, L: int) -> None:
    """Check that a step covers whole blocks, or lies inside one."""
    check_int("K_block", K_block, 1, MAX_LENGTH)
    if K_block % L and L % K_block:
        raise ValueError(f"K_block must divide L or be a multiple of it; got K_block={K_block}, L={L}")
