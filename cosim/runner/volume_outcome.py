"""Converts a volume program's outcome to a report: names for numbers, rows with their operands, mismatches in groups."""

from collections.abc import Mapping
from typing import Any

from cosim.bench.compared_elements import described
from cosim.bench.crosscheck import disagreement
from cosim.bench.groups import Group, joined
from cosim.bench.mismatch import ComparedRow, Mismatch
from cosim.bench.products import DotProducts, Element
from cosim.bench.result_pairs import pairs_by_name
from cosim.bench.verdict import Outcome
from cosim.coverage.counts import Counts
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.volume.decoded_vectors import Decoder
from cosim.volume.segments import Segment
from cosim.volume.simulation_program import Broken
from cosim.volume.vector_files import RowsFile
from golden import Cls
from golden.engines import fastest_engine
from rtl.designs.design import Design

NOTHING: Mapping[str, Any] = {
    "sent": 0, "received": 0, "dropped": 0, "waiting": 0, "surplus": 0, "left_out": 0, "mismatches": 0, "stopped": None,
    "seconds": 0.0, "classes": {}, "result_classes": [0] * len(Cls), "result_pairs": [],
    "waived": {}, "groups": [], "rows": [],
}  # fmt: skip
"""The counts of a program that broke off."""


def part_of(
    design: Design, request: Request, segment: Segment, rows: RowsFile | None, outcome: Mapping[str, Any] | Broken
) -> Report:
    """The report of one segment.

    Args:
        rows: the file of its vectors; None for native vectors.
    """
    if isinstance(outcome, Broken):
        last_line = outcome.log.strip().rpartition("\n")[2]
        reason = f"{outcome.how}: {last_line}" if last_line else outcome.how
        outcome = {**NOTHING, "stopped": f"the simulation broke off: {reason}"}
    classes = segment.classes if rows is None else rows.classes
    decoder = Decoder(design, request.results, classes)
    compared = [decoder.compared(row) for row in outcome["rows"]]
    differing = tuple(row for row, raw in zip(compared, outcome["rows"], strict=True) if not raw["agrees"])
    texts = {at: _text(decoder, row) for at, row in enumerate(outcome["rows"]) if not row["agrees"]}
    checked, disagreements = _checked(decoder, rows, outcome)
    made = classes if rows is not None else {int(label): classes[int(label)] for label in outcome["classes"]}
    counts = Outcome(
        vectors=segment.vectors,
        left_out=outcome["left_out"] + (0 if rows is None else rows.left_out),
        sent=outcome["sent"],
        dropped=outcome["dropped"],
        received=outcome["received"],
        waiting=outcome["waiting"],
        surplus=outcome["surplus"],
        first_surplus=outcome["first_surplus"] if outcome["surplus"] else None,
        mismatches=outcome["mismatches"],
        first_mismatch=next(iter(texts.values()), None),
        groups=joined(_group(decoder, group, outcome["rows"], compared, texts) for group in outcome["groups"]),
        differing=differing,
        agreeing=tuple(row for row, raw in zip(compared, outcome["rows"], strict=True) if raw["agrees"])
        if differing
        else (),
        engine=fastest_engine(),
        checked=checked,
        disagreements=len(disagreements),
        first_disagreement=next(iter(disagreements), None),
        waived=dict(outcome["waived"]),
        stopped=outcome["stopped"],
        classes={name: outcome["classes"].get(str(label), 0) for label, name in sorted(made.items())},
        result_classes={cls.name.lower(): outcome["result_classes"][cls] for cls in Cls},
        coverage=_covered(rows, outcome),
        result_pairs=pairs_by_name(outcome["result_pairs"], design.operation.d),
    )
    return Report.of(design, counts, request.simulator, request.seed, outcome["seconds"], mode="volume")


def _covered(rows: RowsFile | None, outcome: Mapping[str, Any]) -> tuple[Counts, ...]:
    """The bins hit by the rows of a file where every row was compared and agreed; else none."""
    if rows is None or outcome["mismatches"] or outcome["stopped"] is not None or outcome["received"] != rows.vectors:
        return ()
    return rows.coverage.counts()


def _text(decoder: Decoder, row: Mapping[str, Any]) -> str:
    """Describe an element that differs, in full."""
    compared = decoder.compared(row)
    return described(compared.vector, Element(decoder.alone(row), 0, compared.place), compared.got)


def _group(
    decoder: Decoder,
    group: Mapping[str, Any],
    rows: list[Mapping[str, Any]],
    compared: list[ComparedRow],
    texts: Mapping[int, str],
) -> Group:
    """Convert a group of the program; several of them may have the key of one group of a report, and are joined later."""
    members = [Mismatch.of(compared[at], decoder.result(rows[at])) for at in group["rows"]]
    first = group["rows"][0]
    return Group(**members[0].group._asdict(), count=group["count"], first=texts[first], mismatches=tuple(members))


def _checked(decoder: Decoder, rows: RowsFile | None, outcome: Mapping[str, Any]) -> tuple[int, list[str]]:
    """The number of results that the reference engine computed too, and descriptions of those with other bits."""
    if rows is not None:
        return len(rows.sample.rows()), rows.sample.disagreements()
    sampled: list[DotProducts] = [decoder.alone(row) for row in outcome["rows"] if row["sampled"]]
    return len(sampled), [text for each in sampled for text in [disagreement(each)] if text is not None]
