"""Complaints of Yosys about a design, and how complaints are quoted."""

import re
from collections.abc import Sequence

SHOWN = 5
"""Complaints that a message quotes."""

_SAID = re.compile(r"^.*\b(?:Warning|ERROR): .*", re.MULTILINE)

_SUMMARY = re.compile(r"see full log for details|Found \d+ problems in 'check")


def complaints_of_yosys(log: str) -> list[str]:
    """The warnings and errors in a log of Yosys and its reader of SystemVerilog, without their summaries."""
    return list(dict.fromkeys(line for line in _SAID.findall(log) if not _SUMMARY.search(line)))


def quoted(tool: str, complaints: Sequence[str]) -> str:
    """Complaints as a reason why nothing is decided."""
    shown = [complaint.strip() for complaint in complaints[:SHOWN]]
    rest = [f"and {len(complaints) - SHOWN} more"] if len(complaints) > SHOWN else []
    return "\n    ".join([f"{tool} complains about the design:", *shown, *rest])
