"""Sign and magnitude against complements, cut against sticky, docs/explore/encodings.md."""

from collections.abc import Mapping, Sequence
from functools import partial

from analysis.page import Page, document, markdown_table
from explore.answers.drawing import Bars, bars, svg
from explore.answers.results import cost_table, measured_with, number, percent, points_with, the_point, without_results
from explore.report.points import workloads
from explore.report.records import Record, value_at
from explore.report.table import csv_bytes

ENCODINGS = ("ones-complement", "twos-complement", "sign-magnitude")

FRACTIONS = (24, 16)

LOSSES: Mapping[str, Mapping[str, object]] = {
    "cut": {"truncation": "RZ", "sticky": False},
    "sticky": {"truncation": "RZ", "sticky": True},
    "round to odd": {"truncation": "RO", "sticky": False},
}
"""What becomes of bits below F: lost; told to the rounding of the sum; left as a one in the last place of their term."""


def page(records: Sequence[Record]) -> Page:
    """The page, its plots and the table of all results."""
    first = the_point(records)
    shown = [name for name in workloads(records) if value_at(first, "accuracy", name, "ulp") is not None]
    parts = (
        "The space [examples/spaces/encodings.toml](../../examples/spaces/encodings.toml) is a unit of four fp16 products "
        "and an fp32 accumulator (T-FDPA, RNE-FP32), with F = 24 and F = 16, in every encoding of negative terms, with each "
        "way to treat what a term loses where it is aligned: it is cut; it sets one sticky bit, which the rounding of the "
        "sum sees; or it leaves a one in the term's last place (round to odd). Every figure on this page comes from "
        "[encodings.csv](encodings.csv).",
        "## Cost",
        "![Area and delay by encoding](encodings-cost.svg)",
        cost_table(
            [
                ((str(F), loss, encoding), the_point(records, F=F, encoding=encoding, **keys))
                for F in FRACTIONS
                for loss, keys in LOSSES.items()
                for encoding in ENCODINGS
            ],
            ("F", "lost bits", "encoding"),
        ),
        measured_with(records),
        "\n".join(f"- {line}" for line in cost_findings(records)),
        "## Accuracy",
        "An encoding never changes a result: the three circuits of a row above are co-simulated against one model. So "
        "accuracy is a matter of the lost bits alone.",
        "![Error by workload](encodings-error.svg)",
        error_table(records, shown),
        "Mean and p99 (what 99 % of the results stay below) are of |d − exact| in ulps of the exact result; exact counts "
        "the results without an error.",
        "\n".join(f"- {line}" for line in error_findings(records, shown)),
        without_results(records),
    )
    text = document(
        "Sign and magnitude or complements, cut or sticky", "answers-encodings", *(part for part in parts if part)
    )
    return Page(
        {
            "encodings.md": text,
            "encodings-cost.svg": cost_plot(records),
            "encodings-error.svg": error_plot(records, shown),
            "encodings.csv": csv_bytes(records),
        }
    )


def cost_findings(records: Sequence[Record]) -> list[str]:
    """What the table of costs says, in sentences."""
    found = []
    for F in FRACTIONS:
        smallest = min(points_with(records, F=F), key=lambda record: number(record, "cost", "area_um2"))
        fastest = min(points_with(records, F=F), key=lambda record: number(record, "cost", "delay_ns"))
        found.append(f"F = {F}: the smallest unit is `{smallest['name']}`, the fastest `{fastest['name']}`.")
        base = the_point(records, F=F, encoding="ones-complement", **LOSSES["cut"])
        for encoding in ENCODINGS[1:]:
            other = the_point(records, F=F, encoding=encoding, **LOSSES["cut"])
            found.append(f"F = {F}, cut: {encoding} against ones-complement: {against(other, base)}.")
        for loss in list(LOSSES)[1:]:
            other = the_point(records, F=F, encoding="ones-complement", **LOSSES[loss])
            found.append(f"F = {F}, ones-complement: {loss} against cut: {against(other, base)}.")
    return found


def against(other: Record, base: Record) -> str:
    """How the costs of two points differ."""
    keys = {"area_um2": "area", "delay_ns": "delay", "energy_pj": "energy"}
    return ", ".join(
        f"{percent(number(other, 'cost', key), number(base, 'cost', key))} {what}" for key, what in keys.items()
    )


def error_table(records: Sequence[Record], shown: Sequence[str]) -> str:
    """Errors by F, workload and what becomes of lost bits."""
    rows = []
    for F in FRACTIONS:
        for workload in shown:
            cells = [str(F), workload]
            for keys in LOSSES.values():
                point = the_point(records, F=F, **keys)
                mean, p99 = (number(point, "accuracy", workload, "ulp", key) for key in ("mean", "p99"))
                cells += [f"{mean:.4g}", f"{p99:.4g}", f"{exact_share(point, workload):.2%}"]
            rows.append(cells)
    header = ["F", "workload"] + [f"{loss}: {what}" for loss in LOSSES for what in ("mean", "p99", "exact")]
    return markdown_table(header, rows)


def exact_share(record: Record, workload: str) -> float:
    """Of the finite results, those without an error."""
    return number(record, "accuracy", workload, "exact_rows") / number(record, "accuracy", workload, "finite_rows")


def error_findings(records: Sequence[Record], shown: Sequence[str]) -> list[str]:
    """What the table of errors says, in sentences."""
    found = []
    for F in FRACTIONS:
        cut = the_point(records, F=F, **LOSSES["cut"])
        for loss in list(LOSSES)[1:]:
            other = the_point(records, F=F, **LOSSES[loss])
            ratios = [
                number(other, "accuracy", name, "ulp", "mean") / number(cut, "accuracy", name, "ulp", "mean")
                for name in shown
            ]
            found.append(
                f"F = {F}: the mean error with {loss} is {min(ratios):.4f} to {max(ratios):.4f} times that of cut terms."
            )
    return found


def cost_plot(records: Sequence[Record]) -> bytes:
    """Area and delay by encoding at CDNA's and NVIDIA's usual width, F = 24."""
    panels = []
    for key, label in (("area_um2", "area (µm²)"), ("delay_ns", "delay (ns)")):
        series = [
            Bars(loss, [number(the_point(records, F=24, encoding=each, **keys), "cost", key) for each in ENCODINGS])
            for loss, keys in LOSSES.items()
        ]
        panels.append(partial(bars, groups=ENCODINGS, series=series, label=label, title="F = 24"))
    return svg(panels)


def error_plot(records: Sequence[Record], shown: Sequence[str]) -> bytes:
    """Mean error by workload, a panel for each F."""
    panels = []
    for F in FRACTIONS:
        series = [
            Bars(loss, [number(the_point(records, F=F, **keys), "accuracy", name, "ulp", "mean") for name in shown])
            for loss, keys in LOSSES.items()
        ]
        panels.append(partial(bars, groups=shown, series=series, label="mean error (ulp)", title=f"F = {F}"))
    return svg(panels)
