"""The results of the papers' tests on several devices under test, side by side: as text, for JSON and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from golden.device import Device
from golden.html import Markup, details, element, page
from golden.html import table as html_table
from golden.text import table
from mmau.probe.papers import NO_ANSWER, PAPERS, Features, Reading, features
from mmau.probe.papers.asker import Asker


@dataclass(frozen=True)
class DeviceFeatures:
    """All papers' tests on one device under test.

    Attributes:
        operands: its formats and K, for people.
        vectors: rows that the device under test was asked for.
    """

    name: str
    operands: str
    vectors: int
    papers: tuple[Features, ...]


def features_of(dut: Device) -> DeviceFeatures:
    """Run all papers' tests on a device under test; rows of earlier tests are not asked again.

    Raises:
        DeviceUnderTestError: the device under test does not do what a device under test must.
    """
    asker = Asker(dut)
    papers = tuple(features(paper, dut, asker) for paper in PAPERS)
    shape = dut.shape
    scales = "" if shape.scale is None else f", {shape.scale} for {shape.block_size}"
    operands = f"{shape.a} × {shape.b} + {shape.c} → {shape.d}, K={shape.K}{scales}"
    return DeviceFeatures(dut.name, operands, asker.vectors, papers)


def text_of(duts: Sequence[DeviceFeatures]) -> str:
    """A table for each paper, a column for each device under test, and why there is no answer."""
    lines = [f"{dut.name}: {dut.operands}; {dut.vectors} vectors" for dut in duts]
    for number, paper in enumerate(PAPERS):
        lines += ["", paper.title, ""]
        found = [dut.papers[number] for dut in duts]
        rows = [("test", "section", *(dut.name for dut in duts))]
        rows += [(test.name, test.source, *(each.answer(test.name) for each in found)) for test in paper.tests]
        lines.append(table(rows))
        reasons = {(test, reading.reason): None for each in found for test, reading in each.readings.items()}
        lines += [f"  {test}: {NO_ANSWER} because {reason}" for test, reason in reasons if reason]
    return "\n".join(lines) + "\n"


def as_dict(duts: Sequence[DeviceFeatures]) -> dict[str, Any]:
    """The report as plain JSON: by device under test and paper, each test with its answer and every row that was asked."""
    return {
        "boxes": [
            {
                "name": dut.name,
                "operands": dut.operands,
                "vectors": dut.vectors,
                "papers": {
                    paper.key: {test: _reading_dict(reading) for test, reading in found.readings.items()}
                    for paper, found in zip(PAPERS, dut.papers, strict=True)
                },
            }
            for dut in duts
        ]
    }


def _reading_dict(reading: Reading) -> dict[str, Any]:
    return {
        "source": reading.test.source,
        "answer": None if reading.reason else reading.answer,
        "reason": reading.reason or None,
        "rows": [str(row) for row in reading.rows],
    }


def html_of(duts: Sequence[DeviceFeatures]) -> str:
    """One page that loads nothing: a table for each paper, with the rows of each test."""
    body: list[Markup] = [element("p", f"{dut.name}: {dut.operands}; {dut.vectors} vectors.") for dut in duts]
    for number, paper in enumerate(PAPERS):
        found = [dut.papers[number] for dut in duts]
        rows = [(test.name, *(each.answer(test.name) for each in found)) for test in paper.tests]
        body += [
            element("h2", paper.title),
            html_table(("test", *(dut.name for dut in duts)), rows, "Answers by device under test"),
        ]
        for test in paper.tests:
            asked = [_asked(each.dut, each.readings[test.name]) for each in found]
            body.append(details(f"{test.name} ({test.source}): {test.about}", *asked))
    return page("The papers' tests", *body)


def _asked(dut: str, reading: Reading) -> Markup:
    head = element("h3", f"{dut}: {reading.answer}")
    why = [element("p", f"No answer: {reading.reason}.")] if reading.reason else []
    rows = [element("pre", "\n".join(map(str, reading.rows)), tabindex="0")] if reading.rows else []
    return element("div", head, *why, *rows)
