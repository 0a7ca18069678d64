"""The library under the address and undefined-behaviour sanitizers, on random parameters and exact buffers, with the kernels
of every instruction set."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.golden.native_rows import INSTRUCTION_SETS, has_instruction_set

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "golden" / "native"
FLAGS = ["-std=c++17", "-O1", "-g", "-ffp-contract=off", "-pthread", f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
IS_X86 = platform.machine() == "x86_64"

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")


def compiled(*arguments: str | Path) -> None:
    subprocess.run(["g++", *FLAGS, *CHECKS, *map(str, arguments)], check=True, timeout=300)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library with its kernels for each instruction set that the compiler can make, as CMakeLists.txt builds it."""
    folder = tmp_path_factory.mktemp("sanitised")
    kernels = []
    for name in INSTRUCTION_SETS if IS_X86 else ("portable",):
        march = [] if name == "portable" else [f"-march={name}"]
        kernels.append(folder / f"{name}.o")
        identifier = f"-DMMAU_ISA={name.replace('-', '_')}"
        compiled(*march, identifier, "-c", NATIVE / "src" / "batch_kernels.cpp", "-o", kernels[-1])
    sources = [Path(__file__).parent / "native_sanitised.cpp"]
    sources += [source for source in sorted((NATIVE / "src").glob("*.cpp")) if source.name != "batch_kernels.cpp"]
    compiled(*(["-DMMAU_X86_64_LEVELS"] if IS_X86 else []), *sources, *kernels, "-o", folder / "program")
    return folder / "program"


@pytest.mark.long
@pytest.mark.parametrize("name", INSTRUCTION_SETS)
def test_sanitizers_find_nothing(name: str, program: Path) -> None:
    if not has_instruction_set(name):
        pytest.skip(f"this processor has no {name}")
    run = subprocess.run([program], env=os.environ | {"MMAU_ISA": name}, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(f"{name}: ")
    assert "parameter sets, digest " in run.stdout
