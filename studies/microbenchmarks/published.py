"""The figures of paper 001 (W. Sun et al., TPDS 2023), tables 3 to 7, 9, 10, 16 and 17, for comparison.

Latency in cycles, throughput in FMA (or bytes) per cycle and SM; each instruction at two points, (warps, ILP). Integers and
b1 are named as in the paper's programs (github.com/sunlex0717/DissectingTensorCores); b1 counts the bits of `and`.
"""

from typing import NamedTuple


class Point(NamedTuple):
    """A measurement at a number of warps and an ILP."""

    warps: int
    ilp: int
    latency: float
    throughput: float


class Figures(NamedTuple):
    """Completion latency (one warp, ILP 1), and the two points at which throughput converges."""

    completion: float
    four_warps: Point
    eight_warps: Point


def _figures(completion: float, four: tuple[int, float, float], eight: tuple[int, float, float]) -> Figures:
    return Figures(completion, Point(4, *four), Point(8, *eight))


DENSE_A100: dict[str, Figures] = {
    "mma.m16n8k16.f32.f16.f16.f32": _figures(24.7, (3, 27.4, 897.6), (2, 32.6, 1004.2)),
    "mma.m16n8k8.f32.f16.f16.f32": _figures(17.7, (4, 20.5, 800.2), (3, 25.3, 974.1)),
    "mma.m16n8k16.f16.f16.f16.f16": _figures(24.4, (3, 27.1, 907.1), (2, 32.9, 996.6)),
    "mma.m16n8k8.f16.f16.f16.f16": _figures(17.7, (4, 19.1, 860.9), (3, 24.5, 1002.6)),
    "mma.m16n8k8.f32.tf32.tf32.f32": _figures(25.0, (3, 28.2, 435.9), (2, 33.3, 492.4)),
    "mma.m16n8k4.f32.tf32.tf32.f32": _figures(18.1, (4, 20.9, 392.6), (3, 25.7, 477.5)),
    "mma.m8n8k16.s32.s8.s8.s32": _figures(15.9, (4, 20.1, 813.2), (2, 16.4, 998.3)),
    "mma.m16n8k32.s32.s8.s8.s32": _figures(24.7, (3, 27.1, 1812.4), (2, 32.9, 1986.5)),
    "mma.m16n8k16.s32.s8.s8.s32": _figures(17.6, (4, 20.9, 1570.1), (3, 25.1, 1965.1)),
    "mma.m16n8k32.s32.s4.s4.s32": _figures(18.1, (4, 22.1, 2971.1), (3, 27.1, 3630.0)),
    "mma.m16n8k64.s32.s4.s4.s32": _figures(26.1, (3, 28.1, 3497.9), (2, 35.8, 3660.8)),
    "mma.m16n8k128.s32.b1.b1.s32.and.popc": _figures(18.1, (4, 22.1, 11884.3), (3, 27.1, 14515.1)),
    "mma.m16n8k256.s32.b1.b1.s32.and.popc": _figures(26.0, (3, 28.1, 13985.4), (2, 35.8, 14643.4)),
}
"""Figures of table 3 (A100, dense)."""

DENSE_3070TI: dict[str, Figures] = {
    "mma.m16n8k16.f32.f16.f16.f32": _figures(33.0, (1, 33.0, 248.2), (1, 64.8, 252.7)),
    "mma.m16n8k8.f32.f16.f16.f32": _figures(18.8, (2, 32.3, 253.9), (1, 32.4, 253.2)),
    "mma.m16n8k16.f16.f16.f16.f16": _figures(24.0, (2, 32.2, 509.4), (1, 32.3, 506.9)),
    "mma.m16n8k8.f16.f16.f16.f16": _figures(17.7, (3, 24.0, 511.8), (2, 32.3, 507.8)),
    "mma.m16n8k8.f32.tf32.tf32.f32": _figures(33.3, (1, 33.4, 122.6), (1, 64.6, 126.8)),
    "mma.m16n8k4.f32.tf32.tf32.f32": _figures(19.1, (2, 32.7, 125.3), (1, 32.6, 125.7)),
    "mma.m8n8k16.s32.s8.s8.s32": _figures(15.9, (4, 19.3, 848.9), (2, 16.2, 1008.5)),
    "mma.m16n8k32.s32.s8.s8.s32": _figures(24.3, (2, 32.2, 1017.2), (1, 32.1, 1023.2)),
    "mma.m16n8k16.s32.s8.s8.s32": _figures(17.7, (3, 24.1, 1018.2), (2, 32.6, 1005.4)),
    "mma.m16n8k32.s32.s4.s4.s32": _figures(17.3, (3, 24.9, 1967.9), (2, 32.3, 2031.7)),
    "mma.m16n8k64.s32.s4.s4.s32": _figures(24.5, (2, 33.3, 1967.9), (1, 32.5, 2013.5)),
    "mma.m16n8k128.s32.b1.b1.s32.and.popc": _figures(17.3, (3, 24.8, 7908.3), (2, 32.3, 8127.2)),
    "mma.m16n8k256.s32.b1.b1.s32.and.popc": _figures(24.6, (2, 33.3, 7871.9), (1, 32.5, 8053.9)),
}
"""Figures of table 4 (RTX 3070 Ti, dense)."""

DENSE_2080TI: dict[str, Figures] = {
    "mma.m16n8k8.f32.f16.f16.f32": _figures(17.3, (2, 32.5, 252.4), (1, 32.1, 255.1)),
    "mma.m16n8k8.f16.f16.f16.f16": _figures(14.7, (2, 17.5, 467.9), (1, 16.1, 509.4)),
    "mma.m8n8k16.s32.s8.s8.s32": _figures(11.0, (3, 14.5, 846.1), (2, 16.2, 1012.6)),
}
"""Figures of table 5 (RTX 2080 Ti, dense)."""

SPARSE_A100: dict[str, Figures] = {
    "mma.sp.m16n8k32.f32.f16.f16.f32": _figures(24.7, (3, 27.4, 1791.9), (2, 33.1, 1979.1)),
    "mma.sp.m16n8k16.f32.f16.f16.f32": _figures(17.8, (3, 20.4, 1024.5), (2, 25.4, 1290.5)),
    "mma.sp.m16n8k32.f16.f16.f16.f16": _figures(24.3, (3, 26.6, 1850.9), (2, 32.4, 2019.8)),
    "mma.sp.m16n8k16.f16.f16.f16.f16": _figures(17.6, (3, 19.8, 1242.9), (2, 24.9, 1318.2)),
    "mma.sp.m16n8k16.f32.tf32.tf32.f32": _figures(24.9, (3, 28.3, 868.2), (2, 33.9, 981.2)),
    "mma.sp.m16n8k8.f32.tf32.tf32.f32": _figures(18.2, (3, 20.6, 597.8), (2, 25.5, 643.6)),
    "mma.sp.m16n8k64.s32.s8.s8.s32": _figures(24.7, (3, 27.7, 3544.7), (2, 33.1, 3961.5)),
    "mma.sp.m16n8k32.s32.s8.s8.s32": _figures(17.9, (3, 20.4, 2403.9), (2, 25.4, 2665.2)),
}
"""Figures of table 6 (A100, sparse); the ILP of eight warps is the paper's."""

SPARSE_3070TI: dict[str, Figures] = {
    "mma.sp.m16n8k32.f32.f16.f16.f32": _figures(33.0, (1, 33.0, 496.5), (1, 64.1, 511.2)),
    "mma.sp.m16n8k16.f32.f16.f16.f32": _figures(18.8, (2, 32.3, 507.8), (1, 32.4, 506.2)),
    "mma.sp.m16n8k32.f16.f16.f16.f16": _figures(24.3, (2, 32.0, 1022.2), (1, 32.1, 1022.3)),
    "mma.sp.m16n8k16.f16.f16.f16.f16": _figures(17.7, (3, 24.2, 1013.4), (2, 32.0, 1023.1)),
    "mma.sp.m16n8k16.f32.tf32.tf32.f32": _figures(33.2, (1, 33.2, 247.0), (1, 64.2, 255.1)),
    "mma.sp.m16n8k8.f32.tf32.tf32.f32": _figures(19.0, (2, 32.5, 252.5), (1, 32.4, 253.2)),
    "mma.sp.m16n8k64.s32.s8.s8.s32": _figures(24.3, (2, 64.2, 2040.2), (1, 32.1, 2039.5)),
    "mma.sp.m16n8k32.s32.s8.s8.s32": _figures(17.7, (3, 24.2, 2028.8), (2, 32.3, 2031.8)),
}
"""Figures of table 7 (RTX 3070 Ti, sparse)."""

LDMATRIX_A100: dict[str, Figures] = {
    "ldmatrix.x1": _figures(23.1, (5, 26.8, 95.4), (4, 32.1, 127.7)),
    "ldmatrix.x2": _figures(25.1, (4, 32.1, 127.8), (2, 32.1, 127.7)),
    "ldmatrix.x4": _figures(29.3, (2, 32.2, 127.3), (1, 32.6, 125.9)),
}
"""Figures of table 9 (A100, ldmatrix)."""

GPUS: dict[str, dict[str, Figures]] = {
    "A100": DENSE_A100 | SPARSE_A100 | LDMATRIX_A100,
    "RTX 3070 Ti": DENSE_3070TI | SPARSE_3070TI,
    "RTX 2080 Ti": DENSE_2080TI,
}
"""All figures, by GPU and by instruction."""

A100_LOADS: dict[str, float] = {
    "ld.shared.u32 1-way": 23.0, "ld.shared.u32 2-way": 25.0, "ld.shared.u32 4-way": 29.0, "ld.shared.u32 8-way": 37.0,
    "ld.shared.u64 2-way": 25.1, "ld.shared.u64 4-way": 29.1, "ld.shared.u64 8-way": 37.0,
}  # fmt: skip
"""Completion latency of ld.shared by bank conflict (table 10)."""

A100_MATMUL: dict[str, int] = {"baseline": 913363, "asynchronous copies": 451560, "permuted shared memory": 303227}
"""Cycles of a product of 2048×2048 BF16 matrices on an A100 (tables 16 and 17): plain copies to shared memory, a pipeline of
asynchronous copies, and a layout without bank conflicts."""
