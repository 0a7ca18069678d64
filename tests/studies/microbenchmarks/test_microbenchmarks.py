"""Microbenchmarks without a GPU: the loops hold what they time, and figures follow from cycles. Nothing is measured here."""

import re
from collections import Counter
from pathlib import Path

import pytest

import golden
from golden.native.nvrtc import compile_cubin
from hwtests.nvidia.disassembly import expected, sass
from studies.microbenchmarks import run
from studies.microbenchmarks.run import (
    ITERATIONS,
    POINTS,
    Measured,
    PointError,
    benchmarks,
    check_warps,
    largest_block,
    measure,
    read_points,
    registers,
    run_all,
    write_plots,
    write_tables,
)
from studies.microbenchmarks.timed_loops import Benchmark, shared_load_benchmark
from tests.hwtests.compilers import needs_cuda_compiler

HOPPER = {benchmark.name: benchmark for benchmark in benchmarks("sm_90")}

SAMPLE = [
    "mma.m16n8k16.f32.f16.f16.f32",
    "mma.m16n8k8.f64.f64.f64.f64",
    "mma.m16n8k32.s32.s8.s8.s32",
    "wgmma.m64n64k32.s32.s8.s8",
    "mma.sp.m16n8k32.f32.f16.f16.f32",
    "wgmma.m64n64k32.f16.e5m2.e4m3",
    "ldmatrix.x4",
    "ld.shared.u64 4-way",
]


def timed(name: str) -> str:
    """The SASS mnemonic that a benchmark times."""
    if name.startswith("ldmatrix"):
        return "LDSM.16.M88" + {"1": "", "2": ".2", "4": ".4"}[name[-1]]
    if name.startswith("ld.shared"):
        return "LDS.64" if "u64" in name else "LDS"
    if ".sp." in name:
        return "HMMA.SP." + "".join(re.findall(r"\d+", name.split(".")[2])) + ".F32"
    if ".s8.s8" in name:
        shape = re.findall(r"\d+", name.split(".")[1])
        return "IGMMA." + "x".join(shape) + ".S8.S8" if name.startswith("wgmma") else f"IMMA.{''.join(shape)}.S8.S8"
    return next(iter(expected(golden.instruction("sm_90", name))))


@needs_cuda_compiler
@pytest.mark.parametrize("name", SAMPLE)
def test_loop_holds_as_many_as_its_ilp(name: str) -> None:
    benchmark = HOPPER[name]
    for ilp in (1, max(benchmark.sources)):
        assembly = sass(compile_cubin(benchmark.sources[ilp], "sm_90a"))
        assert Counter(mnemonic for mnemonic, _ in assembly)[timed(name)] == ilp
        clocks = [n for n, (mnemonic, operands) in enumerate(assembly) if "CLOCK" in operands]
        inside = [mnemonic for mnemonic, _ in assembly[clocks[0] : clocks[-1]]]
        assert len(clocks) == 2
        assert inside.count(timed(name)) == ilp


@needs_cuda_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_loop_compiles(arch: str) -> None:
    for benchmark in benchmarks(arch):
        for source in benchmark.sources.values():
            compile_cubin(source, arch + "a" * (arch == "sm_90"))


def test_figures_follow_from_cycles() -> None:
    """Two warps of 1000 and 1048 cycles: latency by their mean, 1024, throughput by the slower one."""
    benchmark = Benchmark(name="x", unit="FMA", work=2048, sources={3: ""}, warps=(2,))
    (point,) = measure(benchmark, lambda *_: [1000, 1048])
    assert ITERATIONS == 1024
    assert point == Measured("x", "FMA", 3, 2, 1.0, round(2048 * 3 * 2 * 1024 / 1048, 1))


def two_benchmarks(arch: str) -> list[Benchmark]:
    return [Benchmark(name=name, unit="FMA", work=1, sources={1: "", 2: ""}, warps=(1, 4)) for name in ("x, y", "z")]


def test_points_are_written_as_they_come_and_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after five of eight points: a second run measures the other three."""
    monkeypatch.setattr(run, "benchmarks", two_benchmarks)
    asked: list[tuple[str, int, int]] = []

    def timer(benchmark: Benchmark, ilp: int, warps: int) -> list[int]:
        asked.append((benchmark.name, ilp, warps))
        return [1024 * ilp] * warps

    def stop(point: Measured) -> None:
        if len(asked) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all(tmp_path, "sm_90", timer, stop)
    assert len(read_points(tmp_path / POINTS)) == 5
    points = run_all(tmp_path, "sm_90", timer, stop)
    assert len(asked) == len(set(asked)) == 8
    assert points == read_points(tmp_path / POINTS)
    assert points[1] == Measured("x, y", "FMA", 1, 4, 1.0, 4.0)


@pytest.mark.slow
def test_point_that_cannot_run_is_recorded_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "benchmarks", two_benchmarks)

    def timer(benchmark: Benchmark, ilp: int, warps: int) -> list[int]:
        if warps == 4 or benchmark.name == "z":
            raise PointError("218 registers a thread leave room for 3 warps")
        return [1024]

    points = run_all(tmp_path, "sm_90", timer, lambda point: None)
    assert [bool(point.note) for point in points] == [False, True] * 2 + [True] * 4
    assert read_points(tmp_path / POINTS) == points
    text = write_tables(tmp_path, points, "a device")
    assert "z                                        218 registers a thread leave room for 3 warps" in text
    assert write_plots(tmp_path, points) == f"plots of 1 instructions in {tmp_path}"
    assert [path.name for path in tmp_path.glob("*.svg")] == ["x,_y.svg"]


@pytest.mark.parametrize("text", ["", "name\n", "name,unit,ilp,warps,latency,throughput,note\nx,FMA,one,1,1,1,\n"])
def test_file_that_holds_no_points_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / POINTS).write_text(text)
    with pytest.raises(ValueError, match=r"points\.csv holds no points: .*; name another folder or remove it$"):
        read_points(tmp_path / POINTS)


@needs_cuda_compiler
def test_warps_are_bounded_by_registers() -> None:
    """A wgmma of N = 256 takes 154 registers and more: 160 · 32 of 65,536 are 12 warps, and 16 are refused."""
    binary = compile_cubin(HOPPER["wgmma.m64n256k16.f32.f16.f16"].sources[1], "sm_90a")
    assert 150 <= registers(binary) <= 160
    assert largest_block(binary) == 12
    check_warps(binary, 12)
    with pytest.raises(PointError, match=r"^1\d\d registers a thread leave room for 12 warps$"):
        check_warps(binary, 16)


@pytest.mark.parametrize("ways", [1, 2, 4, 8])
def test_lanes_fall_on_banks_as_named(ways: int) -> None:
    """A bank is a 4-byte word modulo 32; `ways` lanes of a warp read different words of each bank that is read."""
    stride = re.search(r"threadIdx\.x % 32 \* (\d+)", shared_load_benchmark(32, ways).sources[1])
    assert stride is not None
    words = [lane * int(stride[1]) // 4 for lane in range(32)]
    assert set(Counter(word % 32 for word in words).values()) == {ways}
    assert len(set(words)) == 32
