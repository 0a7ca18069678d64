"""The microbenchmarks on this machine's GPU: a CSV of every point, a text table beside the A100's, and plots.

    python -m hwtests.microbenchmarks.run FOLDER

writes points.csv, tables.txt and an SVG for each instruction. One block runs, so warps are warps of one SM.
"""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import golden
from golden.files import write_atomically
from golden.plot import svg
from hwtests.microbenchmarks.a100 import A100, A100_LOADS
from hwtests.microbenchmarks.kernels import (
    ENTRY,
    Benchmark,
    ldmatrix_benchmark,
    mma_benchmark,
    shared_load_benchmark,
    sparse_benchmark,
    wgmma_benchmark,
)
from hwtests.nvidia.device import CudaDevice
from hwtests.nvidia.kernel import target_of
from hwtests.nvidia.nvrtc import compile_cubin
from hwtests.nvidia.sparse_and_integer import SPARSE

ITERATIONS = 1024

Timer = Callable[[Benchmark, int, int], list[int]]
"""(benchmark, ILP, warps) → cycles of each warp for `ITERATIONS` turns of the loop."""


class Measured(NamedTuple):
    """One point: latency of a turn of the loop (cycles), throughput in FMA or bytes per cycle and SM."""

    name: str
    unit: str
    ilp: int
    warps: int
    latency: float
    throughput: float


def benchmarks(arch: str) -> list[Benchmark]:
    """What runs on an architecture: its unscaled mma.sync, on Hopper sparse mma and wgmma of a middle and the largest N, and
    the loads."""
    entries = [i for i in golden.instructions(arch) if i.name.startswith("mma.") and ".kind::" not in i.name]
    found = [mma_benchmark(i) for i in entries if i.c == i.d]
    found += [sparse_benchmark(instruction) for instruction in SPARSE if instruction.arch == arch]
    found += [wgmma_benchmark(i) for i in golden.instructions(arch) if i.name.startswith("wgmma.") and i.n in (64, 256)]
    found += [ldmatrix_benchmark(matrices) for matrices in (1, 2, 4)]
    found += [shared_load_benchmark(32, ways) for ways in (1, 2, 4, 8)]
    return found + [shared_load_benchmark(64, ways) for ways in (2, 4, 8)]


def measure(benchmark: Benchmark, timer: Timer) -> list[Measured]:
    """Every ILP at every number of warps: latency is the mean over the warps."""
    points = []
    for ilp in benchmark.sources:
        for warps in benchmark.warps:
            cycles = timer(benchmark, ilp, warps)
            latency = sum(cycles) / len(cycles) / ITERATIONS
            points.append(
                Measured(benchmark.name, benchmark.unit, ilp, warps, latency, benchmark.work * ilp * warps / latency)
            )
    return points


def csv(points: Iterable[Measured]) -> str:
    """All points, a line each."""
    lines = [",".join(Measured._fields)]
    lines += [f"{p.name},{p.unit},{p.ilp},{p.warps},{p.latency:.2f},{p.throughput:.1f}" for p in points]
    return "\n".join(lines) + "\n"


def tables(points: list[Measured], device: str) -> str:
    """For each instruction completion latency and peak throughput, beside the A100's of paper 001 where it has them."""
    lines = [
        f"{device} (A100 of paper 001 in parentheses)",
        "latency: cycles at one warp (wgmma: four), ILP 1; throughput: the largest, per cycle and SM",
        "",
        f"{'instruction':40} {'latency':>16} {'throughput':>22}  at warps, ILP",
    ]
    for name in dict.fromkeys(p.name for p in points):
        of_it = [p for p in points if p.name == name]
        first, best = of_it[0], max(of_it, key=lambda p: p.throughput)
        known = A100.get(name)
        paper_latency = known.completion if known else A100_LOADS.get(name)
        paper_best = max(known.four_warps.throughput, known.eight_warps.throughput) if known else None
        lines.append(
            f"{name:40} {_beside(first.latency, paper_latency):>16} {_beside(best.throughput, paper_best):>22}"
            f"  {best.warps}, {best.ilp} ({best.unit})"
        )
    return "\n".join(lines) + "\n"


def _beside(own: float, paper: float | None) -> str:
    return f"{own:.1f}" if paper is None else f"{own:.1f} ({paper:.1f})"


def timer_on(device: CudaDevice) -> Timer:
    """Times on a device."""
    xp = device.xp
    loaded = {}

    def cycles(benchmark: Benchmark, ilp: int, warps: int) -> list[int]:
        if (benchmark.name, ilp) not in loaded:
            module = xp.cuda.function.Module()
            module.load(compile_cubin(benchmark.sources[ilp], target_of(device.arch)))
            loaded[benchmark.name, ilp] = module
        function = loaded[benchmark.name, ilp].get_function(ENTRY)
        counts = xp.zeros(warps, xp.uint64)
        sink = xp.zeros(32 * warps, xp.uint32)
        for _ in range(2):  # the first run warms the caches
            sink.fill(0)
            function((1, 1, 1), (32 * warps, 1, 1), (counts, sink, xp.int32(ITERATIONS)))
        return [int(count) for count in xp.asnumpy(counts)]

    return cycles


def main(folder: Path) -> None:
    """Measure everything and write it down."""
    device = CudaDevice()
    folder.mkdir(parents=True, exist_ok=True)
    timer, points = timer_on(device), []
    for benchmark in benchmarks(device.arch):
        found = measure(benchmark, timer)
        points += found
        series = {f"{warps} warps": [(p.ilp, p.throughput) for p in found if p.warps == warps] for warps in benchmark.warps}
        text = svg(series, benchmark.name, "ILP", f"{benchmark.unit}/cycle/SM")
        write_atomically(folder / f"{benchmark.name.replace(' ', '_')}.svg", text.encode())
        write_atomically(folder / "points.csv", csv(points).encode())
    text = tables(points, device.describe().device)
    write_atomically(folder / "tables.txt", text.encode())
    print(text, end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
