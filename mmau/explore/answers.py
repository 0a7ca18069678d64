"""answers.md: what a design space says, for a review: the questions and their winners, the front, what each key changes, and
the units' files."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from golden.text import value_as_text
from mmau.explore.columns import described, value_of
from mmau.explore.compared import (
    CUT,
    are_equal,
    by_cells,
    cells_of,
    costs_of,
    label,
    limit_text,
    measures_of,
    number,
    on_front,
    pairs_of,
    rank,
    shared_words,
    short_names,
    title,
    uncertainty,
    varied,
)
from mmau.explore.design_space import NOTHING_ASKED, Asked, Constraint, Question
from mmau.explore.premises import GLITCHES, STAGES, about_costs, measured
from mmau.explore.records import Record, equal_work, is_candidate, is_number, is_right, number_of, value_at, verdict
from mmau.report.markdown import table

FURTHER = ("cost.tops_per_mm2", "cost.tops_per_watt", "cost.array_tops_per_mm2", "cost.array_tops_per_watt")
"""Costs whose best points are named beside those of the compared ones, where they were measured."""

MOST = 40
"""Most points of the table of the front."""

MOST_VALUES = 8
"""Most values of a key whose changes are listed."""

SPREAD: Mapping[str, Mapping[str, float]] = {
    "osu018": {"area": 0.010, "energy": 0.010, "delay": 0.022},
    "asap7": {"area": 0.022, "energy": 0.036, "delay": 0.020},
}
"""By how much mapping the same circuit under other names and in another order changes its costs, by library of cells:
standard deviations, as a share (docs/guides/explore-cost.md has the measurement). The first of these words in a
column's name is what it is: energies with unit delays are energies."""

NOT_MEASURED = "asap7"
"""The library whose spread stands for those in which it was not measured."""


def answers(
    records: Sequence[Record], title_of_space: str, asked: Asked = NOTHING_ASKED, estimates: Sequence[str] = ()
) -> str:
    """The page.

    Args:
        asked: the limits and questions of the space. estimates: sentences about those of other points.
    """
    short = short_names(records)
    costs, measures = costs_of(records, asked), measures_of(records, asked)
    front = on_front(records, asked)
    reproduced = {str(record["name"]): record for record in front}
    of_cells = ["cells"] * (len(by_cells(_right(records))) > 1)
    lines = [f"# {title_of_space}", "", *_counts(records), ""]
    lines += ["## What was measured", "", *(f"- {sentence}" for sentence in measured(records, asked)), ""]
    if estimates:
        lines += ["## Estimates", "", *(f"- {sentence}" for sentence in estimates), ""]
    if found := list(answered(records, asked, [*costs.values()], short)):
        heads = ["question", *of_cells, *ANSWER]
        rows = [[f"**{name}**: {asks}" if name else asks, *cells] for name, asks, _, cells in found]
        lines += ["## Questions", "", table(heads, rows), ""]
        reproduced |= {str(record["name"]): record for _, _, record, _ in found if record is not None}
    if costs:
        lines += ["## The points", "", _about_front(next(iter(costs.values())), measures, short), ""]
        lines += _tables(records, front, [*costs.values()], measures, short)
    if found_changes := changes(records, asked):
        lines += ["## What each key changes", "", ABOUT_CHANGES, ""]
    for change in found_changes:
        lines += [f"### {change.key}", "", table(change.heads, change.rows, change.numbers), ""]
    if best := list(_best(records, [*costs.values(), *FURTHER, *measures], short)):
        heads = ["best", *of_cells, "point", "value", "about equal"]
        lines += [
            "## The best of each column",
            "",
            table(heads, [cells for _, cells in best], (heads.index("value"),)),
            "",
        ]
        reproduced |= {str(record["name"]): record for record, _ in best}
    if any(column.startswith("cost.") for column in costs.values()):
        lines += ["## How far to trust the costs", "", *(f"- {each}" for each in about_costs(records)), ""]
    if reproduced:
        lines += ["## The units", "", "`mmau rtl --unit`, `mmau cosim --unit` and `mmau prove --unit` take these files.", ""]
    for name, record in reproduced.items():
        lines += [f"{name}:", "", "```toml", record["toml"].rstrip(), "```", ""]
    return "\n".join(lines)


def _counts(records: Sequence[Record]) -> list[str]:
    """What there is, and what is missing, in words."""
    points = [record for record in records if record["kind"] == "point"]
    done = [record for record in points if record["status"] == "done"]
    said = [f"{len(points)} points, {len(done)} measured."]
    if beyond := sum(bool(record.get("beyond")) for record in done):
        said.append(f"{beyond} of them do not keep all limits: they have their figures, and are not on the front.")
    if late := sum(bool(record.get("late")) for record in done):
        said.append(f"{late} of them are slower than the wanted clock, and win nothing.")
    lines = [" ".join(said)]
    for status, what in OTHERS.items():
        names = [str(record["name"]) for record in points if record["status"] == status]
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            lines += ["", f"{what}: {', '.join(names[:SHOWN])}{more}; report.html says why."]
    return lines


OTHERS = {
    "unfinished": "Not measured to the end, since the run was interrupted",
    "invalid": "No units, or beyond a limit of their keys",
    "failed": "Failed",
    "timed out": "Timed out",
}
"""What the page says of points that are not done."""

SHOWN = 8
"""Names of such points that the page has."""


def questions_of(asked: Asked) -> list[Question]:
    """The questions: those that the file asks, and the space's limits, each by itself and all together."""
    limits = [Question("", None, (limit,)) for limit in asked.constraints if limit.parameter is None]
    together = [Question("all limits", None, asked.constraints)] if len(limits) > 1 else []
    return [*asked.questions, *limits, *together]


ANSWER = ("answer", "its figures", "about equal")
"""The headings of an answer."""


def asks(question: Question, usual: str, short: Mapping[str, str]) -> str:
    """What a question asks for, in words.

    Args:
        usual: the cost that is made least where it names none.
    """
    best = _flat(question.best or usual)
    what = "least" if described(best, True).better == "low" else "most"
    parts = [f"{what} {label(best, short)}", *(limit_text(limit, short) for limit in question.constraints)]
    return "; ".join([*parts, *(f"{key} = {value_as_text(value)}" for key, value in question.where.items())])


def answered(
    records: Sequence[Record], asked: Asked, costs: Sequence[str], short: Mapping[str, str]
) -> Iterator[tuple[str, str, Record | None, list[str]]]:
    """For each question its name, what it asks for, its winner, one in each library of cells, and the texts of the answer:
    the library where there are several, and those of `ANSWER`."""
    right = by_cells(_right(records))
    for question in questions_of(asked) if costs else ():
        best, said = _flat(question.best or costs[0]), asks(question, costs[0], short)
        shown = dict.fromkeys([best, *(limit.column for limit in question.constraints if limit.parameter is None)])
        is_open = any(record["status"] == "unfinished" and _is_meant(record, question) for record in records)
        so_far = ", so far" * is_open
        meant = {cells: [record for record in each if _is_meant(record, question)] for cells, each in right.items()}
        for cells, each in ({cells: each for cells, each in meant.items() if each} or {"": []}).items():
            of_cells = [cells or "–"] * (len(right) > 1)
            ranked = _ranked(best, [record for record in each if _keeps(record, question)])
            if not ranked:
                yield question.name, said, None, [*of_cells, f"none{so_far}", "–", "–"]
                continue
            figures = [f"{label(column, short)} {_with_unit(column, ranked[0])}" for column in map(_flat, shown)]
            found = [f"{ranked[0]['name']}{so_far}", "; ".join(figures), _equal_names(best, ranked)]
            yield question.name, said, ranked[0], [*of_cells, *found]


def _right(records: Sequence[Record]) -> list[Record]:
    """The points that may win a question."""
    return [record for record in records if record["kind"] == "point" and is_right(record)]


def _ranked(column: str, records: Sequence[Record]) -> list[Record]:
    """The records with a value in a column that has a better end, the best first."""
    known = [(value, str(record["name"]), record) for record in records if (value := rank(column, record)) is not None]
    return [record for _, _, record in sorted(known, key=lambda entry: entry[:2])]


def _equal_names(column: str, ranked: Sequence[Record]) -> str:
    """The points that are about equal to the first one in a column."""
    close = [str(record["name"]) for record in ranked[1:] if _is_close(column, ranked[0], record)]
    more = f" and {len(close) - MOST_EQUAL} more" if len(close) > MOST_EQUAL else ""
    return f"{', '.join(close[:MOST_EQUAL])}{more}" if close else "–"


MOST_EQUAL = 6
"""Names of points that are about equal to a winner."""


def _flat(column: str) -> str:
    return column if column.startswith("accuracy.") else f"cost.{column.removeprefix('cost.')}"


def _with_unit(column: str, record: Record) -> str:
    return f"{_figure(column, record)} {described(column, True).unit}".strip()


def _figure(column: str, record: Record) -> str:
    """A value with its uncertainty."""
    value, error = value_of(column, record), uncertainty(column, record)
    if value is None or error is None or math.isinf(value):
        return number(value)
    return f"{value:.1f} ± {max(error, 0.1):.1f}" if abs(value) < 1000 else number(value)


def spread(column: str, record: Record) -> float | None:
    """The standard deviation, as a share, with which mapping gives a cost; None where a record or a column has none."""
    shares = SPREAD.get(cells_of(record), SPREAD[NOT_MEASURED])
    what = {"clock": "delay"}
    name = next((each for each in (*shares, *what) if each in column), None)
    has_one = column.startswith("cost.") and name is not None and bool(cells_of(record))
    return shares[what.get(name, name)] if has_one and name is not None else None


def _is_close(column: str, one: Record, other: Record) -> bool:
    """Whether two values do not differ by more than chance: of the rows, or of the mapping."""
    share = spread(column, one)
    if share is None:
        return are_equal(column, one, other)
    first, second = value_of(column, one), value_of(column, other)
    if first is None or second is None or cells_of(one) != cells_of(other):
        return False
    return abs(first - second) <= 2 * math.sqrt(2) * share * abs(first)


def _is_meant(record: Record, question: Question) -> bool:
    axes = record.get("axes") or {}
    return all(axes.get(key, value) == value for key, value in question.where.items())


def _keeps(record: Record, question: Question) -> bool:
    return all(_is_within(record, limit) for limit in question.constraints)


def _is_within(record: Record, limit: Constraint) -> bool:
    value = value_at(record, "parameters", limit.parameter) if limit.parameter else value_of(limit.column, record)
    return isinstance(value, (int, float)) and not limit.broken(value)


def _about_front(cost: str, measures: Sequence[str], short: Mapping[str, str]) -> str:
    said = " or ".join(label(measure, short) for measure in measures)
    found = (
        f"Front: no other point is better in both {label(cost, short)} and {said}. ≈: no better than the named smaller one, "
        "within the uncertainty that the rows of the sample leave. ±: 95 %."
    )
    return f"{found} {CUT_BLOCKS}" if any(word.endswith(CUT) for word in short.values()) else found


CUT_BLOCKS = (
    "Cut blocks: a row is one step, and if it has fewer elements than K_block, those few share a scale. Ratios are then "
    "better than of whole blocks, as a chain of a multiple of K_block products has them."
)
"""What is said of workloads whose rows have no whole blocks."""


def _tables(
    records: Sequence[Record],
    front: Sequence[Record],
    costs: Sequence[str],
    measures: Sequence[str],
    short: Mapping[str, str],
) -> list[str]:
    """All points that are measured, if they are few, else those of the front, and the references: in one table or, where
    that is wide, in one of costs and one of accuracy."""
    held = [record for record in records if record.get("cost") or record.get("accuracy")]
    points = sorted(
        (record for record in held if record["kind"] == "point"),
        key=lambda record: (cells_of(record), rank(costs[0], record) or 0.0, str(record["name"])),
    )
    points = points if len(points) <= MOST else [*front[:MOST]]
    shown = [*points, *(record for record in held if record["kind"] == "reference")]
    keys = {head: path for head, path in KEYS.items() if any(value_at(record, *path) is not None for record in shown)}
    of_array = [column for column in costs if column.startswith("cost.array_")]
    parts = [[column for column in costs if column not in of_array], of_array, [*measures]]
    first, *others = [each for each in parts if each]
    if len(keys) + len(first) + sum(map(len, others)) <= WIDE:
        first, others = [*costs, *measures], []
    elif sum(map(len, others)) <= WIDE:
        others = [[column for each in others for column in each]]
    on_it = {str(record["name"]) for record in front}
    lines = []
    for columns in filter(None, [first, *others]):
        of_keys = keys if columns is first else {}
        heads = ["point", *of_keys, *(head(column, short, points) for column in columns), "note"]
        rows = [
            [
                str(record["name"]),
                *(number(value_at(record, *path)) for path in of_keys.values()),
                *(_figure(column, record) for column in columns),
                _note(record, front, on_it, measures),
            ]
            for record in shown
        ]
        lines += [table(heads, rows, range(1, len(heads) - 1)), ""]
    if len(front) > MOST:
        lines += [f"{len(front) - MOST} more are on the front: they are in results.csv.", ""]
    elif len(points) == len(front) < len(held):
        lines += ["All other points are in results.csv.", ""]
    return lines


WIDE = 7
"""Most columns of figures of one table."""

KEYS = {"L": ("parameters", "L"), "stages": ("parameters", STAGES), "clock of power (ns)": ("cost", "wanted", "clock_ns")}
"""What stands beside the name of each point, whether it varies or not."""


def head(column: str, short: Mapping[str, str], records: Sequence[Record]) -> str:
    """The title of a column; of a cost with the spread of the mapping."""
    shares = [share for record in records if (share := spread(column, record)) is not None]
    whole = title(column, short)
    return f"{whole.removesuffix(')')}, ±{200 * max(shares):.0f} %)" if shares and whole.endswith(")") else whole


def _note(record: Record, front: Sequence[Record], on_it: Collection[str], measures: Sequence[str]) -> str:
    """Whether a point is on the front, which smaller one of the front is as good, and why it cannot be on it."""
    if record["kind"] == "reference":
        cells = cells_of(record)
        return f"reference{f', in {cells}' if cells else ''}"
    words = ["front"] if record["name"] in on_it else []
    words += [_equal_to(record, front, measures)] if words else []
    words += [record["status"]] if record["status"] != "done" else []
    words += ["too slow"] if record.get("late") else []
    words += ["beyond a limit"] if record.get("beyond") else []
    words += ["circuit is wrong"] if verdict(record).state == "differs" else []
    return ", ".join(filter(None, words))


def _equal_to(record: Record, front: Sequence[Record], measures: Sequence[str]) -> str:
    """The smallest point before this one that is as good in all measures; empty where none is."""
    for other in front:
        if other is record or record["kind"] != "point":
            break
        if cells_of(other) == cells_of(record) and all(are_equal(measure, other, record) for measure in measures):
            return f"≈ {other['name']}"
    return ""


class Changes(NamedTuple):
    """A table of what a key changes.

    Attributes:
        key: its label. heads: of the columns. rows: texts. numbers: the columns that are figures.
    """

    key: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def numbers(self) -> range:
        return range(self.heads.index("pairs"), len(self.heads))


ABOUT_CHANGES = (
    "In pairs of points that differ in nothing else, in one library of cells: the mean, and the least and largest where "
    "pairs disagree, of ratios with the pair that is farthest from the mean; costs in per cent or as a factor, "
    "signal-to-noise ratios in dB. Where fewer pairs have a figure, their number is beside it. Rows of a table need not add "
    "up: they may rest on other points."
)


def changes(records: Sequence[Record], asked: Asked) -> list[Changes]:
    """What each key changes: costs and accuracies of points that differ in that key alone."""
    short, costs, measures = short_names(records), [*costs_of(records, asked).values()], measures_of(records, asked)
    glitches = equal_work(records, f"cost.{GLITCHES}")
    has_glitches = any(number_of(record, glitches) is not None for record in records)
    columns = [*dict.fromkeys([*costs, *[glitches] * has_glitches, *measures])]
    right, found = by_cells(_right(records)), []
    of_cells = ["cells"] * (len(right) > 1)
    for key, values in varied(_right(records)).items():
        rows = []
        for cells, each in right.items():
            for first, value in _compared_values(values):
                if pairs := list(pairs_of(each, key, first, value)):
                    figures = [_change(column, pairs) for column in columns]
                    change = f"{value_as_text(first)} → {value_as_text(value)}"
                    rows.append([change, *(cells or "–" for _ in of_cells), str(len(pairs)), *figures])
        if rows:
            found.append(Changes(key, [key, *of_cells, "pairs", *(label(column, short) for column in columns)], rows))
    return found


def _compared_values(values: Sequence[object]) -> list[tuple[object, object]]:
    """Which values are compared: few words each with each other, numbers and many words with the first one."""
    if len(values) <= FEW and not all(map(is_number, values)):
        return list(combinations(values, 2))
    first, *others = values
    if len(others) > MOST_VALUES:
        others = [others[place * (len(others) - 1) // (MOST_VALUES - 1)] for place in range(MOST_VALUES)]
    return [(first, other) for other in others]


MANIFOLD = 200.0
"""Change (%) from which on costs are said to be so many times as large."""

FEW = 4
"""Most values that are words that are compared each with each other."""


def _change(column: str, pairs: Sequence[tuple[Record, Record]]) -> str:
    """By how much a column changes from the first to the second of each pair."""
    known = [
        (before, after, shared_words([str(one["name"]), str(other["name"])]))
        for one, other in pairs
        if (before := value_of(column, one)) is not None and (after := value_of(column, other)) is not None
    ]
    unit = "" if described(column, True).unit == "dB" else " %"
    by_pair = [
        (after - before if not unit else 100 * (after / before - 1), names)
        for before, after, names in known
        if before or not unit
    ]
    by_pair = [(each, names) for each, names in by_pair if math.isfinite(each)]
    found = [each for each, _ in by_pair]
    if not found:
        return "–"
    some = f" of {len(found)}" if len(found) < len(pairs) else ""
    if unit and max(found) > MANIFOLD:
        times = [each / 100 + 1 for each in found]
        mean, low, high = (f"{each:.3g}" for each in (sum(times) / len(times), min(times), max(times)))
        return (f"× {mean}" if low == high else f"× {mean} ({low} to {high})") + some
    digits = 0 if unit else 1
    mean, low, high = (_signed(each, digits) for each in (sum(found) / len(found), min(found), max(found)))
    if low == high:
        return f"{mean}{unit}{some}"
    return f"{mean}{unit} ({low} to {high}{'' if unit else _farthest(by_pair)}){some}"


def _farthest(by_pair: Sequence[tuple[float, str]]) -> str:
    """Which pair is farthest from the mean, by the words that others do not have."""
    mean = sum(change for change, _ in by_pair) / len(by_pair)
    names = max(by_pair, key=lambda pair: abs(pair[0] - mean))[1]
    of_all = shared_words([each for _, each in by_pair]).split()
    own = " ".join(word for word in names.split() if word not in of_all)
    return f", {own}" if own else ""


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else "0"


def _best(records: Sequence[Record], columns: Sequence[str], short: Mapping[str, str]) -> Iterator[tuple[Record, list[str]]]:
    """The best point of each column that has a better end, in each library of cells."""
    right = by_cells(_right(records))
    for column in columns:
        for cells, each in right.items():
            if ranked := _ranked(column, list(filter(is_candidate, each))):
                best, of_cells = ranked[0], [cells] * (len(right) > 1)
                figures = [str(best["name"]), _figure(column, best), _equal_names(column, ranked)]
                yield best, [title(column, short), *of_cells, *figures]


def representatives(
    records: Sequence[Record], most: int, asked: Asked = NOTHING_ASKED, what: str = "points"
) -> tuple[list[Record], str]:
    """At most so many records for a plot, and words that say which: all, or those on the front, evenly spread over it.

    Args:
        what: one record is of.
    """
    if len(records) <= most:
        return list(records), ""
    front = on_front(records, asked) or sorted(filter(is_candidate, records), key=lambda record: str(record["name"]))
    kept = front or list(records)
    if len(kept) > most:
        kept = [kept[place * (len(kept) - 1) // (most - 1)] for place in range(most)]
    return kept, f", {len(kept)} of {len(records)} {what}, along the front of cost and accuracy"


def arrays(records: Sequence[Record]) -> list[dict[str, Any]]:
    """What a model of a system needs of each point with an array: its file, and its costs."""
    found = []
    for record in records:
        cost = record.get("cost") or {}
        figures = {key.removeprefix("array_"): value for key, value in cost.items() if key.startswith("array_")}
        if figures:
            named = {key: record[key] for key in ("name", "status", "parameters", "toml")}
            found.append({**named, "wanted": cost["wanted"], **figures})
    return found
