"""The result of a diagnosis, and its text."""

from dataclasses import asdict, dataclass
from typing import Any

from golden import html
from golden.html import Markup, element

ALTERNATIVES = 4
"""Number of further changes named if several explain everything."""


@dataclass(frozen=True)
class Cause:
    """A single change of the model, and the rows that it explains.

    Attributes:
        change: its description.
        explained: number of mismatches for which it gives the design's result. mismatches: number tried.
        kept: number of agreeing rows that still agree with it. agreeing: number tried.
    """

    change: str
    explained: int
    mismatches: int
    kept: int
    agreeing: int

    @property
    def is_complete(self) -> bool:
        """Whether it explains every mismatch and contradicts no agreeing row."""
        return self.explained == self.mismatches and self.kept == self.agreeing

    def __str__(self) -> str:
        if self.is_complete:
            agreed = f" and all {self.agreeing:,} agreeing rows sampled" if self.agreeing else ""
            return f"{self.change}: explains all {self.mismatches:,} mismatches{agreed}"
        return f"{self.change}: explains {self.explained:,} of {self.mismatches:,}"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The changes of the model that explain a design's mismatches.

    Attributes:
        mismatches: number examined. undefined: number of these with bits that are neither 0 nor 1.
        causes: changes that explain all of them and contradict no agreeing row. The first is the diagnosis; the rows do not
            distinguish the others from it.
        best: without a cause, a few changes that explain all mismatches together, and contradict no agreeing row either.
        of: for each mismatch the first of these that explains it, or None.
        tried: changes that were tried. left_out: those for which no time was left.
        where: the element, row or column of the results in which all mismatches are, where the causes hold there alone; the
            agreeing rows are then those in it.
        located: further sentences on where the mismatches are.
    """

    mismatches: int
    undefined: int
    causes: tuple[Cause, ...]
    best: tuple[Cause, ...]
    of: tuple[str | None, ...]
    tried: int
    left_out: int
    where: str | None = None
    located: tuple[str, ...] = ()

    @classmethod
    def nothing(cls, mismatches: int) -> "Diagnosis":
        """The diagnosis of mismatches that all have undefined bits."""
        none: Any = ()
        return cls(
            mismatches=mismatches, undefined=mismatches, causes=none, best=none, of=(None,) * mismatches, tried=0, left_out=0
        )

    @property
    def cause(self) -> Cause | None:
        """The change that explains everything; None if there is none."""
        return self.causes[0] if self.causes else None

    def lines(self) -> list[str]:
        """The findings, one line each."""
        if self.causes:
            others = [cause.change for cause in self.causes[1:]]
            lines = [f"diagnosis: {'' if self.where is None else f'in {self.where}: '}{self.causes[0]}"]
            if others:
                more = f", and {len(others) - ALTERNATIVES} more" if len(others) > ALTERNATIVES else ""
                lines.append(f"  these vectors cannot tell it from: {'; '.join(others[:ALTERNATIVES])}{more}")
        elif self.undefined == self.mismatches:
            lines = ["diagnosis: none, for every result has bits that are neither 0 nor 1"]
        else:
            lines = [f"diagnosis: no single change of the model explains all mismatches ({self.tried:,} tried)"]
            lines += ["  these do together:", *(f"  {cause}" for cause in self.best)] if self.best else []
        lines += [f"  {text}" for text in self.located]
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
