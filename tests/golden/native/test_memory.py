"""Memory of a batch beyond its inputs and its result, measured as the peak of a separate process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.native.native_rows import needs_native

pytestmark = [
    needs_native,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is read as Linux tells it"),
]

LIMIT = 64
"""MiB beyond inputs and outputs."""

MEASURE = """
import re, sys
from pathlib import Path
import numpy as np
import golden

def kibibytes(key):
    return int(re.search(key + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

hopper = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
first, second = int(sys.argv[1]), int(sys.argv[2])
{prepare}
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
before = kibibytes("VmRSS")
d = {result}
print((kibibytes("VmHWM") - before) / 1024 - d.nbytes / 2**20)
"""

BATCH = MEASURE.format(
    prepare="""
a, b = (np.ones((first, 16 * second), np.float16) for _ in "ab")
c = np.ones(first, np.float32)
hopper.dot(a[:9, ::second], b[:9, ::second], c[:9])
""",
    result='hopper.dot(a[:, ::second], b[:, ::second], c, engine="native")',
)
"""first: rows; second: how far the elements of a row lie apart."""

MATRIX = MEASURE.format(
    prepare="""
A, B, C = np.ones((first, 16), np.float16), np.ones((16, second), np.float16), np.ones((first, second), np.float32)
golden.gemm(hopper, A[:9], B[:, :9], C[:9, :9])
""",
    result='golden.gemm(hopper, A, B, C, engine="native")',
)
"""first, second: M and N, with K = 16."""


def mebibytes_beyond(script: str, first: int, second: int) -> float:
    """MiB at the peak beyond inputs and result."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, str(first), str(second)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    return float(run.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1 << 18, 1 << 22])
def test_contiguous_batch_takes_no_memory_of_its_own(rows: int) -> None:
    assert mebibytes_beyond(BATCH, rows, 1) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(("M", "N"), [(1, 1 << 22), (1 << 22, 1), (1 << 13, 1 << 12)])
def test_matrix_product_rearranges_its_operands_in_blocks(M: int, N: int) -> None:
    """B as a whole has 128 MiB in the first shape, A in the second, C in the third."""
    assert mebibytes_beyond(MATRIX, M, N) < LIMIT
