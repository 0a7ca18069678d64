"""The order in which an instruction takes K where each lane loads several products at a time, as Triton's kWidth says."""

from golden.units.instruction import Instruction

LANES = 64
"""Lanes of AMD's wavefront that share an instruction of MFMA."""

MOST = 16
"""Largest number of products that a lane loads at a time."""


def k_order_of(instruction: Instruction, k_width: int) -> tuple[int, ...]:
    """The permutation of K, as `k_order` of golden.GemmOrder, of a kernel each of whose lanes loads `k_width` consecutive
    products of a row and hands them to consecutive instructions.

    Of `mma` of sm_75 to sm_120 four lanes hold a row, each with one register of 32 bits in each half of K. Of MFMA the lanes
    beside one another hold a row, as many as LANES / m, each with equally many consecutive products.

    Raises:
        ValueError: another kind of instruction, or a width that is not a multiple of what a lane gives to one instruction.
    """
    lanes, halves = _lanes(instruction)
    own = instruction.k // (lanes * halves)
    step = own * halves
    if k_width % step and k_width != own:
        raise ValueError(f"k_width of {instruction.label} must be {own} or a multiple of {step}, got {k_width}")
    if k_width == own:
        return tuple(range(instruction.k))
    order = [0] * (lanes * k_width)
    for lane in range(lanes):
        for at in range(k_width):
            number, inside = divmod(at, step)
            half, place = divmod(inside, own)
            order[number * instruction.k + half * lanes * own + lane * own + place] = lane * k_width + at
    return tuple(order)


def k_widths(instruction: Instruction) -> list[tuple[int, ...]]:
    """The permutations of all widths up to `MOST`, without the one that changes nothing."""
    try:
        lanes, halves = _lanes(instruction)
    except ValueError:
        return []
    own = instruction.k // (lanes * halves)
    widths = range(own * halves, MOST + 1, own * halves)
    return [order for width in widths if (order := k_order_of(instruction, width)) != tuple(range(len(order)))]


def _lanes(instruction: Instruction) -> tuple[int, int]:
    """Lanes that hold a row of A, and the parts of K of which each holds some."""
    k, m = instruction.k, instruction.m
    if instruction.name.startswith("mma.m16n8") and not instruction.sparse and k * instruction.a.width in (128, 256):
        return 4, k * instruction.a.width // 128
    if instruction.name.startswith("v_mfma") and m in (16, 32) and k % (LANES // m) == 0:
        return LANES // m, 1
    raise ValueError(f"the lanes of {instruction.label} are not known: only mma of m16n8 and MFMA of 16 or 32 rows are")
