"""A paper's named tests, run on a box one after another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from probe.box import Box
from probe.papers.asker import Asker, Row
from probe.papers.values import NotHeldError, value_text

NO_ANSWER = "—"
"""A test that the box's formats or lengths do not admit, or that an earlier one has made void; `reason` says why."""


@dataclass(frozen=True)
class Answer:
    """What a test found: for people, and for the tests after it."""

    text: str
    value: Any = None


Known = Mapping[str, Any]
"""By the name of a test, the value that it found; those without one are absent."""


@dataclass(frozen=True)
class Test:
    """A named test.

    Attributes:
        name: as its paper calls it.
        source: where in the paper it is.
        about: what it finds out, in a line.
        ask: asks the box. It may raise `NotHeldError` where the test does not apply.
    """

    name: str
    source: str
    about: str
    ask: Callable[[Asker, Known], Answer]


@dataclass(frozen=True)
class Paper:
    """A paper's tests, in the order in which they depend on each other."""

    key: str
    title: str
    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Reading:
    """What a test found on a box.

    Attributes:
        answer: `NO_ANSWER` where there is none, and `reason` says why.
        rows: what was asked and answered.
    """

    test: Test
    answer: str
    reason: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Features:
    """What a paper's tests found on a box, by their names."""

    box: str
    readings: dict[str, Reading] = field(default_factory=dict)

    def answer(self, test: str) -> str:
        """What one test found."""
        return self.readings[test].answer


def features(paper: Paper, box: Box, asker: Asker | None = None) -> Features:
    """Run a paper's tests on a box. An `asker` that has asked the same box already does not ask anything twice.

    Raises:
        BoxError: the box does not do what a box must.
    """
    asker = asker or Asker(box)
    known: dict[str, Any] = {}
    found = Features(box.name)
    for test in paper.tests:
        asker.begin()
        try:
            answer, reason = test.ask(asker, known), ""
        except NotHeldError as error:
            answer, reason = Answer(NO_ANSWER), str(error)
        if answer.value is not None:
            known[test.name] = answer.value
        found.readings[test.name] = Reading(test, answer.text, reason, tuple(asker.rows))
    return found


def needed(known: Known, *names: str) -> list[Any]:
    """What earlier tests found.

    Raises:
        NotHeldError: one of them found nothing.
    """
    for name in names:
        if name not in known:
            raise NotHeldError(f"needs what {name} finds")
    return [known[name] for name in names]


MODES = {(False, False): "RZ", (True, True): "RN", (True, False): "RU", (False, True): "RD"}
"""A rounding mode by whether a value beyond the midpoint goes away from zero: a positive one, a negative one."""


def rounding(positive: Fraction | None, negative: Fraction | None, low: Fraction, high: Fraction) -> Answer:
    """The mode that turned values between ±low and ±high into these."""
    if positive not in (low, high) or negative not in (-low, -high):
        return Answer(f"d = {value_text(positive)} and {value_text(negative)}")
    return Answer(MODES[positive == high, negative == -high])
