"""The microbenchmarks on this machine's GPU: a CSV of every point, a text table beside the figures of paper 001, and plots.

    python -m studies.microbenchmarks.run FOLDER

writes points.csv, tables.txt and, where matplotlib is installed, an SVG for each instruction. One block runs, so warps are
warps of one SM. Points that a run before has written are not measured again; a point that cannot run, above all for want of
registers, is written with the reason and passed over.
"""

import csv
import io
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import golden
from golden.arithmetic.formats import INTEGERS
from golden.files import write_atomically
from golden.native.cuda import cubin
from hwtests.device import first_line
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.nvidia.source import target_of
from hwtests.nvidia.volume import cuda_errors, loaded
from mmau.report.figures import line_plot
from studies.microbenchmarks.timed_loops import (
    ENTRY,
    Benchmark,
    ldmatrix_benchmark,
    mma_benchmark,
    shared_load_benchmark,
    wgmma_benchmark,
)


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


REGISTERS_PER_SM = 65536
"""32-bit registers of an SM, which one block may take, from sm_70 to sm_120 (CUDA programming guide)."""

_GRANULE = 256
"""Registers are allocated to a warp in units of this many."""

_SIZED, _REGCOUNT = 4, 0x2F


def registers(cubin: bytes) -> int:
    """Registers of a thread, the most of any kernel in the cubin.

    Raises:
        ValueError: the file does not say.
    """
    counts = [
        int(struct.unpack_from("<II", value)[1])
        for section in _info_sections(cubin)
        for attribute, value in _attributes(section)
        if attribute == _REGCOUNT
    ]
    if not counts:
        raise ValueError("the cubin does not say how many registers its kernel takes")
    return max(counts)


def largest_block(cubin: bytes) -> int:
    """Largest number of warps of a block of the kernel that its registers allow."""
    of_a_warp = -(-registers(cubin) * 32 // _GRANULE) * _GRANULE
    return REGISTERS_PER_SM // of_a_warp


def _info_sections(cubin: bytes) -> Iterator[bytes]:
    if not cubin.startswith(b"\x7fELF\x02"):
        raise ValueError("a cubin must be a 64-bit ELF file")
    (start,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + size * index) for index in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        if cubin[at : cubin.index(b"\0", at)] == b".nv.info":
            yield cubin[header[4] : header[4] + header[5]]


def _attributes(section: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(section):
        kind, attribute, size = struct.unpack_from("<BBH", section, at)
        length = size if kind == _SIZED else 0
        yield attribute, section[at + 4 : at + 4 + length]
        at += 4 + length


ITERATIONS = 1024

Timer = Callable[[Benchmark, int, int], list[int]]
"""(benchmark, ILP, warps) → cycles of each warp for `ITERATIONS` turns of the loop; PointError where it cannot run."""

POINTS = "points.csv"


class PointError(ValueError):
    """A point that cannot run here; the message says why."""


class Measured(NamedTuple):
    """One measured point: latency of a turn of the loop (cycles, mean of the warps), and throughput of all warps in the time
    of the slowest (FMA or bytes per cycle and SM). A point that could not run has neither, and a note says why."""

    name: str
    unit: str
    ilp: int
    warps: int
    latency: float
    throughput: float
    note: str = ""


def benchmarks(arch: str) -> list[Benchmark]:
    """The benchmarks of an architecture: its unscaled mma.sync, on Hopper sparse mma and wgmma of a middle and the largest
    N, and the loads. Signed integers that wrap, and single bits, represent all integers."""
    timed = [i for i in golden.instructions(arch) if i.a.name not in INTEGERS or is_timed(i)]
    entries = [i for i in timed if i.name.startswith("mma.") and ".kind::" not in i.name]
    found = [mma_benchmark(i) for i in entries if i.c == i.d]
    sparse = [i for i in golden.sparse_instructions(arch) if i.a.name not in INTEGERS or is_timed(i)]
    found += [mma_benchmark(i) for i in sparse if i.name.startswith("mma.")]
    found += [wgmma_benchmark(i) for i in timed if i.name.startswith("wgmma.") and i.n in (64, 256)]
    found += [ldmatrix_benchmark(matrices) for matrices in (1, 2, 4)]
    found += [shared_load_benchmark(32, ways) for ways in (1, 2, 4, 8)]
    return found + [shared_load_benchmark(64, ways) for ways in (2, 4, 8)]


def is_timed(i: golden.Instruction) -> bool:
    """Whether an instruction on integers is timed; some instructions represent all."""
    return i.a.name in ("int8", "int4", "b1") and i.a == i.b and ".satfinite" not in i.name


def measure(benchmark: Benchmark, timer: Timer, known: Iterable[Measured] = ()) -> Iterator[Measured]:
    """Measure every ILP at every number of warps that is not known yet."""
    done = {(point.name, point.ilp, point.warps) for point in known}
    for ilp in benchmark.sources:
        for warps in benchmark.warps:
            if (benchmark.name, ilp, warps) in done:
                continue
            try:
                cycles = timer(benchmark, ilp, warps)
            except ValueError as error:  # PointError, or the compiler's
                yield Measured(benchmark.name, benchmark.unit, ilp, warps, 0.0, 0.0, first_line(error))
                continue
            latency, slowest = sum(cycles) / len(cycles) / ITERATIONS, max(cycles) / ITERATIONS
            yield Measured(
                benchmark.name,
                benchmark.unit,
                ilp,
                warps,
                round(latency, 2),
                round(benchmark.work * ilp * warps / slowest, 1),
            )


def check_warps(binary: bytes, warps: int) -> None:
    """Raise PointError where a block of `warps` warps takes more registers than an SM has."""
    if warps > largest_block(binary):
        raise PointError(f"{registers(binary)} registers a thread leave room for {largest_block(binary)} warps")


def write_points(path: Path, points: Iterable[Measured]) -> None:
    """All points, a line each; the file appears whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Measured._fields)
    writer.writerows(points)
    write_atomically(path, text.getvalue().encode())


def read_points(path: Path) -> list[Measured]:
    """The points of a file; none if the file does not exist.

    Raises:
        ValueError: not such a file. OSError: it cannot be read.
    """
    if not path.exists():
        return []
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    try:
        if tuple(rows[0]) != Measured._fields:
            raise ValueError(f"its columns must be {', '.join(Measured._fields)}")
        return [Measured(row[0], row[1], int(row[2]), int(row[3]), float(row[4]), float(row[5]), row[6]) for row in rows[1:]]
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path} holds no points: {error}; name another folder or remove it") from error


def tables(points: list[Measured], device: str) -> str:
    """For each instruction its completion latency and peak throughput, beside those of paper 001's GPUs that have it."""
    lines = [
        f"{device} (in parentheses paper 001's {', '.join(GPUS)}; - where it has none)",
        "latency: cycles at one warp (wgmma: four), ILP 1; throughput: the largest, per cycle and SM",
        "",
        f"{'instruction':40} {'latency':>28} {'throughput':>38}  at warps, ILP",
    ]
    for name in dict.fromkeys(p.name for p in points):
        of_it = [p for p in points if p.name == name and not p.note]
        if not of_it:
            lines.append(f"{name:40} {next(p.note for p in points if p.name == name)}")
            continue
        first, best = of_it[0], max(of_it, key=lambda p: p.throughput)
        found = [gpu.get(name) for gpu in GPUS.values()]
        latencies = [figures and figures.completion for figures in found]
        if name in A100_LOADS:
            latencies[0] = A100_LOADS[name]
        throughputs = [figures and max(figures[1].throughput, figures[2].throughput) for figures in found]
        lines.append(
            f"{name:40} {_beside(first.latency, latencies):>28} {_beside(best.throughput, throughputs):>38}"
            f"  {best.warps}, {best.ilp} ({best.unit})"
        )
    return "\n".join(lines) + "\n"


def _beside(own: float, papers: Sequence[float | None]) -> str:
    """An own figure, and those of the paper's GPUs where one of them has it."""
    known = ", ".join("-" if paper is None else f"{paper:.1f}" for paper in papers)
    return f"{own:.1f}" if all(paper is None for paper in papers) else f"{own:.1f} ({known})"


def timer_on(device: CudaDevice) -> Timer:
    """A timer that runs benchmarks on a device."""
    xp = device.xp
    functions = {}

    def cycles(benchmark: Benchmark, ilp: int, warps: int) -> list[int]:
        binary = cubin(benchmark.sources[ilp], target_of(device.arch))
        check_warps(binary, warps)
        with cuda_errors(xp):
            if (benchmark.name, ilp) not in functions:
                functions[benchmark.name, ilp] = loaded(xp, binary, ENTRY)
            counts = xp.zeros(warps, xp.uint64)
            sink = xp.zeros(32 * warps, xp.uint32)
            for _ in range(2):  # the first run warms the caches
                sink.fill(0)
                functions[benchmark.name, ilp]((1, 1, 1), (32 * warps, 1, 1), (counts, sink, xp.int32(ITERATIONS)))
            return [int(count) for count in xp.asnumpy(counts)]

    return cycles


def run_all(folder: Path, arch: str, timer: Timer, report: Callable[[Measured], None]) -> list[Measured]:
    """Measure what is not in the folder yet; every point is written as it comes.

    Args:
        report: called after every point; what it raises stops the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    points = read_points(folder / POINTS)
    for benchmark in benchmarks(arch):
        for point in measure(benchmark, timer, points):
            points.append(point)
            write_points(folder / POINTS, points)
            report(point)
    return points


def write_tables(folder: Path, points: list[Measured], device: str) -> str:
    """Write the table as text into the folder, and return it."""
    text = tables(points, device)
    write_atomically(folder / "tables.txt", text.encode())
    return text


def write_plots(folder: Path, points: list[Measured]) -> str:
    """A plot for each instruction.

    Returns:
        A line to print: how many there are, or that matplotlib is missing, as on most machines with a GPU.
    """
    names = list(dict.fromkeys(p.name for p in points if not p.note))
    for name in names:
        of_it = [p for p in points if p.name == name and not p.note]
        warps = sorted({p.warps for p in of_it})
        series = {f"{count} warps": [(p.ilp, p.throughput) for p in of_it if p.warps == count] for count in warps}
        try:
            plot = line_plot(series, name, "ILP", f"{of_it[0].unit}/cycle/SM")
        except ModuleNotFoundError as error:
            return f"no plots: {error.name} is not installed; install the extra `plots` (pip install 'mmau[plots]')"
        write_atomically(folder / f"{name.replace(' ', '_')}.svg", plot)
    return f"plots of {len(names)} instructions in {folder}"


def main(folder: Path) -> None:
    """Measure all points that are not measured yet, and write the tables and plots."""
    device = CudaDevice()
    points = run_all(folder, device.arch, timer_on(device), lambda point: None)
    print(write_tables(folder, points, device.describe().device), end="")
    print(write_plots(folder, points))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
