"""How complaints about a design are quoted."""

from collections.abc import Sequence

SHOWN = 5
"""Complaints that a message quotes."""


def quoted(tool: str, complaints: Sequence[str]) -> str:
    """Complaints as a reason why nothing is decided."""
    shown = [complaint.strip() for complaint in complaints[:SHOWN]]
    rest = [f"and {len(complaints) - SHOWN} more"] if len(complaints) > SHOWN else []
    return "\n    ".join([f"{tool} complains about the design:", *shown, *rest])
