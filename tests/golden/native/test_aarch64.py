"""The portable library on another processor: built for aarch64, run under QEMU, the same bits as on this machine."""

import platform
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[3] / "golden" / "native"
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"

pytestmark = [
    pytest.mark.needs("aarch64"),
    pytest.mark.skipif(platform.machine() == "aarch64", reason="this is an aarch64 machine: all other tests are this one"),
]


def results(source: str, compiler: str, program: Path, runner: list[str]) -> str:
    """Run a program of random parameters: their number, and a digest of all results."""
    sources = [Path(__file__).parent / source, *sorted((NATIVE / "src").glob("*.cpp"))]
    flags = ["-std=c++17", "-O2", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-pthread", "-static"]
    includes = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
    subprocess.run([compiler, *flags, *includes, *map(str, sources), "-o", str(program)], check=True, timeout=1800)
    return subprocess.run([*runner, str(program)], capture_output=True, text=True, check=True, timeout=1800).stdout


@pytest.mark.long
@pytest.mark.parametrize("source", ["sanitised.cpp", "stimulus_sanitised.cpp"])
def test_aarch64_gives_the_same_bits(source: str, tmp_path: Path) -> None:
    here = results(source, "g++", tmp_path / "here", [])
    assert ", digest " in here
    assert results(source, COMPILER, tmp_path / "aarch64", [EMULATOR]) == here
