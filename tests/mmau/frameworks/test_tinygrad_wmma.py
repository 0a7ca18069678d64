"""tinygrad's Python device with a part's tiles: bit for bit golden's."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.peer

pytest.importorskip("tinygrad", reason="tinygrad (extra `tinygrad`) is not installed")

HALF = """
import numpy as np
import golden
from tinygrad import Tensor, dtypes
from mmau.frameworks import tinygrad_wmma

rng = np.random.default_rng(1)
A, B = (rng.standard_normal((16, 16)).astype(np.float16) for _ in "AB")
a, b = (Tensor(x).realize() for x in (A, B))
def run():
    return a.matmul(b, dtype=dtypes.float).numpy()
with tinygrad_wmma.on("sm_80", "fp16"):
    got = run()
mma = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
right = golden.gemm(mma, A, B, np.zeros((16, 16), np.float32))
print((got.view("u4") == right.view("u4")).all(), (run().view("u4") != right.view("u4")).any())
"""

PROGRAM = """
import sys
import ml_dtypes, numpy as np
import golden
from tinygrad import Tensor, dtypes
from mmau.frameworks import tinygrad_wmma

rng = np.random.default_rng(1)
A, B = (rng.standard_normal((16, 16)).astype(ml_dtypes.bfloat16) for _ in "AB")
a, b = (Tensor(x.astype(np.float32)).cast(dtypes.bfloat16).realize() for x in (A, B))
def run():
    return a.matmul(b, dtype=dtypes.float).numpy()
with tinygrad_wmma.on("sm_80", "bf16"):
    got = run()
mma = golden.instruction("sm_80", "mma.m16n8k16.f32.bf16.bf16.f32")
right = golden.gemm(mma, A, B, np.zeros((16, 16), np.float32))
print((got.view("u4") == right.view("u4")).all(), (run().view("u4") != right.view("u4")).any())
try:
    with tinygrad_wmma.on("sm_80", "fp16"):
        (a * 2.0**-60).realize().matmul(b, dtype=dtypes.float).numpy()
except ValueError as error:
    print(error)
"""


def ran(program: str) -> str:
    environment = {**os.environ, "DEV": "PYTHON::sm_80", "TC_OPT": "2"}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="tinygrad's Python device has no fp16 before Python 3.12")
def test_tile_of_fp16_is_goldens() -> None:
    assert ran(HALF) == "True True"


def test_tile_is_goldens_and_a_number_of_another_format_is_refused() -> None:
    first, second = ran(PROGRAM).split("\n")
    assert first == "True True"
    if sys.version_info < (3, 12):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        assert second == f"fp16 on tinygrad's Python device needs Python 3.12, whose memoryview reads it; this is {version}"
    else:
        assert second.startswith("a tile's operand holds ")
        assert second.endswith(", which fp16 does not: the context names other formats")
