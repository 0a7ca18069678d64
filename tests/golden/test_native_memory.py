"""What a batch takes beyond its inputs and its result, measured as the peak of a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.native_rows import needs_native

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
rows, step = int(sys.argv[1]), int(sys.argv[2])
a, b = (np.ones((rows, 16 * step), np.float16) for _ in "ab")
c = np.ones(rows, np.float32)
hopper.dot(a[:9, ::step], b[:9, ::step], c[:9])
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
before = kibibytes("VmRSS")
d = hopper.dot(a[:, ::step], b[:, ::step], c, engine="native")
print((kibibytes("VmHWM") - before) / 1024 - d.nbytes / 2**20)
"""


def mebibytes_beyond(rows: int, step: int) -> float:
    """MiB at the peak beyond inputs and result, for rows whose elements lie `step` apart."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", MEASURE, str(rows), str(step)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    return float(run.stdout)


@pytest.mark.parametrize("rows", [1 << 18, 1 << 22])
def test_contiguous_batch_takes_no_memory_of_its_own(rows: int):
    assert mebibytes_beyond(rows, step=1) < LIMIT


def test_measure_sees_a_copy():
    """Operands that are not contiguous are copied: 2 × 64 MiB here."""
    assert mebibytes_beyond(1 << 21, step=2) > LIMIT
