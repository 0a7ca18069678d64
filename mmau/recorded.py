"""What the committed outcomes say of the designs of a co-simulation: simulated in a campaign, proved."""

from collections.abc import Sequence

from cosim import Report
from formal.evidence import Known, committed


def of_report(report: Report) -> Known | None:
    """Of the generated Verilog that was simulated; None of a design of one's own."""
    return committed().of_design(report.design, report.verilog) if report.verilog else None


def lines_of(report: Report) -> Sequence[str]:
    """The same for people; nothing of a design of one's own."""
    known = of_report(report)
    return () if known is None else known.lines()


def said_of(reports: Sequence[Report]) -> list[str]:
    """A line for each design of which something is recorded, and how many there are."""
    found = [(report.unit, known) for report in reports if (known := of_report(report)) is not None]
    if not found:
        return []
    proved, simulated = (sum(getattr(known, what) is not None for _, known in found) for what in ("proved", "simulated"))
    counts = f"{proved} of {len(found)} proved, {simulated} simulated in a campaign"
    return [
        *(f"{unit}: {known.short()}" for unit, known in found if known.is_recorded),
        f"recorded of this Verilog: {counts}",
    ]
