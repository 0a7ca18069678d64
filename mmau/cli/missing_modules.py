"""The extra of this package that installs a missing module, from the metadata of the installation."""

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires

PACKAGES = {"z3": "z3-solver", "vcd": "pyvcd", "ucis": "pyucis", "hip": "hip-python"}
"""Package of each module whose package has another name."""

SUFFICIENT = {
    "rtl": "rtl",
    "cosim": "cosim",
    "probe": "cosim",
    "prove": "formal",
    "distinguish": "formal",
    "explore": "explore",
}
"""For each command, the extra that contains all packages that it imports."""

DEVELOPMENT = {"mutation", "dev", "peer"}
"""Extras for work on this project itself. A message names one of these only if no other extra contains the package."""

_REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[([^\]]*)\])?[^;]*;.*\bextra\s*==\s*['"]([^'"]+)['"]""")


def missing(module: str, command: str = "") -> str:
    """The message that a module is missing.

    Args:
        module: its import name, possibly dotted. command: the command that imports it, or "".
    """
    name = module.partition(".")[0]
    package = PACKAGES.get(name, name.replace("_", "-"))
    extra = extra_with(package, command, _requirements())
    wanted = package if extra is None else f"'mmau[{extra}]'"
    return f"needs the package {package}, which is not installed; install it with: pip install {wanted}"


def extra_with(package: str, command: str, requirements: Sequence[str]) -> str | None:
    """The extra to install for a package: the command's own extra if it contains the package, else another one that does.

    Args:
        requirements: the requirements of the installed distribution's metadata. Returns None where no extra brings it.
    """
    listed: dict[str, set[str]] = {}
    for name, inner, extra in (match.groups() for match in map(_REQUIREMENT.match, requirements) if match):
        wanted = {f"[{each.strip()}]" for each in inner.split(",")} if name == "mmau" else {_normal(name)}
        listed.setdefault(extra, set()).update(wanted)

    def brings(extra: str) -> bool:
        inside = listed.get(extra, set())
        return _normal(package) in inside or any(brings(each[1:-1]) for each in inside if each.startswith("["))

    def rank(extra: str) -> tuple[bool, bool, bool]:
        return extra != SUFFICIENT.get(command), extra in DEVELOPMENT, _normal(package) not in listed[extra]

    return min(filter(brings, listed), key=rank, default=None)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements() -> Sequence[str]:
    try:
        return requires("mmau") or ()
    except PackageNotFoundError:  # run from its sources
        return ()
