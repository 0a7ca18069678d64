"""The CuPy side without CuPy: a stand-in module made of NumPy, whose kernels compute integer arithmetic on the arguments as
they would reach the device. It shows what is launched, and what is said when something is missing; nothing of a GPU."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import golden
from golden.engines import ENGINES, run_reference
from golden.stimulus import OperandShape, Tiles, generate, on_diagonals
from hwtests.device import DeviceError
from hwtests.nvidia import device as cuda_device
from hwtests.nvidia.device import CudaDevice
from hwtests.nvidia.kernel import ENTRY
from hwtests.nvidia.tcgen05 import instruction_descriptor
from tests.hwtests.conform.stand_in import arithmetic


class RuntimeFailureError(Exception):
    pass


class OutOfMemoryError(Exception):
    pass


class Function:
    """A loaded kernel: checks its launch and fills d."""

    def __init__(self, instruction: golden.Instruction, launches: list[tuple[Any, ...]]) -> None:
        self.instruction, self.launches = instruction, launches

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        i = self.instruction
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        numbers = [int(argument) for argument in arguments if not isinstance(argument, np.ndarray)]
        self.launches.append((grid, block, *numbers))
        *operands, d = arrays
        assert all(array.flags.c_contiguous and len(array) == numbers[0] for array in arrays)
        d[...] = arithmetic(i, Tiles(*operands))


def stand_in_cupy(instruction: golden.Instruction, **changes: Any) -> SimpleNamespace:
    """NumPy under CuPy's name, with as much of cupy.cuda as is used."""
    launches: list[tuple[Any, ...]] = []

    def fail() -> int:
        raise RuntimeFailureError(
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
        )

    loaded = SimpleNamespace(
        load=lambda cubin: None, get_function=lambda name: {ENTRY: Function(instruction, launches)}[name]
    )
    settings = {"devices": 1, "capability": "90"} | changes
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
    )
    names = ("empty", "concatenate", "repeat", "ascontiguousarray", "uint32", "broadcast_to", "asarray")
    numpy_functions = {name: getattr(np, name) for name in names}
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
    monkeypatch.setattr(cuda_device, "compile_cubin", lambda source, target: b"")
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
    rows = generate(OperandShape.of_instruction(instruction), tiles * min(instruction.m, instruction.n), 1).operands
    operands = on_diagonals(rows, instruction.m, instruction.n, np)
    d = device.load(instruction).run(operands)
    np.testing.assert_array_equal(d, arithmetic(instruction, operands))
    last = (instruction_descriptor(instruction),) if name.startswith("tcgen05") else ()
    assert cupy.launches == [expected + last]


def test_description(monkeypatch: pytest.MonkeyPatch) -> None:
    about = opened(monkeypatch, HOPPER)[0].describe()
    assert (about.device, about.arch) == ("NVIDIA H200", "sm_90")
    assert (about.driver, about.runtime, about.compiler) == ("CUDA 13.1", "CUDA 13.0", "NVRTC 13.0")


def test_model_is_golden_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy's arrays taken for the device's, and the reference in the place of the cuda engine."""
    device, cupy = opened(monkeypatch, HOPPER)
    cupy.ndarray = np.ndarray
    monkeypatch.setitem(ENGINES, "cuda", run_reference)
    operands = on_diagonals(generate(OperandShape.of_instruction(HOPPER), 8, 1).operands, HOPPER.m, HOPPER.n, np)
    got = device.model(HOPPER, operands)[0]
    monkeypatch.delitem(sys.modules, "cupy")
    np.testing.assert_array_equal(got, HOPPER(operands.a[0], operands.b[0].T, operands.c[0], engine="reference"))


def test_out_of_memory_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    device, cupy = opened(monkeypatch, HOPPER)

    def full(*_: Any) -> Any:
        raise OutOfMemoryError("out of memory allocating 1,024 bytes")

    cupy.empty = full
    operands = on_diagonals(generate(OperandShape.of_instruction(HOPPER), 8, 1).operands, HOPPER.m, HOPPER.n, np)
    with pytest.raises(MemoryError, match=r"^out of memory allocating 1,024 bytes$"):
        device.load(HOPPER).run(operands)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"devices": 0}, r"no CUDA device was found on this machine"),
        ({"devices": None}, r"no usable CUDA device on this machine: cudaErrorInsufficientDriver: .*"),
        ({"capability": "61"}, r"this machine's GPU has compute capability 61; the catalogue knows 70, 75, 80, .*"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match=f"^{message}$"):
        opened(monkeypatch, HOPPER, **changes)


def test_no_cupy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        DeviceError, match=r"^conformance needs CuPy, which is not installed \(.*\): pip install cupy-cuda13x$"
    ):
        CudaDevice()


def test_instruction_of_another_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = opened(monkeypatch, HOPPER)
    with pytest.raises(DeviceError, match=r"^mma\.m16n8k8\S+ of sm_75 does not run on this machine's GPU, sm_90$"):
        device.load(golden.instruction("sm_75", "mma.m16n8k8.f32.f16.f16.f32"))
