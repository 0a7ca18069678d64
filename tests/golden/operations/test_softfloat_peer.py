"""Results and exception flags of FMA, MUL and ADD beside Berkeley SoftFloat, by both rules of tininess, in every mode."""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.arithmetic.flags import NV, NX, OF, UF
from golden.arithmetic.formats import BF16, FP16, FP32, FP64, Format
from golden.comparison import differing
from golden.operations import ADD, FMA, MUL
from golden.operations.exact_sum import ExactSum
from golden.stimulus import OperandShape, generate
from tests.golden.operations.edges import near_the_ends
from tests.golden.rows import unit
from tests.peers import unpacked

pytestmark = pytest.mark.peer

MODES = {"RNE": 0, "RZ": 1, "RD": 2, "RU": 3, "RNA": 4}
TININESS = {"before": 0, "after": 1}
"""SoftFloat's numbers."""

FORMATS = {"fp16": FP16, "fp32": FP32, "fp64": FP64}
CHUNK = 500_000


@pytest.fixture(scope="module")
def softfloat(tmp_path_factory: pytest.TempPathFactory) -> Any:
    source, build = unpacked("softfloat"), tmp_path_factory.mktemp("softfloat")
    every = [*sorted((source / "source").glob("*.c")), *sorted((source / "source/RISCV").glob("*.c"))]
    files = [path for path in every if not re.search("f128|extf80", path.name.lower())]
    files.append(Path(__file__).with_name("softfloat_rows.c"))
    include = [f"-I{source / place}" for place in ("build/Linux-x86_64-GCC", "source/RISCV", "source/include")]
    options = ["-O2", "-shared", "-fPIC", "-DSOFTFLOAT_FAST_INT64", "-DINLINE_LEVEL=5", "-w"]
    command = ["gcc", *options, *include, *map(str, files), "-o", "libsoftfloat.so"]
    subprocess.run(command, cwd=build, check=True, timeout=600)
    return ctypes.CDLL(str(build / "libsoftfloat.so"))


def operation_of(name: str, form: str, mode: str, tininess: str) -> ExactSum:
    d = FP32 if form == "bf16" else FORMATS[form]
    keys: dict[str, Any] = {"rho": f"{mode}-{d.name.upper()}", "overflow": "by-mode", "tininess": tininess}
    if name == "FMA":
        factor: Format = BF16 if form == "bf16" else d
        return FMA(a=factor, b=factor, c=d, **keys)
    return (MUL if name == "MUL" else ADD)(a=d, b=d, **keys)


def of_softfloat(library: Any, name: str, form: str, mode: str, tininess: str, operands: Any, d: Any) -> np.ndarray:
    """Fill d, and return the flags."""
    flags = np.empty(len(d), np.uint8)
    width = {"fp16": 16, "fp32": 32, "fp64": 64, "bf16": 17}[form]
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*operands, d, flags)]
    numbers = (("FMA", "MUL", "ADD").index(name), width, MODES[mode], TININESS[tininess])
    library.rows(*numbers, ctypes.c_int64(len(d)), *pointers)
    return flags


def drawn(rng: np.random.Generator, operation: ExactSum, rows: int, seed: int) -> list[np.ndarray]:
    """Rows of golden's stimulus, corners among them, some of any bits, and many about the smallest normal number."""
    found = generate(OperandShape.of(unit(operation)), rows // 10, seed=seed).operands
    near = near_the_ends(rng, operation, rows - 2 * (rows // 10))
    return [
        np.concatenate([every.reshape(-1), few, rng.integers(0, 1 << form.width, rows // 10, every.dtype, endpoint=False)])
        for every, few, form in zip((found.a, found.b, found.c), near, (operation.a, operation.b, operation.c), strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name in ("FMA", "MUL", "ADD") for form in FORMATS] + [("FMA", "bf16")],
)
@pytest.mark.parametrize("rows", [60_000, pytest.param(4_000_000, marks=pytest.mark.long)])
def test_softfloat_agrees(softfloat: Any, name: str, form: str, rows: int) -> None:
    """In every mode, by both rules of tininess; of the three formats together 12,000,000 rows for each."""
    seen = {tininess: np.zeros(32, np.int64) for tininess in TININESS}
    rng = np.random.default_rng([*name.encode(), *form.encode()])
    for seed in range(-(-rows // CHUNK)):
        a, b, c = drawn(rng, operation_of(name, form, "RNE", "after"), min(CHUNK, rows), seed)
        c = c if name == "FMA" else np.zeros_like(c)
        for mode in MODES:
            for tininess in TININESS:
                operation, d = operation_of(name, form, mode, tininess), np.empty_like(c)
                expected = of_softfloat(softfloat, name, form, mode, tininess, (a, b, c), d)
                got, flags = unit(operation).dot(a[:, None], b[:, None], c, flags=True)
                wrong = differing(got, d, operation) | (flags != expected)
                row = int(wrong.argmax())
                assert not wrong.any(), [mode, tininess, *(hex(int(of[row])) for of in (a, b, c, got, d, flags, expected))]
                seen[tininess] += np.bincount(flags, minlength=32)
    raised = {0, NX, NV, NX | OF} | (set() if name == "ADD" else {NX | UF})
    assert all({int(each) for each in count.nonzero()[0]} == raised for count in seen.values())
    if name != "ADD":  # whose sums below the normal numbers are exact
        assert seen["before"][NX | UF] > seen["after"][NX | UF] > rows // 100
