"""The HIP route without ROCm: a stand-in for hip-python shows what is copied and launched, and what is said when something
is missing; nothing of a GPU. Its functions take what hip-python's take (7.2)."""

import ctypes
import re
import sys
from enum import Enum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import golden
from golden.stimulus import OperandShape, Tiles, generate, on_diagonals
from hwtests import devices
from hwtests.amd import hip_device as amd_device
from hwtests.amd.hip_device import HipDevice
from hwtests.device import DeviceError
from tests.hwtests.conform.stand_in import arithmetic

CDNA3 = golden.instruction("gfx942", "v_mfma_f32_16x16x16_f16")
FOUR_BLOCKS = golden.instruction("gfx942", "v_mfma_f32_16x16x4_4b_f16")


class Status(Enum):
    hipSuccess = 0
    hipErrorOutOfMemory = 2
    hipErrorInvalidValue = 1


class Hip(ModuleType):
    """hip.hip: memory is a list of byte arrays, a kernel the integer arithmetic of an instruction."""

    hipError_t = Status
    hipMemcpyKind = SimpleNamespace(hipMemcpyHostToDevice="to", hipMemcpyDeviceToHost="from")

    def __init__(self, instruction: golden.Instruction, devices: int = 1, arch: str = "gfx942") -> None:
        super().__init__("hip.hip")
        self.instruction, self.devices, self.arch = instruction, devices, arch
        self.memory: dict[int, bytearray] = {}
        self.launches: list[tuple[int, ...]] = []
        self.largest = 1 << 30

    def hipGetDeviceCount(self) -> tuple[Status, int]:
        if not self.devices:
            raise RuntimeError("failed to dlopen 'libamdhip64.so'")
        return Status.hipSuccess, self.devices

    def hipDeviceProp_t(self) -> SimpleNamespace:
        return SimpleNamespace(
            name=b"AMD Instinct MI300X",
            gcnArchName=f"{self.arch}:sramecc+:xnack-".encode(),
            uuid=SimpleNamespace(bytes=b"ab"),
        )

    def hipGetDeviceProperties(self, properties: Any, index: int) -> tuple[Status]:
        return (Status.hipSuccess,)

    def hipDriverGetVersion(self) -> tuple[Status, int]:
        return Status.hipSuccess, 70226015

    hipRuntimeGetVersion = hipDriverGetVersion

    def hipModuleLoadData(self, image: bytes) -> tuple[Status, bytes]:
        return Status.hipSuccess, image

    def hipModuleGetFunction(self, module: bytes, name: bytes) -> tuple[Status, bytes]:
        assert name == b"run_tiles"
        return Status.hipSuccess, module

    def hipMalloc(self, size: int) -> tuple[Status, int] | tuple[Status]:
        if size > self.largest:
            return (Status.hipErrorOutOfMemory,)
        pointer = len(self.memory) + 1000
        self.memory[pointer] = bytearray(size)
        return Status.hipSuccess, pointer

    def hipMemcpy(self, target: Any, source: Any, size: int, kind: str) -> tuple[Status]:
        if kind == "to":
            assert source.nbytes == size == len(self.memory[target])
            self.memory[target][:] = source.tobytes()
        else:
            target.reshape(-1).view(np.uint8)[:] = np.frombuffer(bytes(self.memory[source]), np.uint8)
        return (Status.hipSuccess,)

    def hipModuleLaunchKernel(
        self, f: Any, x: int, y: int, z: int, a: int, b: int, c: int, *, sharedMemBytes: int, stream: Any, kernelParams: Any,
        extra: tuple[Any, ...],
    ) -> tuple[Status]:  # fmt: skip
        *pointers, tiles = extra
        assert isinstance(tiles, ctypes.c_uint)
        self.launches.append((x, y, z, a, b, c, tiles.value))
        i, count = self.instruction, tiles.value
        shapes = ((i.a, i.m, i.k), (i.b, i.n, i.k), (i.c, i.m, i.n))
        made = [
            np.frombuffer(bytes(self.memory[pointer]), f"u{operand.storage_bits // 8}").reshape(count, *shape)
            for pointer, (operand, *shape) in zip(pointers, shapes, strict=False)
        ]
        self.memory[pointers[3]][:] = arithmetic(i, Tiles(*made)).tobytes()
        return (Status.hipSuccess,)

    def hipDeviceSynchronize(self) -> tuple[Status]:
        return (Status.hipSuccess,)

    def hipFree(self, pointer: int) -> tuple[Status]:
        del self.memory[pointer]
        return (Status.hipSuccess,)


def opened(monkeypatch: pytest.MonkeyPatch, instruction: golden.Instruction, **changes: Any) -> tuple[HipDevice, Hip]:
    hip = Hip(instruction, **changes)
    monkeypatch.setitem(sys.modules, "hip", ModuleType("hip"))
    monkeypatch.setitem(sys.modules, "hip.hip", hip)
    monkeypatch.setattr(amd_device, "assembly", lambda source, arch, wave: f"\t{instruction.name} a, b\n")
    monkeypatch.setattr(amd_device, "code_object", lambda text, arch, wave: b"code object")
    return HipDevice(), hip


@pytest.mark.parametrize(
    ("instruction", "tiles", "launch"),
    [(CDNA3, 5, (2, 1, 1, 256, 1, 1, 8)), (FOUR_BLOCKS, 17, (2, 1, 1, 256, 1, 1, 32))],
    ids=["one-block", "four-blocks"],
)
def test_launch(
    instruction: golden.Instruction, tiles: int, launch: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    device, hip = opened(monkeypatch, instruction)
    rows = generate(OperandShape.of(instruction), tiles * min(instruction.m, instruction.n), 1).operands
    operands = on_diagonals(rows, instruction.m, instruction.n, np)
    (program,) = device.load(instruction)
    np.testing.assert_array_equal(program.run(operands), arithmetic(instruction, operands))
    assert hip.launches == [launch]
    assert hip.memory == {}
    assert program.machine_code == program.expected_code == {instruction.name: 1}


def test_out_of_memory_frees_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    device, hip = opened(monkeypatch, CDNA3)
    (program,) = device.load(CDNA3)
    hip.largest = 3000
    rows = generate(OperandShape.of(CDNA3), 64, 1).operands
    with pytest.raises(MemoryError, match=r"^hipMalloc: hipErrorOutOfMemory$"):
        program.run(on_diagonals(rows, CDNA3.m, CDNA3.n, np))
    assert hip.memory == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"devices": 0}, r"no usable HIP device on this machine: failed to dlopen 'libamdhip64\.so'"),
        (
            {"arch": "gfx1030"},
            r"this machine's GPU is gfx1030; the catalogue knows gfx1100, gfx1151, gfx1201, gfx908, gfx90a, gfx942, gfx950",
        ),
    ],
)  # fmt: skip
def test_missing_device_is_an_error(changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match=f"^{message}$"):
        opened(monkeypatch, CDNA3, **changes)


def test_missing_hip_python_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hip.hip", None)
    message = r"^an AMD GPU needs hip-python, which is not installed \(.*\): pip install hip-python$"
    with pytest.raises(DeviceError, match=message):
        HipDevice()


def test_instruction_of_another_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = opened(monkeypatch, CDNA3)
    with pytest.raises(DeviceError, match=r"^v_mfma_f32_32x32x1f32 of gfx908 does not run on this machine's GPU, gfx942$"):
        device.load(golden.instruction("gfx908", "v_mfma_f32_32x32x1f32"))


@pytest.mark.parametrize(
    ("cupy", "hip", "arch", "expected"),
    [
        (False, True, None, "amd"),
        (True, True, None, "nvidia"),
        (False, False, None, "nvidia"),
        (True, True, "gfx1201", "amd"),
        (False, False, "gfx1201", "amd"),
        (False, True, "sm_90", "nvidia"),
    ],
)
def test_amd_is_taken_where_it_is_asked_for_or_there_is_no_cupy(
    cupy: bool, hip: bool, arch: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = {"cupy": cupy, "hip": hip}
    monkeypatch.setattr(devices, "find_spec", lambda name: object() if present[name] else None)
    monkeypatch.setattr("hwtests.amd.hip_device.HipDevice", lambda: "amd")
    monkeypatch.setattr("hwtests.nvidia.cupy_device.CudaDevice", lambda: "nvidia")
    found: Any = devices.open_device(arch)
    assert found == expected


@pytest.mark.amd_compiler  # installed with the compilers
def test_package_has_what_the_device_calls() -> None:
    """Beside hip-python itself, where it is installed; it needs no ROCm for that."""
    hip = pytest.importorskip("hip.hip", reason="hip-python is not installed")
    source = Path(amd_device.__file__).read_text(encoding="utf-8")
    called = set(re.findall(r'"(hip[A-Z]\w+)"', source))
    assert len(called) >= 10
    for name in (*called, "hipDeviceProp_t", "hipError_t.hipSuccess", "hipError_t.hipErrorOutOfMemory",
                 "hipMemcpyKind.hipMemcpyHostToDevice", "hipMemcpyKind.hipMemcpyDeviceToHost"):  # fmt: skip
        found = hip
        for part in name.split("."):
            found = getattr(found, part)
    for attribute in ("gcnArchName", "name", "uuid"):
        assert hasattr(hip.hipDeviceProp_t(), attribute)
