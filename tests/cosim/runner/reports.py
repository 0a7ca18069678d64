"""Reports without a simulator, for tests of their formats."""

from dataclasses import replace
from functools import cache

from cosim import Report
from cosim.bench.scoreboard import Outcome
from golden import Cls
from rtl import UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT, run_through, scoreboard

HOSTILE = "<b>&\"'\x00\x1b]]> \N{SNOWMAN}"
"""A name that documents must escape."""


@cache
def passed() -> Report:
    return run_through(scoreboard())


@cache
def failed(name: str = "failing") -> Report:
    """A report in which normal results are one code too high, one result has undefined bits, and one NaN differs."""

    def answer(row: int, code: int) -> int | str:
        cls = T_UNIT.operation.d.decode(code).cls
        return "X" * 32 if row == 5 else code + 1 if cls in (Cls.NORMAL, Cls.NAN) else code

    return replace(run_through(scoreboard(vectors=2000), answer), unit=name)


@cache
def explained() -> Report:
    """A report with diagnosis and trace."""
    return with_explanation(failed("explained"))


def with_explanation(report: Report) -> Report:
    """The report of mismatches with their explanation."""
    return report.explained(UnitDesign(T_UNIT))


@cache
def hostile() -> Report:
    """A report with texts from a user's files that need escaping."""
    report = failed(HOSTILE)
    groups = tuple(replace(group, first=HOSTILE, stimulus_class=HOSTILE) for group in report.groups)
    classes = {HOSTILE: 3, **report.classes}
    return replace(report, groups=groups, classes=classes, stopped=HOSTILE, waived={HOSTILE: 2}, first_disagreement=HOSTILE)


@cache
def nothing_done() -> Report:
    """A report of a simulation that broke off before the first vector."""
    outcome = Outcome(vectors=100, sent=0, received=0, waiting=0, engine="native", stopped="the simulation stood still")
    return Report.of(UnitDesign(T_UNIT), outcome, "none", 0, 0.0)
