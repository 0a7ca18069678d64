"""The committed evidence for the designs of a co-simulation: campaign simulations and proofs."""

from collections import Counter
from collections.abc import Sequence

from cosim import Report
from golden import Unit
from mmau.prove.records import Known, committed
from rtl import Design
from rtl.designs.identity import design_key
from rtl.designs.unit_design import as_design


class RecordedEvidence:
    """The recorded evidence for designs.

    Args:
        designs: those that are co-simulated.
    """

    def __init__(self, designs: Sequence[Unit | Design]) -> None:
        self._designs = {design_key(design.as_table()): design for design in map(as_design, designs)}
        self._found: dict[tuple[str, str], Known] = {}

    def of_report(self, report: Report) -> Known | None:
        """The evidence for the generated Verilog that was simulated; None for a user design."""
        key = report.design, report.verilog
        if report.verilog and key not in self._found:
            self._found[key] = committed().of_design(self._designs[report.design], report.verilog)
        return self._found.get(key)

    def lines_of(self, report: Report) -> Sequence[str]:
        """The evidence as lines of text; none for a user design."""
        known = self.of_report(report)
        return () if known is None else known.lines()

    def summary(self, reports: Sequence[Report]) -> Sequence[str]:
        """The lines of one design; for several, the numbers of simulated and proved ones, and reasons for the others."""
        found = [known for report in reports if (known := self.of_report(report)) is not None]
        if len(found) < 2:
            return [line for known in found for line in known.lines()]
        return [
            _counted("Simulated in a campaign", [known.not_simulated for known in found]),
            _counted("Proved", [known.not_proved for known in found]),
        ]


def _counted(what: str, why_not: Sequence[str]) -> str:
    """The number of designs without a reason, and the number of designs for each reason."""
    reasons = Counter(reason for reason in why_not if reason)
    counts = f"{what}: {len(why_not) - reasons.total()} of {len(why_not)}"
    return "; ".join([counts, *(f"{count}: {reason}" for reason, count in reasons.items())])
