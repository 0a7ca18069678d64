"""What a diagnosis came to, and how it is said."""

from dataclasses import asdict, dataclass
from typing import Any

from golden import html
from golden.html import Markup, element

ALTERNATIVES = 4
"""Changes that are named where several explain everything."""


@dataclass(frozen=True)
class Cause:
    """A single change of the model, and what it explains.

    Attributes:
        change: in words.
        explained: mismatches for which it gives what the design gave. mismatches: of how many.
        kept: rows that agreed and would with it. agreeing: of how many.
    """

    change: str
    explained: int
    mismatches: int
    kept: int
    agreeing: int

    @property
    def is_complete(self) -> bool:
        """Whether it explains every mismatch and keeps every row that agreed."""
        return self.explained == self.mismatches and self.kept == self.agreeing

    def __str__(self) -> str:
        if self.is_complete:
            agreed = f" and all {self.agreeing:,} agreeing rows sampled" if self.agreeing else ""
            return f"{self.change}: explains all {self.mismatches:,} mismatches{agreed}"
        broken = self.agreeing - self.kept
        against = f", but {broken:,} of {self.agreeing:,} agreeing rows speak against it" if broken else ""
        return f"{self.change}: explains {self.explained:,} of {self.mismatches:,}{against}"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Which change of the model gives what the design gave.

    Attributes:
        mismatches: how many were looked at. undefined: those of them with bits that are neither 0 nor 1.
        causes: changes that explain all of them and keep all rows that agreed: the first is the diagnosis, the rows cannot
            tell the others from it.
        best: where there is none, those that explain most: first such as keep all rows that agreed, then near misses.
        of: for each mismatch the best change that explains it and keeps all rows that agreed, or None.
        tried: changes that were tried. left_out: those for which no time was left.
    """

    mismatches: int
    undefined: int
    causes: tuple[Cause, ...]
    best: tuple[Cause, ...]
    of: tuple[str | None, ...]
    tried: int
    left_out: int

    @classmethod
    def nothing(cls, mismatches: int) -> "Diagnosis":
        """Of mismatches that all have undefined bits."""
        none: Any = ()
        return cls(
            mismatches=mismatches, undefined=mismatches, causes=none, best=none, of=(None,) * mismatches, tried=0, left_out=0
        )

    @property
    def cause(self) -> Cause | None:
        """The change that explains everything, None where there is none."""
        return self.causes[0] if self.causes else None

    def lines(self) -> list[str]:
        """What was found, a line a finding."""
        if self.causes:
            others = [cause.change for cause in self.causes[1:]]
            lines = [f"diagnosis: {self.causes[0]}"]
            if others:
                more = f", and {len(others) - ALTERNATIVES} more" if len(others) > ALTERNATIVES else ""
                lines.append(f"  these vectors cannot tell it from: {'; '.join(others[:ALTERNATIVES])}{more}")
        elif self.undefined == self.mismatches:
            lines = ["diagnosis: none, for every result has bits that are neither 0 nor 1"]
        else:
            lines = [f"diagnosis: no single change of the model explains all mismatches ({self.tried:,} tried)"]
            none = "none explains any of them without changing rows that agreed"
            lines += [f"  {cause}" for cause in self.best] or [f"  {none}"]
        if self.undefined and self.undefined < self.mismatches:
            lines.append(f"  {self.undefined:,} mismatches with undefined bits are left out")
        if self.left_out:
            lines.append(f"  {self.left_out:,} further changes were not tried: the time was up")
        return lines

    def text(self) -> str:
        """For a terminal."""
        return "\n".join(self.lines())

    def html_body(self) -> Markup:
        """For a page that has `golden.html.STYLE`."""
        first, *rest = self.lines()
        return html.joined([element("p", first), element("ul", *(element("li", line.strip()) for line in rest))])

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
