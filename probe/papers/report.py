"""What the papers' tests found on several boxes, side by side: as text, for JSON and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from golden.html import Markup, details, element, page
from golden.html import table as html_table
from golden.text import table
from probe.box import Box
from probe.papers import NO_ANSWER, PAPERS, Features, Reading, features
from probe.papers.asker import Asker


@dataclass(frozen=True)
class BoxFeatures:
    """All papers' tests on one box.

    Attributes:
        operands: its formats and K, for people.
        vectors: rows that the box was asked for.
    """

    name: str
    operands: str
    vectors: int
    papers: tuple[Features, ...]


def features_of(box: Box) -> BoxFeatures:
    """Run all papers' tests on a box; what one has asked, the next does not ask again.

    Raises:
        BoxError: the box does not do what a box must.
    """
    asker = Asker(box)
    papers = tuple(features(paper, box, asker) for paper in PAPERS)
    shape = box.shape
    scales = "" if shape.scale is None else f", {shape.scale} for {shape.block_size}"
    operands = f"{shape.a} × {shape.b} + {shape.c} → {shape.d}, K={shape.K}{scales}"
    return BoxFeatures(box.name, operands, asker.vectors, papers)


def text_of(boxes: Sequence[BoxFeatures]) -> str:
    """A table for each paper, a column for each box, and why there is no answer."""
    lines = [f"{box.name}: {box.operands}; {box.vectors} vectors" for box in boxes]
    for number, paper in enumerate(PAPERS):
        lines += ["", paper.title, ""]
        found = [box.papers[number] for box in boxes]
        rows = [("test", "section", *(box.name for box in boxes))]
        rows += [(test.name, test.source, *(each.answer(test.name) for each in found)) for test in paper.tests]
        lines.append(table(rows))
        reasons = {(test, reading.reason): None for each in found for test, reading in each.readings.items()}
        lines += [f"  {test}: {NO_ANSWER} because {reason}" for test, reason in reasons if reason]
    return "\n".join(lines) + "\n"


def as_dict(boxes: Sequence[BoxFeatures]) -> dict[str, Any]:
    """For JSON: by box and paper, each test with its answer and every row that was asked."""
    return {
        "boxes": [
            {
                "name": box.name,
                "operands": box.operands,
                "vectors": box.vectors,
                "papers": {
                    paper.key: {test: _reading_dict(reading) for test, reading in found.readings.items()}
                    for paper, found in zip(PAPERS, box.papers, strict=True)
                },
            }
            for box in boxes
        ]
    }


def _reading_dict(reading: Reading) -> dict[str, Any]:
    return {
        "source": reading.test.source,
        "answer": None if reading.reason else reading.answer,
        "reason": reading.reason or None,
        "rows": [str(row) for row in reading.rows],
    }


def html_of(boxes: Sequence[BoxFeatures]) -> str:
    """One page without anything from elsewhere: a table for each paper, and behind each test what it asked."""
    body: list[Markup] = [element("p", f"{box.name}: {box.operands}; {box.vectors} vectors.") for box in boxes]
    for number, paper in enumerate(PAPERS):
        found = [box.papers[number] for box in boxes]
        rows = [(test.name, *(each.answer(test.name) for each in found)) for test in paper.tests]
        body += [element("h2", paper.title), html_table(("test", *(box.name for box in boxes)), rows, "Answers by box")]
        for test in paper.tests:
            asked = [_asked(each.box, each.readings[test.name]) for each in found]
            body.append(details(f"{test.name} ({test.source}): {test.about}", *asked))
    return page("The papers' tests", *body)


def _asked(box: str, reading: Reading) -> Markup:
    head = element("h3", f"{box}: {reading.answer}")
    why = [element("p", f"No answer: {reading.reason}.")] if reading.reason else []
    rows = [element("pre", "\n".join(map(str, reading.rows)), tabindex="0")] if reading.rows else []
    return element("div", head, *why, *rows)
