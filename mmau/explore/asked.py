"""What was asked of a space, which plots and page show first: its questions in words, and its measures in order."""

from collections.abc import Mapping, Sequence

from golden.text import value_as_text
from mmau.explore.answers import questions_of
from mmau.explore.columns import described, flat_name
from mmau.explore.compared import cells_of, label, limit_text
from mmau.explore.design_space import Asked
from mmau.explore.records import Record


def asked_first(measures: Sequence[str], asked: Asked) -> list[str]:
    """The measures, those first that are limited or made best."""
    return sorted(measures, key=lambda measure: measure not in asked.columns)


def asked_in_words(asked: Asked, usual: str, short: Mapping[str, str]) -> list[str]:
    """The questions and limits.

    Args:
        usual: the cost that is made least where a question names none. short: names of the workloads.
    """
    found = []
    for question in questions_of(asked):
        best = flat_name(question.best or usual)
        less = "least" if described(best, True).better == "low" else "most"
        parts = [f"{less} {label(best, short)}", *(limit_text(limit, short) for limit in question.constraints)]
        parts += [f"{key} = {value_as_text(value)}" for key, value in question.where.items()]
        found.append(f"{question.name}: {'; '.join(parts)}" if question.name else "; ".join(parts))
    return found


def by_cells(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each library of cells, since costs in different ones do not compare."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(cells_of(record), []).append(record)
    return found
