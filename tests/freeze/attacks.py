"""Ids and outcomes of every test with the marker `attack`."""

import json
import xml.etree.ElementTree as ET
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

MOVES = Path(__file__).with_name("moves.json")
"""Where frozen tests are now: the longest beginning of an id that is a key here is replaced by its value. A broken thing
that another test tries instead has its whole id here. What left with what it tried has null."""

DECLARED, KNOWN, CAUGHT, MISSED, NOT_TRIED = "declared to pass", "known to be missed", "caught", "MISSED", "not tried"
"""Outcomes. The first two are what the markers of a test say, before it has run."""

Attacks = dict[str, dict[str, list[str]]]
"""By test and outcome, the cases: what follows the test's name in an id."""


class Collector:
    """A plugin that keeps the tests with the marker."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the declared outcome of each."""
        attacks = [item for item in items if item.get_closest_marker("attack")]
        self.outcomes |= {each.nodeid: KNOWN if each.get_closest_marker("xfail") else DECLARED for each in attacks}


def attacks(junit: Path | None, before: Attacks) -> Attacks:
    """Every attack, with the outcome that the report of a run gives it, that was known before, or that is declared."""
    collector = Collector()
    with redirect_stdout(StringIO()) as output:
        status = pytest.main(["--collect-only", "-qq", "-m", "attack"], [collector])
    if status != pytest.ExitCode.OK:
        raise ValueError(f"the tests cannot be collected: {output.getvalue()[-3000:]}")
    ran = {} if junit is None else reported(junit)
    earlier = {} if ran else by_id(before)
    found: Attacks = {}
    for name, declared in collector.outcomes.items():
        outcome = ran.get(_junit_name(name), earlier.get(name, DECLARED)) if declared == DECLARED else KNOWN
        test, bracket, case = name.partition("[")
        found.setdefault(test, {}).setdefault(outcome, []).append(bracket + case)
    return found


def by_id(attacks: Attacks) -> dict[str, str]:
    """The outcome of each id."""
    return {test + case: outcome for test, found in attacks.items() for outcome, cases in found.items() for case in cases}


def reported(junit: Path) -> dict[str, str]:
    """The outcomes of a run, by the names that such a report has for tests."""
    found = {}
    for case in ET.parse(junit).iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = MISSED if kinds & {"failure", "error"} else NOT_TRIED if "skipped" in kinds else CAUGHT
        found[f"{case.get('classname')}.{case.get('name')}"] = outcome
    return found


def _junit_name(nodeid: str) -> str:
    file, _, test = nodeid.partition("::")
    return f"{file.removesuffix('.py').replace('/', '.')}.{test}"


def worse(old: Attacks, new: Attacks) -> list[str]:
    """A line for each frozen attack that is no longer attempted, or has a worse outcome."""
    moves, today = json.loads(MOVES.read_text(encoding="utf-8")), by_id(new)
    lines = []
    for name, was in by_id(old).items():
        beginning = max((each for each in moves if name.startswith(each)), key=len, default="")
        if (place := moves.get(beginning, "")) is None:
            continue
        now = today.get(place + name[len(beginning) :])
        if now is None:
            lines.append(f"{name}: is no longer attempted; say in {MOVES.name} where it went")
        elif now == MISSED or (now == KNOWN != was) or (now == NOT_TRIED and was == CAUGHT):
            lines.append(f"{name}: {now}, was {was}")
    return lines
