"""The A100 figures of paper 001 (W. Sun et al., TPDS 2023), tables 3, 6, 9 and 10, to stand beside one's own.

Latency in cycles, throughput in FMA (or bytes) per cycle and SM; each instruction at two points, (warps, ILP).
"""

from typing import NamedTuple


class Point(NamedTuple):
    """A measurement at so many warps and so much ILP."""

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


A100: dict[str, Figures] = {
    "mma.m16n8k16.f32.f16.f16.f32": _figures(24.7, (3, 27.4, 897.6), (2, 32.6, 1004.2)),
    "mma.m16n8k8.f32.f16.f16.f32": _figures(17.7, (4, 20.5, 800.2), (3, 25.3, 974.1)),
    "mma.m16n8k16.f16.f16.f16.f16": _figures(24.4, (3, 27.1, 907.1), (2, 32.9, 996.6)),
    "mma.m16n8k8.f16.f16.f16.f16": _figures(17.7, (4, 19.1, 860.9), (3, 24.5, 1002.6)),
    "mma.m16n8k8.f32.tf32.tf32.f32": _figures(25.0, (3, 28.2, 435.9), (2, 33.3, 492.4)),
    "mma.m16n8k4.f32.tf32.tf32.f32": _figures(18.1, (4, 20.9, 392.6), (3, 25.7, 477.5)),
    "mma.sp.m16n8k32.f32.f16.f16.f32": _figures(24.7, (3, 27.4, 1791.9), (2, 33.1, 1979.1)),
    "mma.sp.m16n8k16.f32.f16.f16.f32": _figures(17.8, (3, 20.4, 1024.5), (2, 25.4, 1290.5)),
    "mma.sp.m16n8k32.f16.f16.f16.f16": _figures(24.3, (3, 26.6, 1850.9), (2, 32.4, 2019.8)),
    "mma.sp.m16n8k16.f16.f16.f16.f16": _figures(17.6, (3, 19.8, 1242.9), (2, 24.9, 1318.2)),
    "mma.sp.m16n8k16.f32.tf32.tf32.f32": _figures(24.9, (3, 28.3, 868.2), (2, 33.9, 981.2)),
    "mma.sp.m16n8k8.f32.tf32.tf32.f32": _figures(18.2, (3, 20.6, 597.8), (2, 25.5, 643.6)),
    "ldmatrix.x1": _figures(23.1, (5, 26.8, 95.4), (4, 32.1, 127.7)),
    "ldmatrix.x2": _figures(25.1, (4, 32.1, 127.8), (2, 32.1, 127.7)),
    "ldmatrix.x4": _figures(29.3, (2, 32.2, 127.3), (1, 32.6, 125.9)),
}
"""Name to figures; the sparse rows' ILP of eight warps is the paper's."""

A100_LOADS: dict[str, float] = {
    "ld.shared.u32 1-way": 23.0, "ld.shared.u32 2-way": 25.0, "ld.shared.u32 4-way": 29.0, "ld.shared.u32 8-way": 37.0,
    "ld.shared.u64 2-way": 25.1, "ld.shared.u64 4-way": 29.1, "ld.shared.u64 8-way": 37.0,
}  # fmt: skip
"""Completion latency of ld.shared by bank conflict (table 10)."""
