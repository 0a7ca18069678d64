"""Second opinions: which solver confirmed the answer of which other one, by the digest of the question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmau.report import markdown

Given = Sequence[Mapping[str, Any]]
"""Answers of solvers to one question, in the order in which they were asked."""


@dataclass(frozen=True)
class Opinion:
    """The answers of two solvers to one question.

    Attributes:
        question: its key, the SHA-256 of its text. first: the solver that decided it. verdict: its answer.
        second: another solver that decided it; empty if none did. other: its answer, `unknown` if none did.
    """

    question: str
    first: str
    verdict: str
    second: str
    other: str

    @property
    def is_confirmed(self) -> bool:
        """Whether both say the same."""
        return bool(self.second) and self.verdict == self.other

    @property
    def is_contradicted(self) -> bool:
        """Whether they say the opposite."""
        return bool(self.second) and self.verdict != self.other

    def as_list(self) -> list[str]:
        """For JSON."""
        return [self.question, self.first, self.verdict, self.second, self.other]


def decided(given: Given) -> tuple[str, str]:
    """The solver that decided a question, and its answer; empty and `unknown` if none did."""
    for answer in given:
        if answer["verdict"] != "unknown":
            return str(answer["solver"]), str(answer["verdict"])
    return "", "unknown"


def opinions_of(table: Mapping[str, Any]) -> dict[str, Opinion]:
    """The opinions of a stored table, by question."""
    listed = [Opinion(*row) for row in table["opinions"]]
    return {each.question: each for each in listed}


def row_of(identified: Mapping[str, str], questions: Iterable[str], known: Mapping[str, Opinion]) -> dict[str, Any]:
    """The row of a design: its questions, and how many of them are confirmed and contradicted.

    Args:
        identified: its keys `name`, `kind`, `built`, `design`, and `questions`, their digest. questions: their keys.
    """
    found = [known.get(key) for key in dict.fromkeys(questions)]
    confirmed, contradicted = (
        sum(each is not None and getattr(each, name) for each in found) for name in ("is_confirmed", "is_contradicted")
    )
    return {**identified, "asked": len(found), "confirmed": confirmed, "contradicted": contradicted}


def sections(second: Mapping[str, Any], proofs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The part of the page of proofs about second opinions.

    Args:
        second: the stored table. proofs: the rows of the proofs; an opinion counts for a row with the same questions.
    """
    listed = list(opinions_of(second).values())
    names = sorted({each.second for each in listed if each.is_confirmed})
    by = [f"{sum(each.is_confirmed and each.second == name for each in listed):,} by {name}" for name in names]
    confirmed, contradicted = (sum(getattr(each, name) for each in listed) for name in ("is_confirmed", "is_contradicted"))
    now = {(row["kind"], row["design"], row["questions"]) for row in proofs}
    valid = [row for row in second["subjects"] if (row["kind"], row["design"], row["questions"]) in now]
    rows = [
        (row["name"], row["built"] if row["kind"] == "datapath" else f"{row['kind']}, {row['built']}",
         f"{row['confirmed']} of {row['asked']}", str(row["contradicted"]))
        for row in valid
    ]  # fmt: skip
    complete = sum(row["confirmed"] == row["asked"] for row in valid)
    return [
        "## Second opinions",
        f"Written by `make formal-second` ({second['date']}): each question put to another solver than the one that decided "
        f"it, for at most {second['seconds']:g} s. Of {len(listed):,} distinct questions {confirmed:,} are confirmed "
        f"({', '.join(by)}) and {contradicted} contradicted; the others the second solvers leave open. All questions of "
        f"{complete} of these {len(valid)} designs are confirmed.",
        markdown.table(("design", "built", "questions confirmed", "contradicted"), rows, numbers=[3]),
    ]
