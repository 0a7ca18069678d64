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
from hwtests.nvidia.kernel import target_of
from hwtests.nvidia.volume import cuda_errors, loaded
from mmau.report.figures import line_plot
from studies.microbenchmarks.published import A100_LOADS, GPUS
from studies.microbenchmarks.timed_loops import (
    ENTRY,
    Benchmark,
    ldmatrix_benchmark,
    mma_benchmark,
    shared_load_benchmark,
    wgmma_benchmark,
)

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
