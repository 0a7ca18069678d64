"""The CuPy side without CuPy: a stand-in module made of NumPy, whose kernels compute integer arithmetic on the arguments as
they would reach the device. It shows what is launched, and what is said when something is missing; nothing of a GPU."""

import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import golden
from golden.engines.engine import ENGINES, run_reference
from golden.stimulus import OperandShape, Tiles, generate, on_diagonals
from hwtests import on_host
from hwtests.device import DeviceError
from hwtests.nvidia import cupy_device as cuda_device
from hwtests.nvidia import volume as cuda_volume
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.nvidia.source import ENTRY
from hwtests.nvidia.tcgen05 import instruction_descriptor
from hwtests.tally import E_ZERO_TILES, tally
from tests.hwtests.conform.stand_in import arithmetic, fill_tiles, write_counts


class RuntimeFailureError(Exception):
    pass


class OutOfMemoryError(Exception):
    pass


class DriverFailureError(Exception):
    pass


class Function:
    """A loaded kernel: checks its launch and does its work on NumPy arrays."""

    def __init__(self, instruction: golden.Instruction, launches: list[tuple[Any, ...]], wrong: bool) -> None:
        self.instruction, self.launches, self.wrong = instruction, launches, wrong

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        i = self.instruction
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        numbers = [int(argument) for argument in arguments if not isinstance(argument, np.ndarray)]
        self.launches.append((grid, block, *numbers))
        *operands, d = arrays
        assert all(array.flags.c_contiguous and len(array) == numbers[0] for array in arrays)
        d[...] = arithmetic(i, Tiles(*operands))
        if self.wrong:
            d[2, 1, 3] ^= 1


class Fill(Function):
    """fill_tiles."""

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        corners, seed, first, count, *arrays, labels = arguments
        self.launches.append(("fill_tiles", sum(a.nbytes for a in arrays if isinstance(a, np.ndarray)) + labels.nbytes))
        fill_tiles(self.instruction, corners, seed, first, count, *arrays, labels)


class Compare(Function):
    """compare_tiles, whose model is the integer arithmetic; that of another e_zero differs by one in the third column."""

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        a, b, c, scale_a, scale_b, d, labels, count, every, m, n, counters, differences = arguments
        present = [x for x in (a, b, c, scale_a, scale_b, d) if isinstance(x, np.ndarray)]
        self.launches.append(("compare_tiles", sum(x.nbytes for x in present) // int(every) + counters.nbytes))
        i = self.instruction
        assert (len(d), m, n) == (count, i.m, i.n)
        scales = [x if isinstance(x, np.ndarray) else None for x in (scale_a, scale_b)]
        tiles = Tiles(a, b, c, *scales)
        expected = arithmetic(i, tiles)
        if every > 1:
            expected[:, :, 2] += 1
        chosen = slice(None, None, int(every))
        found = tally(i, on_host.every(tiles, int(every)), labels[chosen], on_host.NAMES, 0, d[chosen], expected[chosen])
        write_counts(found, counters, differences, m, n)


def stand_in_cupy(instruction: golden.Instruction, **changes: Any) -> SimpleNamespace:
    """NumPy under CuPy's name, with as much of cupy.cuda as is used."""
    launches: list[tuple[Any, ...]] = []
    settings: dict[str, Any] = {"devices": 1, "capability": "90", "wrong": False} | changes

    def fail() -> int:
        raise RuntimeFailureError(
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
        )

    functions = {
        ENTRY: Function(instruction, launches, settings["wrong"]),
        "fill_tiles": Fill(instruction, launches, False),
        "compare_tiles": Compare(instruction, launches, False),
    }
    loaded = SimpleNamespace(load=lambda cubin: None, get_function=functions.__getitem__)
    runtime = SimpleNamespace(
        CUDARuntimeError=RuntimeFailureError,
        getDeviceCount=fail if settings["devices"] is None else lambda: settings["devices"],
        getDeviceProperties=lambda index: {"name": b"NVIDIA H200"},
        driverGetVersion=lambda: 13010,
        runtimeGetVersion=lambda: 13000,
        deviceSynchronize=lambda: None,
    )
    cuda = SimpleNamespace(
        runtime=runtime,
        Device=lambda: SimpleNamespace(compute_capability=settings["capability"]),
        function=SimpleNamespace(Module=lambda: loaded),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        driver=SimpleNamespace(CUDADriverError=DriverFailureError),
    )
    names = ("empty", "empty_like", "full", "zeros", "concatenate", "repeat", "ascontiguousarray", "asarray")
    numpy_functions = {name: getattr(np, name) for name in (*names, "uint8", "uint32", "uint64", "int32", "int64")}
    pool = SimpleNamespace(free_all_blocks=lambda: None)
    return SimpleNamespace(
        cuda=cuda,
        launches=launches,
        ndarray=SimpleNamespace,
        asnumpy=np.asarray,
        get_default_memory_pool=lambda: pool,
        **numpy_functions,
    )


def opened(monkeypatch: pytest.MonkeyPatch, instruction: golden.Instruction, **changes: Any) -> tuple[CudaDevice, Any]:
    cupy = stand_in_cupy(instruction, **changes)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(cuda_device, "cubin", lambda source, target: b"")
    monkeypatch.setattr(cuda_volume, "cubin", lambda source, target, include: b"")
    monkeypatch.setattr(cuda_device, "version", lambda major: f"{major}.0")
    return CudaDevice(), cupy


HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")


@pytest.mark.parametrize(
    ("arch", "name", "capability", "tiles", "expected"),
    [
        ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", "90", 5, ((2, 1, 1), (128, 1, 1), 8)),
        ("sm_70", "mma.m8n8k4.f32.f16.f16.f16", "70", 17, ((2, 1, 1), (128, 1, 1), 32)),
        ("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", "120", 4, ((1, 1, 1), (128, 1, 1), 4)),
        ("sm_100", "tcgen05.m64n16k16.kind::f16.f32.f16.f16", "100", 3, ((3, 1, 1), (128, 1, 1), 3, 16)),
    ],
    ids=["mma", "quad-pairs", "scaled", "tcgen05"],
)
def test_launch(
    arch: str, name: str, capability: str, tiles: int, expected: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles are filled up to whole blocks, arguments come in the kernel's order, results of the padding are dropped."""
    instruction = golden.instruction(arch, name)
    device, cupy = opened(monkeypatch, instruction, capability=capability)
    rows = generate(OperandShape.of(instruction), tiles * min(instruction.m, instruction.n), 1).operands
    operands = on_diagonals(rows, instruction.m, instruction.n, np)
    d = device.load(instruction)[0].run(operands)
    np.testing.assert_array_equal(d, arithmetic(instruction, operands))
    last = (instruction_descriptor(instruction),) if name.startswith("tcgen05") else ()
    assert cupy.launches == [expected + last]


def test_model_is_golden_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy's arrays taken for the device's, and the reference in the place of the cuda engine."""
    device, cupy = opened(monkeypatch, HOPPER)
    cupy.ndarray = np.ndarray
    monkeypatch.setitem(ENGINES, "cuda", run_reference)
    rows = generate(OperandShape.of(HOPPER), 8, 1).operands
    got = device.dot(HOPPER.chain, rows)
    monkeypatch.delitem(sys.modules, "cupy")
    np.testing.assert_array_equal(got, HOPPER.dot(*rows, engine="reference"))


SCALED = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")


@pytest.mark.parametrize(("instruction", "capability"), [(HOPPER, "90"), (SCALED, "120")], ids=["plain", "scaled"])
def test_comparison_at_volume(instruction: golden.Instruction, capability: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four launches; what comes back is what the definition on the host counts, and one wrong element by its place."""
    device, cupy = opened(monkeypatch, instruction, capability=capability, wrong=True)
    (program,) = device.load(instruction)
    found = device.compare(instruction, program, 7, 100, 64)
    tiles, labels = on_host.tiles_of(instruction, 7, 100, 64)
    got = arithmetic(instruction, tiles)
    expected = got.copy()
    got[2, 1, 3] ^= 1
    other = expected[::E_ZERO_TILES].copy()
    other[:, :, 2] += 1
    by_definition = tally(instruction, tiles, labels, on_host.NAMES, 100, got, expected, other)
    assert replace(found, rows=None) == replace(by_definition, rows=None)
    assert found.rows is not None
    np.testing.assert_array_equal(found.rows.a, tiles.a[2:3, 1])
    np.testing.assert_array_equal(found.rows.b, tiles.b[2:3, 3])
    np.testing.assert_array_equal(found.rows.c, tiles.c[2:3, 1, 3])
    if tiles.scale_a is not None and tiles.scale_b is not None:
        np.testing.assert_array_equal(found.rows.scale_a, tiles.scale_a[2:3, 1])
        np.testing.assert_array_equal(found.rows.scale_b, tiles.scale_b[2:3, 3])
    assert [(x.tile, x.row, x.column) for x in found.differences] == [(102, 1, 3)]
    assert found.e_zero_cases == 4 * instruction.m
    assert len(cupy.launches) == 4


def test_out_of_memory_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    device, cupy = opened(monkeypatch, HOPPER)

    def full(*_: Any) -> Any:
        raise OutOfMemoryError("out of memory allocating 1,024 bytes")

    cupy.empty = cupy.full = full
    operands = on_diagonals(generate(OperandShape.of(HOPPER), 8, 1).operands, HOPPER.m, HOPPER.n, np)
    with pytest.raises(MemoryError, match=r"^out of memory allocating 1,024 bytes$"):
        device.load(HOPPER)[0].run(operands)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"devices": 0}, r"no CUDA device was found on this machine"),
        ({"devices": None}, r"no usable CUDA device on this machine: cudaErrorInsufficientDriver: .*"),
        ({"capability": "61"}, r"this machine's GPU has compute capability 61; the catalogue knows 70, 75, 80, .*"),
    ],
)
def test_missing_device_is_an_error(changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match=f"^{message}$"):
        opened(monkeypatch, HOPPER, **changes)


def test_missing_cupy_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    message = (
        r"^conformance needs CuPy, which is not installed \(.*\): pip install cupy-cuda13x, or hip-python for an AMD GPU$"
    )
    with pytest.raises(DeviceError, match=message):
        CudaDevice()


def test_instruction_of_another_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = opened(monkeypatch, HOPPER)
    with pytest.raises(DeviceError, match=r"^mma\.m16n8k8\S+ of sm_75 does not run on this machine's GPU, sm_90$"):
        device.load(golden.instruction("sm_75", "mma.m16n8k8.f32.f16.f16.f32"))
