"""Whether a design's result is the specified one, case by case."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from bitwuzla import Term

from formal.evaluation import variables
from formal.own.asking import Limits, ask
from formal.own.cases import Case, check_complete
from formal.own.rows import Column, columns
from formal.own.sweeping import Sweep
from formal.solvers.answer import Verdict
from rtl.verilog.terms import Bits, Terms

DIRECT = 0.5
"""Seconds for a case as it is, before wires are looked for."""

Differs = Callable[[Bits, Bits], Term]
"""Whether a result of the design is not as good as the specified one."""


@dataclass(frozen=True)
class Decision:
    """What came of it.

    Attributes:
        verdict: whether results ever differ.
        decided: cases in which they never do, each with how; of how many.
        open: why the case after those is not decided.
        values: of the variables, where they differ.
    """

    verdict: Verdict
    decided: tuple[str, ...] = ()
    count: int = 0
    open: str = ""
    values: Mapping[Term, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Two results for the same operands.

    Attributes:
        got: the design's. specified: the specification's. differs: when the first is not as good as the second.
        cases: of the operands. rows: values of the variables, for rows of operands.
    """

    terms: Terms
    got: Bits
    specified: Bits
    differs: Differs
    cases: Sequence[Case]
    rows: Mapping[Term, Column]

    def decision(self, limits: Limits) -> Decision:
        """Decide it.

        Raises:
            IncompleteCases: operands in none of the cases.
        """
        check_complete(self.terms, self.cases)
        differs = self.differs(self.got, self.specified)
        wrong = np.flatnonzero(columns([differs], self.rows)[differs])
        if len(wrong):
            return Decision("sometimes", values={term: int(column[wrong[0]]) for term, column in self.rows.items()})
        decided = list[str]()
        for case in self.cases:
            found = self._of_case(case, differs, limits)
            if found.verdict != "never":
                return replace(found, decided=tuple(decided), count=len(self.cases))
            decided += found.decided
        return Decision("never", tuple(decided), len(self.cases))

    def _of_case(self, case: Case, differs: Term, limits: Limits) -> Decision:
        free = variables([differs, *case.assumptions])
        direct = ask(self.terms.manager, [differs, *case.assumptions], replace(limits, question=DIRECT), free)
        if direct.verdict == "never":
            return Decision("never", (case.name,))
        if direct.verdict == "sometimes":
            return Decision("sometimes", values=dict(zip(free, direct.values, strict=True)))
        sweep = Sweep(self.terms, self.got.term, self.specified.term, case.assumptions, self.rows)
        swept = Bits(sweep.swept(limits), self.got.width)
        wires = f"{sweep.progress.proved} wires proved to hold values of the specification"
        differs = self.differs(swept, self.specified)
        last = sweep.asked(differs, replace(limits, question=max(limits.question, limits.left)), values_of=free)
        if last.verdict == "sometimes":
            return Decision("sometimes", values=dict(zip(free, last.values, strict=True)))
        if last.verdict == "never":
            return Decision("never", (f"{case.name}: {wires}",))
        return Decision("unknown", open=f"{case.name}: {wires}, of {sweep.progress.guessed} that may")
