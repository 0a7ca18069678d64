"""Decides case by case whether a design's result equals the specified one."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from bitwuzla import Term

from mmau.prove.evaluation import evaluate, variables
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.solvers.answer import Verdict
from mmau.prove.user_design.asking import Found, Limits, ask
from mmau.prove.user_design.operand_cases import Case, check_complete
from mmau.prove.user_design.row_evaluation import Column, columns
from mmau.prove.user_design.shared_products import SharedProducts
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

    def decision(
        self,
        limits: Limits,
        report: Callable[[str], None] = lambda case: None,
        tried: Callable[[], Mapping[Term, int]] = dict,
    ) -> Decision:
        """Decide the comparison.

        Args:
            report: takes each case that is decided, with its method, at once.
            tried: values of variables for which results may differ, or nothing; asked before the first hard question.

        Raises:
            IncompleteCases: operands in none of the cases.
        """
        check_complete(self.terms, self.cases)
        differs = self.differs(self.got, self.specified)
        wrong = np.flatnonzero(columns([differs], self.rows)[differs])
        if len(wrong):
            return Decision("sometimes", values={term: int(column[wrong[0]]) for term, column in self.rows.items()})
        decided, hard, waiting = list[str](), list[Case](), deque(_Part(case) for case in self.cases)
        count = len(waiting)
        while waiting:
            part = waiting.popleft()
            found = self._at_once(part, differs, limits, len(waiting) + 1)
            if found.verdict == "sometimes":
                return replace(found, decided=tuple(decided), count=count)
            if found.verdict == "never":
                decided += found.decided
                report(*found.decided)
                continue
            if part.shared is None:
                values = dict.fromkeys(variables([differs]), 0) | dict(tried())
                if evaluate([differs], values)[differs]:
                    return Decision("sometimes", tuple(decided), count, values=values)
            parts = [] if limits.over else self._parts(part, limits)
            if parts:
                check_complete(self.terms, [each.case for each in parts], part.case)
                waiting.extend(parts)
                count += len(parts) - 1
            else:
                hard.append(part.case)
        left = list[str]()
        for case in hard:
            found = self._by_wires(case, differs, limits)
            if found.verdict == "sometimes":
                return replace(found, decided=tuple(decided), count=count)
            if found.verdict == "never":
                decided += found.decided
                report(*found.decided)
            else:
                left.append(found.open)
        return Decision("unknown" if left else "never", tuple(decided), count, "; ".join(left))

    def _at_once(self, part: "_Part", differs: Term, limits: Limits, waiting: int) -> Decision:
        """One question about a case, with variables in place of products where they are shared.

        Args:
            waiting: the number of cases between which the remaining time is divided, this one included.
        """
        case, manager = part.case, self.terms.manager
        free = variables([differs, *case.assumptions])
        if part.shared is None:
            return _decision(
                ask(manager, [differs, *case.assumptions], replace(limits, question=DIRECT), free), free, case.name
            )
        if case.distance is not None:
            limits = replace(limits, question=max(limits.question, limits.remaining / (waiting + 1)))
        name = f"{case.name}, one variable for the product on both sides"
        cut = ask(manager, part.shared.cut([differs], case.assumptions), limits, free)
        if cut.verdict != "sometimes":
            return _decision(cut, free, name)
        values = dict(zip(free, cut.values, strict=True))
        if all(evaluate([differs, *case.assumptions], values)[each] for each in (differs, *case.assumptions)):
            return Decision("sometimes", values=values)
        return _decision(ask(manager, [differs, *case.assumptions], limits, free), free, case.name)

    def _parts(self, part: "_Part", limits: Limits) -> list["_Part"]:
        """The parts of a case that was too hard; none where it cannot be divided, or where that is no help."""
        case = part.case
        if part.shared is not None:
            return [_Part(each, part.shared) for each in case.halves()]
        shared = SharedProducts(self.terms, self.got.term, self.specified.term, case.assumptions, self.rows, limits)
        return [_Part(each, shared) for each in case.ranges() or [case]] if shared.complete else []

    def _by_wires(self, case: Case, differs: Term, limits: Limits) -> Decision:
        """Decide a case along the wires that hold values of the specification."""
        if limits.over:
            return Decision("unknown", open=case.name)
        sweep = Sweep(self.terms, self.got.term, self.specified.term, case.assumptions, self.rows)
        swept = Bits(sweep.swept(limits), self.got.width)
        wires = f"{sweep.progress.proved} wires proved to hold values of the specification"
        free = variables([differs, *case.assumptions])
        differs = self.differs(swept, self.specified)
        last = sweep.asked(differs, replace(limits, question=max(limits.question, limits.remaining)), values_of=free)
        found = _decision(last, free, f"{case.name}: {wires}")
        return replace(found, open=f"{case.name}: {wires}, of {sweep.progress.guessed} that may")


@dataclass(frozen=True)
class _Part:
    """A case, and the products that are shared in it, if they are."""

    case: Case
    shared: SharedProducts | None = None


def _decision(found: Found, free: Sequence[Term], name: str) -> Decision:
    """The decision of a case from the answer to its question."""
    if found.verdict == "sometimes":
        return Decision("sometimes", values=dict(zip(free, found.values, strict=True)))
    return Decision(found.verdict, (name,) if found.verdict == "never" else ())
