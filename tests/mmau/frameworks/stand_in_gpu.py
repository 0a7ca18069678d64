"""A GPU's place on a machine without one: tensors that say they are on "cuda", and a driver whose launches run the very
kernels on the host (tests.golden.native.gpu_host)."""

import ctypes
import os
import re
import subprocess
import tempfile
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from golden.native import cuda, driver
from golden.native.library import library
from golden.native.parameters import KEYS, Parameters
from mmau.frameworks.pytorch import torch
from tests.golden.native.gpu_host import host_library

DRIVER = Path(__file__).parents[2] / "golden" / "native" / "stand_in_driver.c"

RUN = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.POINTER(ctypes.c_void_p)
)

BATCH = 12
"""Words of struct mmau_batch, of 64 bits each; rows and columns are words 6 and 7."""


class OnGpu(torch.Tensor):  # type: ignore[misc]  # torch has no types here
    """A tensor that says it is on the first GPU; its data are in CPU memory. PyTorch itself sees the device "meta": without
    CUDA it cannot differentiate on "cuda"."""

    hidden: Any
    kernels: ClassVar[dict[Any, Any]] = {}  # what an operator of this project runs on a GPU
    device = torch.device("cuda:0")

    @staticmethod
    def __new__(cls, hidden: Any) -> Any:
        options = {"strides": hidden.stride(), "dtype": hidden.dtype, "requires_grad": hidden.requires_grad}
        made = torch.Tensor._make_wrapper_subclass(cls, hidden.size(), device="meta", **options)
        made.hidden = hidden.detach()
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), keys: Any = None) -> Any:
        if function in cls.kernels:
            return cls.kernels[function](*arguments, **(keys or {}))
        tree = torch.utils._pytree
        assert not any(word in function.overloadpacket.__name__ for word in ("mm", "matmul")), f"{function} ran on the GPU"
        plain = {key: "cpu" if key == "device" and value is not None else value for key, value in (keys or {}).items()}
        given = tree.tree_map_only(OnGpu, lambda x: x.hidden, (arguments, plain))
        return tree.tree_map_only(torch.Tensor, OnGpu, function(*given[0], **given[1]))


def same(found: Any, wanted: Any) -> bool:
    """Whether a result lies on the GPU and has the bits of the host's."""
    assert found.device.type == "cuda"
    return bool(torch.equal(found.hidden.contiguous().view(torch.uint8), wanted.contiguous().view(torch.uint8)))


@cache
def stand_in_driver() -> ctypes.CDLL:
    """The library in the place of a driver's."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "driver.so"
        subprocess.run(
            [*os.environ.get("CC", "cc").split(), "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(made), str(DRIVER)],
            check=True,
        )
        return ctypes.CDLL(str(made))


def computed(text: str, entry: str, blocks: int, threads: int, arguments: Any) -> int:
    """A launch: the kernel's parameters are read from its text, and the host's build of it computes. The status."""
    values = re.search(r"mmau_parameters parameters = {(.*?)}", text)
    assert values is not None
    parameters = bytes(Parameters(**dict(zip(KEYS, map(int, values[1].split(", ")), strict=True))))
    batch = ctypes.string_at(arguments[0], 8 * BATCH)
    rows, columns = np.frombuffer(batch, np.int64)[6:8].tolist()
    assert threads == 256
    if entry == cuda.ROWS:
        assert (blocks, columns) == (-(-rows // 256), 0)
        native = library()
        assert native is not None
        return int(native.mmau_dot_batch(parameters, batch, 1))
    assert blocks == -(-(rows // columns) // 64) * -(-columns // 64)
    K = ctypes.c_int.from_address(arguments[1])
    status = host_library().mmau_gpu_product(parameters, batch, K, 0, 1)
    return int(host_library().mmau_gpu_product(parameters, batch, K, 0, 0) if status == -1 else status)


def install(monkeypatch: pytest.MonkeyPatch, amd: str = "") -> list[str]:
    """Put the stand-in in the place of a driver and of PyTorch's questions to it, of NVIDIA's or of an architecture of AMD;
    returns the names of what is launched."""
    launched: list[str] = []

    def run(image: bytes, entry: bytes, blocks: int, threads: int, arguments: Any) -> int:
        launched.append(entry.decode())
        try:
            return computed(image.decode(), entry.decode(), blocks, threads, arguments)
        except AssertionError:
            return 1

    held = RUN(run)
    library = stand_in_driver()
    library.stand_in_runs(held)
    launched_by = [driver.AMD if amd else driver.NVIDIA]
    for cached in (driver.loaded, driver.use_primary_context):
        cached.cache_clear()
    asked: dict[Any, Any] = {launched_by[0]: library}
    monkeypatch.setattr(driver, "library", asked.__getitem__)
    monkeypatch.setattr(driver, "_held", held, raising=False)  # a function that C calls must not be collected
    monkeypatch.setattr(cuda, "binary", lambda text, target: {amd or "sm_90": text.encode()}[target])
    monkeypatch.setattr(cuda, "pointer", lambda tensor: tensor.hidden.data_ptr())
    monkeypatch.setattr(torch.version, "hip", "7.2" if amd else None)
    monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=7))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    properties = SimpleNamespace(gcnArchName=f"{amd}:sramecc+:xnack-")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    return launched
