"""A hard question split into cases: conditions on which its terms branch, each once true and once false."""

from collections.abc import Sequence
from dataclasses import replace

from bitwuzla import Kind, Term, TermManager

from mmau.formal.evaluation import in_order
from mmau.formal.solvers.answer import Verdict
from mmau.formal.user_design.asking import Limits, ask
from mmau.formal.user_design.extended_sums import Sums
from mmau.formal.user_design.folding import Folding

MOST = 10
"""Most conditions of a split: at most 2**MOST cases."""

WHOLE, PART = 0.5, 0.05
"""Seconds for the whole question, and for one case before it is split further."""


def ask_split(manager: TermManager, formula: Term, assumed: Sequence[Term], limits: Limits) -> Verdict:
    """Whether a formula is never true under assumptions; conditions nearest to the inputs are split first."""
    whole = ask(manager, [formula, *assumed], replace(limits, question=min(WHOLE, limits.question))).verdict
    if whole != "unknown":
        return whole
    formula = Sums(manager, assumed, limits).of(formula)
    conditions = list(dict.fromkeys(term.children()[0] for term in in_order([formula]) if term.kind() == Kind.ITE))
    return _asked(manager, [formula, *assumed], conditions[:MOST], limits)


def _asked(manager: TermManager, formulas: Sequence[Term], conditions: Sequence[Term], limits: Limits) -> Verdict:
    last = not conditions
    found = ask(manager, formulas, limits if last else replace(limits, question=min(PART, limits.question))).verdict
    if found != "unknown" or last or limits.over:
        return found
    first, *rest = conditions
    for truth in (manager.mk_true(), manager.mk_false()):
        folding = Folding(manager, {first: truth})
        chosen = first if truth.is_true() else manager.mk_term(Kind.NOT, [first])
        remaining = [condition for condition in (folding.of(each) for each in rest) if not condition.is_value()]
        found = _asked(manager, [*(folding.of(formula) for formula in formulas), chosen], remaining, limits)
        if found != "never":
            return found
    return "never"
