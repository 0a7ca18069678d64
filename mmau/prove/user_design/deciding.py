"""Decides case by case whether a design's result equals the specified one."""

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from random import Random

import numpy as np
from bitwuzla import Term, TermManager

from mmau.prove.evaluation import evaluate, variables, width
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.solvers.answer import Verdict
from mmau.prove.user_design.asking import Asking, Found, Limits, ask, directly
from mmau.prove.user_design.forms import Form, NormalWires, rows_where
from mmau.prove.user_design.operand_cases import COMPLETE, Case, cases_of, check_complete
from mmau.prove.user_design.row_evaluation import Column, columns
from mmau.prove.user_design.settled import settled
from mmau.prove.user_design.shared_products import SharedProducts, products_of
from mmau.prove.user_design.sweeping import Sweep

DIRECT = 0.5
"""Seconds for a case as it is, before wires are matched."""

QUICK, GUESS, SPLIT, SWEPT = 0.5, 1.0, 2.0, 10.0
"""Seconds for a question with shared variables before wires are matched, for one question about a wire, for all questions
about one, and for all wires."""

AIMED = 5.0
"""Seconds for random operands of a case that is open, before its wires are matched."""

BATCH = 1 << 16
"""Random operands that are drawn at a time; those in the case count, at most 4,096 of them."""

LEARNED = 8
"""Most values of a shared product that are no product of their operands before it is asked without the variable."""

Tell = Callable[[str, int, Sequence[str]], None]
"""Takes a case, how many cases are decided, and those that are open."""

Differs = Callable[[Bits, Bits], Term]
"""Whether a result of the design can differ from the specified one."""


@dataclass(frozen=True)
class Decision:
    """The result of the decision.

    Attributes:
        verdict: whether results ever differ.
        decided: cases in which they never do, each with its method. count: the number of all cases.
        open: the cases that are not decided. distances: of the two terms of a sum, how many are proved and how many there
            are; None where they do not divide a case.
        values: the values of the variables, if results differ.
    """

    verdict: Verdict
    decided: tuple[str, ...] = ()
    count: int = 0
    open: tuple[str, ...] = ()
    distances: tuple[int, int] | None = None
    values: Mapping[Term, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Two results for the same operands.

    Attributes:
        got: the design's result. specified: the specification's. differs: the condition that they disagree.
        cases: the cases into which the operands are divided. rows: values of the variables, one per row of operands.
        anew: makes the specified result in another form; None if it has one form alone.
        ask: answers the questions about cases.
        held: the values of variables that were replaced by them. negated: the bits of a variable that stand for their
            complements in both results, so that operands and their negatives are one question.
        unrolled: whether the design's result is that of loops, with a condition for each cycle. (Without loops its choices
            are better left as they are: the wires of CVFPU's multiply-add are then no longer those of the specification.)
    """

    terms: Terms
    got: Bits
    specified: Bits
    differs: Differs
    cases: Sequence[Case]
    rows: Mapping[Term, Column]
    anew: Callable[[Form], Bits] | None = None
    ask: Asking = directly
    held: Mapping[Term, int] = field(default_factory=dict)
    negated: Mapping[Term, int] = field(default_factory=dict)
    unrolled: bool = False

    def decision(
        self,
        limits: Limits,
        report: Tell = lambda case, decided, left: None,
        tried: Callable[[], Mapping[Term, int]] = dict,
    ) -> Decision:
        """Decide the comparison.

        Args:
            report: told of each case that is decided, with its method, at once; of one that an engine has decided without.
            tried: values of the operands for which results may differ, or nothing; asked before the first hard question.

        Returns:
            The decision, with values of the operands themselves.

        Raises:
            IncompleteCases: operands in none of the cases.
        """
        found = self._decision(limits, report, lambda: self._complemented(tried()))
        return replace(found, values={**self._complemented(found.values), **self.held}) if found.values else found

    def _complemented(self, values: Mapping[Term, int]) -> dict[Term, int]:
        return {term: value ^ self.negated.get(term, 0) for term, value in values.items()}

    def _decision(self, limits: Limits, report: Tell, tried: Callable[[], Mapping[Term, int]]) -> Decision:
        check_complete(self.terms, self.cases)
        differs = self.differs(self.got, self.specified)
        wrong = np.flatnonzero(columns([differs], self.rows)[differs])
        if len(wrong):
            return Decision("sometimes", values={term: int(column[wrong[0]]) for term, column in self.rows.items()})
        decided, hard = list[str](), list[Case]()
        waiting, distances = deque(_Part(case, self.got, self.specified) for case in self.cases), set[int]()
        total = len(waiting)

        def left_open(done: Collection[str] = ()) -> list[str]:
            names = (case.name for case in (*(part.case for part in waiting), *hard))
            return [name for name in names if name not in done]

        def tell(done: Collection[str]) -> None:
            report("", len(decided) + len(done), left_open(done))

        while waiting:
            waiting = self._asked(waiting, limits, tell)
            part = waiting.popleft()
            found = self._at_once(part, differs, limits, len(waiting) + 1)
            if found.verdict == "sometimes":
                return replace(found, decided=tuple(decided), count=total)
            if found.verdict == "never":
                decided += found.decided
                report(found.decided[0], len(decided), left_open())
                continue
            if part.shared is None:
                values = dict.fromkeys(variables([differs]), 0) | dict(tried())
                if evaluate([differs], values)[differs]:
                    return Decision("sometimes", tuple(decided), total, values=values)
            parts = [] if limits.over else self._parts(part, limits)
            if parts:
                check_complete(self.terms, [each.case for each in parts], part.case)
                waiting.extend(parts)
                distances |= {each for one in parts if one.case.distance is not None for each in one.case.distances}
                total += len(parts) - 1
            else:
                hard.append(part.case)
            tell(())
        left, named = list[Case](), list[str]()
        for place, case in enumerate(hard):
            short = limits.remaining / (2 * (len(hard) - place))
            values, tried_here = self._aimed(case, differs, min(AIMED, short))
            if values:
                return Decision("sometimes", tuple(decided), total, values=values)
            found = self._by_wires(case, differs, limits)
            if found.verdict == "sometimes":
                return replace(found, decided=tuple(decided), count=total)
            if found.verdict == "never":
                decided += found.decided
                report(found.decided[0], len(decided), [each.name for each in (*left, *hard[place + 1 :])])
            else:
                left.append(case)
                agree = f", {tried_here:,} random operands agree" if tried_here else ""
                named += [name + agree for name in found.open]
        return Decision("unknown" if left else "never", tuple(decided), total, tuple(named), _proved(distances, left))

    def _asked(self, waiting: "deque[_Part]", limits: Limits, tell: Callable[[Collection[str]], None]) -> "deque[_Part]":
        """The waiting parts, once the questions of all those that share products are asked, if one of them comes next.

        Args:
            tell: takes the names of the parts that are decided, again with each further one.
        """
        if waiting[0].shared is None or waiting[0].asked or limits.over:
            return waiting
        cuts = {part: self._cut(part) for part in waiting if part.shared is not None and not part.asked}
        names, done = [part.case.name for part in cuts], list[str]()

        def on_never(place: int) -> None:
            done.append(names[place])
            tell(done)

        if not self.ask.ahead(self.terms.manager, list(cuts.values()), limits, on_never):
            return waiting
        return deque(replace(part, asked=cuts.get(part, part.asked)) for part in waiting)

    def _cut(self, part: "_Part") -> Sequence[Term]:
        """The question about a part, with variables in place of products."""
        assert part.shared is not None
        return part.shared.cut([self.differs(part.got, part.specified)], part.case.assumptions)

    def _at_once(self, part: "_Part", differs: Term, limits: Limits, waiting: int) -> Decision:
        """One question about a case, with variables in place of products where they are shared.

        Args:
            waiting: the number of cases between which the remaining time is divided, this one included.
        """
        case, shared, manager = part.case, part.shared, self.terms.manager
        free = variables([differs, *case.assumptions])
        asked = [differs, *case.assumptions]
        if shared is None:
            return _decision(self.ask(manager, asked, replace(limits, question=DIRECT), free, ask), free, case.name)
        if len(products_of(self.specified.term)) <= 1:  # of more products wires are the better way
            limits = replace(limits, question=max(limits.question, limits.remaining / (waiting + 1)))
        name = f"{case.name}, one variable for the product on both sides" if shared.products else case.name
        for number in range(LEARNED):
            if number:
                part = replace(part, asked=())
            found = self.ask(manager, part.asked or self._cut(part), limits, free, partial(self._solved, part))
            if found.verdict != "sometimes":
                return _decision(found, free, name)
            values = dict(zip(free, found.values, strict=True))
            holds = evaluate(asked, values)
            if all(holds[each] for each in asked):
                return Decision("sometimes", values=values)
            shared.learn(values)
        return _decision(self.ask(manager, asked, limits, free, ask), free, case.name)

    def _solved(
        self, part: "_Part", manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term] = ()
    ) -> Found:
        """The answer to a cut question: at once, or else along the wires of a sum that is specified on the gap, or in its
        share of the time. What an engine was asked is not asked again."""
        solve = _unanswered if part.asked else ask
        if not part.is_on_gap:
            return solve(manager, formulas, limits, values_of)
        found = solve(manager, formulas, replace(limits, question=min(QUICK, limits.question)), values_of)
        if found.verdict != "unknown":
            return found
        shared, end = part.shared, time.process_time() + min(SWEPT, limits.question, limits.remaining)
        assert shared is not None
        short = Limits(end, GUESS, time.process_time)
        rows = shared.values(rows_where(part.case.assumptions, self.rows))
        got, specified = (shared.replaced(each.term) for each in (part.got, part.specified))
        sweep = Sweep(self.terms, got, specified, formulas[1:], rows)
        differs = self.differs(Bits(sweep.swept(short, SPLIT), part.got.width), Bits(specified, self.specified.width))
        if not sweep.progress.open and sweep.asked(differs, short).verdict == "never":
            return Found("never")
        return solve(manager, formulas, limits, values_of)

    def _parts(self, part: "_Part", limits: Limits) -> list["_Part"]:
        """The parts of a case that was too hard; none where it cannot be divided, or where that is no help."""
        case, shared = part.case, part.shared
        if shared is not None:
            return [self._part(each, shared, part.names) for each in case.halves()]
        if self.anew is not None and case is self.cases[-1]:
            normal = self._normal_parts(case, limits)
            if normal:
                return normal
        shared = SharedProducts(self.terms, self.got.term, self.specified.term, case.assumptions, self.rows, limits)
        return [self._part(each, shared) for each in case.ranges() or [case]] if shared.complete else []

    def _normal_parts(self, case: Case, limits: Limits) -> list["_Part"]:
        """The parts of a case with the operands normalised that the design normalises; none if it is none."""
        assert self.anew is not None
        form = Form(normalised=None)
        self.anew(form)
        other = _with_two_terms(case, form)
        rows = rows_where(other.assumptions, self.rows)
        form = Form(normalised=NormalWires(self.terms, self.got.term, form, other.assumptions, rows, limits).names)
        if not form.normalised:
            return []
        specified, whole = self.anew(form), cases_of(self.terms, form)[-1]
        other = replace(_with_two_terms(case, form), distance=whole.distance, low=whole.low, high=whole.high)
        zero = []
        if len(other.assumptions) > len(case.assumptions):
            is_zero = form.summands[1].sig.is_zero().holds
            zero = [replace(case.where("a second term of zero", is_zero), distance=None)]
        parts = list[_Part]()
        for one, parts_of_it in ((other, other.ranges() or [other]), *((each, [each]) for each in zero)):
            shared = SharedProducts(self.terms, self.got.term, specified.term, one.assumptions, self.rows, limits, form)
            if not shared.complete:
                return []
            parts += [self._part(each, shared, form.normalised) for each in parts_of_it]
        return parts

    def _part(self, case: Case, shared: SharedProducts, names: frozenset[str] = frozenset()) -> "_Part":
        """A part of the last case, with the specification in the form that suits it."""
        got = self.got
        if self.unrolled and case.distance is not None:
            got = Bits(settled(self.terms, got.term, case.assumptions, self.rows), got.width)
        if self.anew is None or (case.distance is None and not names):
            return _Part(case, got, self.specified, shared)
        form = Form(normalised=names, gap=None if case.distance is None else (case.low, case.high))
        specified = self.anew(form)
        self._check_form(case, form, specified)
        return _Part(case, got, specified, shared, names, form.read is not None)

    def _check_form(self, case: Case, form: Form, specified: Bits) -> None:
        """Check that a form of the specification gives the specified codes in a case: of all rows; and for all operands
        that the distance is within the gap.

        Raises:
            WrongForm: it does not.
        """
        rows = rows_where(case.assumptions, self.rows)
        if len(next(iter(rows.values()))):
            found = columns([self.specified.term, specified.term], rows)
            if (found[self.specified.term] != found[specified.term]).any():
                raise WrongForm(f"{case.name}: the specification gives other codes in another form")
        if form.read is not None:
            x, y = form.summands
            inside = form.read.equals(x.exp - y.exp) & (form.read >= form.read.low) & (form.read <= form.read.high)
            outside = [(~inside).holds, *case.assumptions]
            if self.ask(self.terms.manager, outside, Limits(inf, COMPLETE), (), ask).verdict != "never":
                raise WrongForm(f"{case.name}: the distance is not proved to lie in it")

    def _aimed(self, case: Case, differs: Term, seconds: float) -> tuple[dict[Term, int], int]:
        """Random operands of a case for which results differ, if there are any, and how many operands were tried."""
        random, end, count = Random(1), time.process_time() + seconds, 0
        while time.process_time() < end:
            rows = {term: _drawn(random, width(term)) for term in self.rows}
            rows = {term: column[:4096] for term, column in rows_where(case.assumptions, rows).items()}
            wrong = np.flatnonzero(columns([differs], rows)[differs])
            if len(wrong):
                return {term: int(column[wrong[0]]) for term, column in rows.items()}, count
            count += len(next(iter(rows.values())))
        return {}, count

    def _by_wires(self, case: Case, differs: Term, limits: Limits) -> Decision:
        """Decide a case along the wires that hold values of the specification."""
        if limits.over:
            return Decision("unknown", open=(case.name,))
        sweep = Sweep(self.terms, self.got.term, self.specified.term, case.assumptions, self.rows)
        swept = Bits(sweep.swept(limits), self.got.width)
        wires = f"{sweep.progress.proved} wires proved to hold values of the specification"
        free = variables([differs, *case.assumptions])
        differs = self.differs(swept, self.specified)
        last = sweep.asked(differs, replace(limits, question=max(limits.question, limits.remaining)), values_of=free)
        found = _decision(last, free, f"{case.name}: {wires}")
        return replace(found, open=(f"{case.name}: {wires}, of {sweep.progress.guessed} that may",))


@dataclass(frozen=True, eq=False)
class _Part:
    """A case, both results in the form that suits it, and the products that are shared in it, if they are.

    Attributes:
        names: the operands that are normalised. is_on_gap: whether the exact sum has only the bits that the gap needs.
        asked: the question about it that an engine was asked; empty for none.
    """

    case: Case
    got: Bits
    specified: Bits
    shared: SharedProducts | None = None
    names: frozenset[str] = frozenset()
    is_on_gap: bool = False
    asked: Sequence[Term] = ()


def _unanswered(manager: TermManager, formulas: Sequence[Term], limits: Limits, values_of: Sequence[Term] = ()) -> Found:
    """No answer, in place of `ask`."""
    return Found("unknown")


def _drawn(random: Random, bits: int) -> Column:
    """Random codes, of which a third have few ones and a third few zeros."""
    column = np.empty(BATCH, dtype=object)
    for place in range(BATCH):
        code, other = random.getrandbits(bits), random.getrandbits(bits)
        column[place] = (code, code & other, code | other)[place % 3]
    return column


def _with_two_terms(case: Case, form: Form) -> Case:
    """A case without the operands for which the second term is zero, if there is one that can be."""
    if len(form.summands) != 2 or form.summands[1].sig.bits.term.is_value():
        return case
    return case.where(case.name, (~form.summands[1].sig.is_zero()).holds)


class WrongForm(Exception):
    """Another form of a specification that does not give its codes."""


def _proved(distances: Collection[int], left: Sequence[Case]) -> tuple[int, int] | None:
    """How many distances are proved where only some cases are left, and how many there are; None if there are none."""
    open_ones = {each for case in left if case.distance is not None for each in case.distances}
    return (len(distances) - len(open_ones), len(distances)) if distances else None


def _decision(found: Found, free: Sequence[Term], name: str) -> Decision:
    """The decision of a case from the answer to its question."""
    if found.verdict == "sometimes":
        return Decision("sometimes", values=dict(zip(free, found.values, strict=True)))
    return Decision(found.verdict, (name,) if found.verdict == "never" else ())
