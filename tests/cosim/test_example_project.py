"""tests/example_project, a user's repository: tested with our wheel in a separate environment, outside this project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.simulator, pytest.mark.long]

FAULT = ("if (|nan || (&c[30:23] && c[22:0] != 0)) result", "if (|nan) result")
"""A piece of the design, and its replacement with a bug: a NaN in c is treated as a number."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of an environment with the wheel, its dependencies and pytest, without this project's folders."""
    folder = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", str(folder / "venv")], folder)
    pip = [str(folder / "venv" / "bin" / "pip"), "--quiet", "--disable-pip-version-check"]
    run([*pip, "wheel", str(ROOT), "--no-deps", "--wheel-dir", str(folder)], folder)
    (wheel,) = folder.glob("*.whl")
    run([*pip, "install", "-c", str(ROOT / "constraints.txt"), f"mmau[cosim] @ {wheel.as_uri()}", "pytest"], folder)
    others = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return others | {"PATH": f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def run(command: list[str], folder: Path, variables: dict[str, str] | None = None) -> str:
    """The output of a command, which must succeed."""
    status, output = ended(command, folder, variables)
    assert status == 0, output[-3000:]
    return output


def ended(command: list[str], folder: Path, variables: dict[str, str] | None = None) -> tuple[int, str]:
    """Status and output of a command."""
    result = subprocess.run(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return result.returncode, result.stdout


def project(folder: Path, broken: bool) -> Path:
    """A copy of the project outside the repository, its design sound or broken."""
    shutil.copytree(ROOT / "tests" / "example_project", folder)
    if broken:
        design = folder / "hdl" / "axis_dot4.sv"
        assert design.read_text().count(FAULT[0]) == 1
        design.write_text(design.read_text().replace(*FAULT))
    return folder


def test_wheel_is_what_is_imported(environment: dict[str, str], tmp_path: Path) -> None:
    program = "import cosim, golden; print(cosim.__file__, golden.__file__)"
    files = run(["python", "-c", program], tmp_path, environment).split()
    assert all("site-packages" in file and not file.startswith(str(ROOT)) for file in files)


def test_pytest_and_make_pass_on_the_sound_design(environment: dict[str, str], tmp_path: Path) -> None:
    folder = project(tmp_path / "project", broken=False)
    assert "1 passed" in run(["python", "-m", "pytest", "-W", "error"], folder, environment)
    assert "TESTS=1 PASS=1 FAIL=0" in run(["make", "-C", "verif"], folder, environment)


def test_pytest_and_make_fail_on_the_broken_design(environment: dict[str, str], tmp_path: Path) -> None:
    folder = project(tmp_path / "project", broken=True)
    status, output = ended(["python", "-m", "pytest"], folder, environment)
    assert status == 1
    assert "1 failed" in output
    assert "of 2,000 results differ from the golden model" in output
    assert "first of group 0: vector " in output
    status, output = ended(["make", "-C", "verif"], folder, environment)
    assert status != 0
    assert "TESTS=1 PASS=0 FAIL=1" in output


def test_fixture_can_be_switched_off(environment: dict[str, str], tmp_path: Path) -> None:
    """The fixture can be disabled, and a run of pytest that does not use it imports none of the models."""
    (tmp_path / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n    assert not {'golden', 'rtl', 'numpy', 'cocotb'} & set(sys.modules)\n"
    )
    assert "1 passed" in run(["python", "-m", "pytest", "-W", "error"], tmp_path, environment)
    assert "mmau_cosim" in run(["python", "-m", "pytest", "--fixtures"], tmp_path, environment)
    assert "mmau_cosim" not in run(
        ["python", "-m", "pytest", "-p", "no:cosim.pytest_plugin", "--fixtures"], tmp_path, environment
    )
