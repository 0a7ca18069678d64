"""Runs the named tests of a paper on a device under test, one after another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from golden.device import Device
from mmau.probe.papers.asker import Asker, Row
from mmau.probe.papers.operand_values import NotHeldError, value_text

NO_ANSWER = "—"
"""The answer of a test that the device's formats or lengths do not admit, or that an earlier test has made void; `reason`
says why."""


@dataclass(frozen=True)
class Answer:
    """The finding of a test: its text, and its value for later tests."""

    text: str
    value: Any = None


Known = Mapping[str, Any]
"""The value that each test found, by the test's name; tests without a value are absent."""


@dataclass(frozen=True)
class Test:
    """A named test.

    Attributes:
        name: as its paper calls it.
        source: where in the paper it is.
        about: the property that it finds, in one line.
        ask: asks the device under test. It may raise `NotHeldError` where the test does not apply.
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
    """The finding of a test on a device under test.

    Attributes:
        answer: `NO_ANSWER` where there is none, and `reason` says why.
        rows: the questions, with their answers.
    """

    test: Test
    answer: str
    reason: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Features:
    """The findings of a paper's tests on a device under test, by name."""

    dut: str
    readings: dict[str, Reading] = field(default_factory=dict)

    def answer(self, test: str) -> str:
        """The finding of one test."""
        return self.readings[test].answer


def features(paper: Paper, dut: Device, asker: Asker | None = None) -> Features:
    """Run a paper's tests on a device under test. An `asker` that has already asked this device repeats no question.

    Raises:
        DeviceUnderTestError: the device misbehaves.
    """
    asker = asker or Asker(dut)
    known: dict[str, Any] = {}
    found = Features(dut.name)
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
    """The values that earlier tests found.

    Raises:
        NotHeldError: one of them found nothing.
    """
    for name in names:
        if name not in known:
            raise NotHeldError(f"needs what {name} finds")
    return [known[name] for name in names]


MODES = {(False, False): "RZ", (True, True): "RN", (True, False): "RU", (False, True): "RD"}
"""Rounding modes by whether a value beyond the midpoint is rounded away from zero: for a positive and for a negative
value."""


def rounding(positive: Fraction | None, negative: Fraction | None, low: Fraction, high: Fraction) -> Answer:
    """The rounding mode that gives these results for values between low and high and between −high and −low."""
    if positive not in (low, high) or negative not in (-low, -high):
        return Answer(f"d = {value_text(positive)} and {value_text(negative)}")
    return Answer(MODES[positive == high, negative == -high])
