"""Decides case by case whether a design's result equals the specified one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from bitwuzla import Term

from mmau.prove.evaluation import variables
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.solvers.answer import Verdict
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.operand_cases import Case, check_complete
from mmau.prove.user_design.row_evaluation import Column, columns
from mmau.prove.user_design.sweeping import Sweep

DIRECT = 0.5
"""Seconds for a case as it is, before wires are matched."""

Differs = Callable[[Bits, Bits], Term]
"""Whether a result of the design can differ from the specified one."""


@dataclass(frozen=True)
class Decision:
    """The result of the decision.

    Attributes:
        verdict: whether results ever differ.
        decided: cases in which they never do, each with its method. count: the number of all cases.
        open: why the next case is not decided.
        values: the values of the variables, if results differ.
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
        got: the design's result. specified: the specification's. differs: the condition that they disagree.
        cases: the cases into which the operands are divided. rows: values of the variables, one per row of operands.
    """

    terms: Terms
    got: Bits
    specified: Bits
    differs: Differs
    cases: Sequence[Case]
    rows: Mapping[Term, Column]

    def decision(self, limits: Limits, report: Callable[[str], None] = lambda case: None) -> Decision:
        """Decide the comparison.

        Args:
            report: takes each case that is decided, with its method, at once.

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
            report(*found.decided)
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
        last = sweep.asked(differs, replace(limits, question=max(limits.question, limits.remaining)), values_of=free)
        if last.verdict == "sometimes":
            return Decision("sometimes", values=dict(zip(free, last.values, strict=True)))
        if last.verdict == "never":
            return Decision("never", (f"{case.name}: {wires}",))
        return Decision("unknown", open=f"{case.name}: {wires}, of {sweep.progress.guessed} that may")
