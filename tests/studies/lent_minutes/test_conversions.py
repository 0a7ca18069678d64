"""The conversions: the C++ model that a GPU would run is golden's rule, and its digest is what a reader computes again."""

import ctypes
import os
import subprocess
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from golden.native.cuda import INCLUDE
from golden.native.nvrtc import compile_cubin
from hwtests.nvidia.disassembly import sass
from studies.lent_minutes import conversions
from studies.lent_minutes.conversions import CONVERSIONS, Conversion, kernel_source, model_source
from tests.hwtests.compilers import needs_cuda_compiler
from tests.studies.lent_minutes.by_definition import converted, share

SHARED = """
extern "C" uint32_t model(uint32_t number) { return model_of(number); }
extern "C" uint64_t digest(uint32_t number, uint32_t code) { return share(number, code); }
"""


Built = tuple[Conversion, ctypes.CDLL]


@pytest.fixture(scope="module", params=CONVERSIONS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A conversion, and its C++ compiled for this machine."""
    conversion = CONVERSIONS[request.param]
    folder = tmp_path_factory.mktemp("conversion")
    (folder / "model.cpp").write_text(model_source(conversion) + SHARED)
    compiler = [*os.environ.get("CXX", "c++").split(), "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{INCLUDE}"]
    subprocess.run([*compiler, "-o", str(folder / "model.so"), str(folder / "model.cpp")], check=True)
    library = ctypes.CDLL(str(folder / "model.so"))
    library.model.restype, library.digest.restype = ctypes.c_uint32, ctypes.c_uint64
    return conversion, library


def numbers() -> list[int]:
    """fp32 codes: around every power of two and its half-way points, the ends, NaN, and random ones."""
    rng = np.random.default_rng(3)
    found = rng.integers(0, 1 << 32, 3_000).tolist()
    for exponent in range(256):
        for fraction in (0, 1, 0x7FFFFF, 0x400000, 0x3FFFFF, 0x400001, 0x001000, 0x000FFF, 0x003000, 0x008000, 0x080000):
            found += [sign << 31 | exponent << 23 | fraction for sign in (0, 1)]
    return found


@pytest.mark.slow
def test_model_is_goldens_rule(model: Built) -> None:
    conversion, library = model
    for number in numbers():
        got, expected = library.model(number), converted(number, conversion.to, conversion.mode, conversion.saturates)
        assert got == expected, f"{number:#x}: {got:#x}, by golden {expected:#x}"


@pytest.mark.slow
def test_digest_is_that_of_a_reader(model: Built) -> None:
    _, library = model
    for number, code in ((0, 0), (0x3F800000, 0x7FFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF)):
        assert library.digest(number, code) == share(number, code)


@pytest.mark.parametrize(
    ("name", "dtype"), [("fp16", np.float16), ("bf16", ml_dtypes.bfloat16), ("e5m2", ml_dtypes.float8_e5m2)]
)
def test_rules_are_those_of_other_programs(name: str, dtype: type) -> None:
    """Where nothing is too large and no NaN: NumPy's and ml_dtypes' conversions."""
    conversion, largest = CONVERSIONS[name], float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
    for number in numbers():
        value = np.uint32(number).view(np.float32)
        if abs(value) <= largest:
            bits = int(value.astype(dtype).view(np.uint8 if name == "e5m2" else np.uint16))
            assert converted(number, conversion.to, conversion.mode, conversion.saturates) == bits


@pytest.mark.attack("a kernel that does nothing, and one that misses one number")
@pytest.mark.parametrize("missed", [4, 1, 0])
def test_what_no_thread_has_found_to_agree_differs(missed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversions, "FRACTIONS", 4)

    def kernel(grid: Any, block: Any, arguments: tuple[Any, ...]) -> None:
        agree, fractions = arguments[1], int(arguments[-1])
        agree[:] = fractions
        agree[7] -= missed

    device: Any = SimpleNamespace(xp=SimpleNamespace(**vars(np), asnumpy=np.asarray))
    item = conversions.Conversions(device)
    monkeypatch.setattr(item, "_kernel", lambda conversion: kernel)
    monkeypatch.setattr(conversions, "cuda_errors", lambda xp: nullcontext())
    found = item.do("bf16", {}, SimpleNamespace())
    assert found["differ"] == ({"0x007": missed} if missed else {})


HELD = {
    "tf32 rz": "F2FP.TF32.F32.PACK_B.RZ", "tf32 rn": "F2FP.TF32.F32.PACK_B",
    "e4m3": "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C", "e5m2": "F2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C",
    "fp16": "F2F.F16.F32", "fp16 rz": "F2F.F16.F32.RZ", "bf16": "F2F.BF16.F32", "bf16 rz": "F2F.BF16.F32.RZ",
}  # fmt: skip
"""The machine instruction of each conversion; the compiler makes an addition and a mask of `tf32 rna`."""


@needs_cuda_compiler
@pytest.mark.parametrize("name", CONVERSIONS)
def test_kernel_holds_its_conversion(name: str) -> None:
    assembly = sass(compile_cubin(kernel_source(CONVERSIONS[name]), "sm_90a", INCLUDE))
    held = [mnemonic for mnemonic, _ in assembly if mnemonic.startswith("F2F")]
    assert held == ([HELD[name]] if name in HELD else [])
    if name not in HELD:
        assert any("0x1000" in operands for _, operands in assembly)
        assert any("0xffffe000" in operands for _, operands in assembly)
