"""Paper 001's tables: figures of accuracy from the models, draw by draw; of throughput from the paper's own latencies.

Latencies are measured on silicon and follow from nothing here. The throughput beside each is work · warps · ILP / latency.
"""

import re
from collections.abc import Iterator, Mapping

import golden
from golden.formats import FORMATS
from studies.microbenchmarks.published import (
    A100_MATMUL,
    DENSE_2080TI,
    DENSE_3070TI,
    DENSE_A100,
    LDMATRIX_A100,
    SPARSE_3070TI,
    SPARSE_A100,
    Figures,
    Point,
)
from studies.microbenchmarks.timed_loops import ldmatrix_benchmark, shared_load_benchmark
from studies.papers.cells import Cell, equal
from studies.profiles import INITS, OPERATIONS, PROFILED, against_of, element_errors, paper_pairs, types_of
from studies.published_profiles import LAST_DIGIT, PAPER_001

PERFORMANCE: Mapping[int, tuple[str, Mapping[str, Figures]]] = {
    3: ("A100", DENSE_A100), 4: ("RTX 3070 Ti", DENSE_3070TI), 5: ("RTX 2080 Ti", DENSE_2080TI), 6: ("A100", SPARSE_A100),
    7: ("RTX 3070 Ti", SPARSE_3070TI), 9: ("A100", LDMATRIX_A100),
}  # fmt: skip

MISPRINTS: Mapping[tuple[int, str, int], str] = {
    (6, "mma.sp.m16n8k16.f32.f16.f16.f32", 4): "a slip, it seems: 1204.5 would fit",
    (6, "mma.sp.m16n8k16.f32.tf32.tf32.f32", 8): "the two printed figures do not belong together: 981.2 is 33.4 cycles",
    (6, "mma.sp.m16n8k32.s32.s8.s8.s32", 8): "the two printed figures do not belong together: 2665.2 is 24.6 cycles",
    (7, "mma.sp.m16n8k64.s32.s8.s8.s32", 4): "a slip, it seems: 2040.2 is 32.1 cycles, half of the latency printed",
}
"""Table, instruction and warps of throughputs more than one per cent away from the latency beside them."""

TABLE_8 = {"ldmatrix.x1": (128, 4), "ldmatrix.x2": (256, 8), "ldmatrix.x4": (512, 16), "ld.shared.u32": (128, 4),
           "ld.shared.u64": (256, 8)}  # fmt: skip
"""Bytes of a warp and of a thread."""

TABLE_11 = {"fp32": (8, 23, 32), "tf32": (8, 10, 32), "fp16": (5, 10, 16), "bf16": (8, 7, 16), "e4m3": (4, 3, 8),
            "e5m2": (5, 2, 8)}  # fmt: skip
"""Exponent bits, mantissa bits, bits of a register."""


def microbenchmark_cells() -> Iterator[Cell]:
    """Every cell of tables 3 to 17 that follows from another or from a model."""
    for number, (gpu, table) in PERFORMANCE.items():
        for name, figures in table.items():
            for point in figures[1:]:
                yield throughput_cell(number, gpu, name, point)
    loads = {f"ldmatrix.x{n}": ldmatrix_benchmark(n) for n in (1, 2, 4)}
    loads |= {f"ld.shared.u{bits}": shared_load_benchmark(bits, bits // 32) for bits in (32, 64)}
    for name, published in TABLE_8.items():
        yield equal(f"001, table 8, {name}", published, (loads[name].work, loads[name].work // 32))
    for name, bits in TABLE_11.items():
        operand = FORMATS[name]
        yield equal(f"001, table 11, {name}", bits, (operand.exp_bits, operand.man_bits, operand.storage_bits))
    yield from profile_cells()
    for name in ("asynchronous copies", "permuted shared memory"):
        saved = 100 - 100 * A100_MATMUL[name] / A100_MATMUL["baseline"]
        claim = 60 if name == "permuted shared memory" else 50
        yield Cell(f"001, tables 16 and 17, {name}", f"saves more than {claim} %", f"{saved:.0f} %", saved > claim)


def work_of(name: str) -> int:
    """FMA of one instruction, of sparse ones with the zeros; bytes of `ldmatrix`."""
    if name.startswith("ldmatrix"):
        return 128 * int(name[-1])
    shape = re.search(r"m(\d+)n(\d+)k(\d+)", name)
    assert shape is not None
    return int(shape[1]) * int(shape[2]) * int(shape[3])


def throughput_cell(number: int, gpu: str, name: str, point: Point) -> Cell:
    """A throughput beside what the latency of the same point makes of it, both as far as they are printed."""
    work = work_of(name) * point.warps * point.ilp
    low, high = work / (point.latency + 0.05) - 0.05, work / (point.latency - 0.05) + 0.05
    off = abs(point.throughput * point.latency / work - 1)
    reason = MISPRINTS.get((number, name, point.warps), "")
    if not reason and off < 0.01:
        reason = "the two printed figures do not belong together, by less than one per cent"
    where = f"001, table {number}, {gpu} {name}, {point.warps} warps, ILP {point.ilp}"
    agrees = low <= point.throughput <= high
    return Cell(where, f"{point.throughput:g}", f"{work / point.latency:.1f} at {point.latency:g} cycles", agrees, reason)


def profile_cells() -> Iterator[Cell]:
    """Tables 12 to 15, on the model of the A100 and the paper's own draws."""
    pairs = paper_pairs()
    for name in PROFILED["sm_80"]:
        i = golden.instruction("sm_80", name)
        for init in INITS:
            for against, errors in against_of(element_errors(i, init, pairs), i):
                printed = PAPER_001[types_of(i), init, against]
                for column, (operation, own, paper) in enumerate(zip(OPERATIONS, errors, printed, strict=True)):
                    where = f"001, tables 12 to 15, {types_of(i)}, {init}, against {against}, {operation}"
                    agrees = f"{own:.2e}" == f"{float(paper):.2e}"
                    reason = LAST_DIGIT.get((types_of(i), init, against, column), "")
                    yield Cell(where, paper, f"{own:.2E}", agrees, reason)
