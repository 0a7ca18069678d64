"""What CDNA3's rounding down costs in bias and saves in area, docs/explore/round-down.md."""

from collections.abc import Sequence
from functools import partial

from analysis.page import Page, document, markdown_table
from explore.answers.drawing import Bars, bars, points_with_intervals, svg
from explore.answers.results import cost_table, measured_with, number, percent, the_point, without_results
from explore.report.points import workloads
from explore.report.records import Record, value_at
from explore.report.table import csv_bytes

MODES = ("RD", "RZ")

FRACTIONS = (24, 16)
"""CDNA3's own, and fewer."""

ENCODINGS = ("ones-complement", "twos-complement", "sign-magnitude")


def page(records: Sequence[Record]) -> Page:
    """The page, its plots and the table of all results."""
    shown = [name for name in workloads(records) if value_at(the_point(records), "accuracy", name, "bias") is not None]
    parts = (
        "CDNA3 sums the products of an fp16 instruction (T), then adds c; where it aligns T and c and where it cuts the "
        "normalised sum, it rounds down (RD), not toward zero (RZ). The space "
        "[examples/spaces/round-down.toml](../../examples/spaces/round-down.toml) has this arithmetic (TR-FDPA, L = 8, "
        "F2 = 31, RNE-FP32) both ways, with CDNA3's F = 24 and with F = 16, each in three encodings of negative terms. "
        "Every figure on this page comes from [round-down.csv](round-down.csv).",
        "## Bias",
        "![Bias with its interval, RD and RZ](round-down-bias.svg)",
        bias_table(records, shown),
        "Bias is the mean of d − exact in ulps of the row's magnitude |c| + Σ |a·b|, with its 95 % interval; p99 is the "
        "error that 99 % of the results stay below, in ulps of the exact result. Chains go on in steps of 8 products.",
        "\n".join(f"- {line}" for line in bias_findings(records, shown)),
        "## Area",
        "![Area by encoding, RD and RZ](round-down-area.svg)",
        cost_table(
            [
                ((str(F), encoding, mode), the_point(records, F=F, encoding=encoding, truncation=mode))
                for F in FRACTIONS
                for encoding in ENCODINGS
                for mode in MODES
            ],
            ("F", "encoding", "rounding"),
        ),
        measured_with(records),
        "\n".join(f"- {line}" for line in area_findings(records)),
        without_results(records),
    )
    text = document("What rounding down costs and saves", "answers-round-down", *(part for part in parts if part))
    return Page(
        {
            "round-down.md": text,
            "round-down-bias.svg": bias_plot(records, shown),
            "round-down-area.svg": area_plot(records),
            "round-down.csv": csv_bytes(records),
        }
    )


def interval(record: Record, workload: str) -> tuple[float, float, float]:
    """Mean, lower and upper end of the bias."""
    mean, low, high = (number(record, "accuracy", workload, "bias", key) for key in ("mean_ulp", "low95", "high95"))
    return mean, low, high


def is_biased(record: Record, workload: str) -> bool:
    """Whether the interval leaves zero out."""
    _, low, high = interval(record, workload)
    return not low <= 0 <= high


def bias_table(records: Sequence[Record], shown: Sequence[str]) -> str:
    """Bias and error of both ways of rounding, by F and workload."""
    rows = []
    for F in FRACTIONS:
        for workload in shown:
            cells = [str(F), workload]
            for mode in MODES:
                point = the_point(records, F=F, truncation=mode)
                mean, low, high = interval(point, workload)
                cells += [
                    f"{mean:+.2g}",
                    f"{low:+.2g} … {high:+.2g}",
                    f"{number(point, 'accuracy', workload, 'ulp', 'p99'):.3g}",
                ]
            rows.append(cells)
    header = ["F", "workload"] + [
        f"{mode}: {what}" for mode in MODES for what in ("bias (ulp)", "95 % interval", "p99 (ulp)")
    ]
    return markdown_table(header, rows)


def bias_findings(records: Sequence[Record], shown: Sequence[str]) -> list[str]:
    """What the table says, in sentences."""
    found = []
    for F in FRACTIONS:
        points = {mode: the_point(records, F=F, truncation=mode) for mode in MODES}
        biased = {mode: [name for name in shown if is_biased(point, name)] for mode, point in points.items()}
        means = [(interval(points["RD"], name)[0], name) for name in biased["RD"]]
        largest = f"; the largest is {max(means, key=lambda each: abs(each[0]))[0]:+.2g} ulp" if means else ""
        found.append(
            f"F = {F}: the interval leaves zero out on {len(biased['RD'])} of {len(shown)} workloads with RD"
            f"{largest}, and on {len(biased['RZ'])} with RZ."
        )
        means_of = {
            mode: [number(point, "accuracy", name, "ulp", "mean") for name in shown] for mode, point in points.items()
        }
        ratios = [down / zero for down, zero in zip(means_of["RD"], means_of["RZ"], strict=True)]
        found.append(f"F = {F}: the mean error with RD is {min(ratios):.3f} to {max(ratios):.3f} times that with RZ.")
    return found


def area_findings(records: Sequence[Record]) -> list[str]:
    """What the table of costs says, in sentences."""
    found = []
    for F in FRACTIONS:
        said = []
        for encoding in ENCODINGS:
            down, zero = (the_point(records, F=F, encoding=encoding, truncation=mode) for mode in MODES)
            area, delay = (percent(number(down, "cost", key), number(zero, "cost", key)) for key in ("area_um2", "delay_ns"))
            said.append(f"{encoding} {area} area and {delay} delay")
        found.append(f"F = {F}, RD against RZ: {'; '.join(said)}.")
    return found


def bias_plot(records: Sequence[Record], shown: Sequence[str]) -> bytes:
    """Bias by workload, a panel for each F."""
    panels = []
    for F in FRACTIONS:
        series = []
        for mode in MODES:
            found = [interval(the_point(records, F=F, truncation=mode), name) for name in shown]
            series.append(Bars(mode, [mean for mean, _, _ in found], [(low, high) for _, low, high in found]))
        panels.append(partial(points_with_intervals, groups=shown, series=series, label="bias (ulp)", title=f"F = {F}"))
    return svg(panels)


def area_plot(records: Sequence[Record]) -> bytes:
    """Area by encoding, a panel for each F."""
    panels = []
    for F in FRACTIONS:
        series = [
            Bars(
                mode,
                [number(the_point(records, F=F, encoding=each, truncation=mode), "cost", "area_um2") for each in ENCODINGS],
            )
            for mode in MODES
        ]
        panels.append(partial(bars, groups=ENCODINGS, series=series, label="area (µm²)", title=f"F = {F}"))
    return svg(panels)
