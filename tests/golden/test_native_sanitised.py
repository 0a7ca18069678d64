"""The library under the address and undefined-behaviour sanitizers, on random parameters and exact buffers."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "golden" / "native"


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    sources = [Path(__file__).parent / "native_sanitised.cpp", *sorted((NATIVE / "src").glob("*.cpp"))]
    program = tmp_path / "sanitised"
    flags = ["-std=c++17", "-O1", "-g", "-ffp-contract=off", "-pthread", f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["g++", *flags, *checks, *map(str, sources), "-o", str(program)], check=True, timeout=300)
    run = subprocess.run([str(program)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "parameter sets" in run.stdout
