"""The library under the address and undefined-behaviour sanitizers, on random parameters and exact buffers, with the kernels
of every instruction set."""

import os
import platform
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.golden.native.native_rows import INSTRUCTION_SETS, has_instruction_set

ROOT = Path(__file__).parents[3]
NATIVE = ROOT / "golden" / "native"
FLAGS = ["-std=c++17", "-O1", "-g", "-ffp-contract=off", "-pthread", f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
KERNELS = {"batch_kernels.cpp", "stimulus_kernels.cpp"}

PROGRAMS = {"sanitised": "parameter sets, digest ", "stimulus_sanitised": "stimuli, digest "}
"""Programs, and the last line of their output."""

IS_X86 = platform.machine() == "x86_64"

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")


def compiled(*arguments: str | Path) -> None:
    subprocess.run(["g++", *FLAGS, *CHECKS, *map(str, arguments)], check=True, timeout=1800)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, with the library's kernels for each instruction set that the compiler can make, as CMakeLists.txt builds
    them."""
    folder = tmp_path_factory.mktemp("sanitised")
    kernels = []
    for name, source in product(INSTRUCTION_SETS if IS_X86 else ("portable",), sorted(KERNELS)):
        march = [] if name == "portable" else [f"-march={name}"]
        kernels.append(folder / f"{name}-{source}.o")
        identifier = f"-DMMAU_ISA={name.replace('-', '_')}"
        compiled(*march, identifier, "-c", NATIVE / "src" / source, "-o", kernels[-1])
    sources = [source for source in sorted((NATIVE / "src").glob("*.cpp")) if source.name not in KERNELS]
    for program in PROGRAMS:
        main = Path(__file__).parent / f"{program}.cpp"
        compiled(*(["-DMMAU_X86_64_LEVELS"] if IS_X86 else []), main, *sources, *kernels, "-o", folder / program)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("name", INSTRUCTION_SETS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_sanitizers_find_nothing(program: str, name: str, folder: Path) -> None:
    if not has_instruction_set(name):
        pytest.skip(f"this processor has no {name}")
    run = subprocess.run(
        [folder / program], env=os.environ | {"MMAU_ISA": name}, capture_output=True, text=True, timeout=1800
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(f"{name}: ")
    assert PROGRAMS[program] in run.stdout
