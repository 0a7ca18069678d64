"""The bias cost and the area saving of CDNA3's rounding down, docs/evidence/explore/round-down.md."""

from collections.abc import Sequence
from functools import partial

from mmau.explore.records import Record, value_at, workloads
from mmau.explore.report_files import csv_bytes
from mmau.report import figures, markdown
from studies.answers.drawing import Bars, bars, points_with_intervals
from studies.answers.results import cost_table, measured_with, number, percent, the_point, without_results
from studies.answers.signed_shift import VARIANTS, ShiftCost, costs, saving
from studies.pages import Files, made_by

MODES = ("RD", "RZ")

ENCODINGS = ("ones-complement", "twos-complement", "sign-magnitude")

KINDS = {"bias": "bias", "magnitude_bias": "bias of the magnitude"}
"""Measures of a workload, and what the page calls them."""


def page(records: Sequence[Record]) -> Files:
    """The page, its plots and the table of all results.

    Raises:
        ValueError: a point or a value is missing. MissingTool: no Yosys, OpenSTA or cell library.
    """
    shown = [name for name in workloads(records) if value_at(the_point(records), "accuracy", name, "bias") is not None]
    wanted = value_at(the_point(records), "cost", "wanted")
    shifts = costs(wanted["library"], wanted["clock_ns"], wanted["activity"])
    parts = (
        "CDNA3 sums the products of an fp16 instruction (T), then adds c; where it aligns T and c and where it cuts the "
        "normalised sum, it rounds down (RD). The space "
        "[examples/spaces/round-down.toml](../../../examples/spaces/round-down.toml) has this arithmetic (TR-FDPA, L = 8, "
        "F = 24, F2 = 31, RNE-FP32) as it is and with rounding toward zero (RZ) instead, in three encodings of negative "
        "terms. All figures but those of the last table are in [round-down.csv](round-down.csv).",
        in_short(records, shown, shifts),
        "## Bias",
        "![Bias with its interval, RD and RZ](round-down-bias.svg)",
        bias_table(records, shown),
        "Bias is the mean of d − exact in ulps of the row's magnitude |c| + Σ |a·b|, with its 95 % interval. The bias of "
        "the magnitude is that of |d| − |exact|, below zero where results are too small. The error is the mean of |d − "
        "exact| in ulps of the exact result ([explore-accuracy.md](../../guides/explore-accuracy.md)). Chains go on in "
        "steps of 8 products.",
        "\n".join(f"- {line}" for line in bias_findings(records, shown)),
        "## Area",
        "![Area and delay by encoding, RD and RZ](round-down-area.svg)",
        cost_table(
            [
                ((encoding, mode), the_point(records, encoding=encoding, truncation=mode))
                for encoding in ENCODINGS
                for mode in MODES
            ],
            ("encoding", "rounding"),
        ),
        measured_with(records),
        "\n".join(f"- {line}" for line in area_findings(records)),
        "These units keep T as sign and magnitude before they align it, and there RD needs an incrementer: a negative "
        "term that loses a one grows by one. A circuit saves by RD only if it leaves T in two's complement, where RD "
        "drops the bits that leave. The project builds no such unit; the shift alone shows how much there is to save. T "
        "has 30 bits and 8 zeros below:",
        shift_table(shifts),
        shift_finding(records, shifts),
        without_results(records),
    )
    text = markdown.document("What rounding down costs and saves", made_by("answers-round-down"), *parts)
    return {
        "round-down.md": text.encode(),
        "round-down-bias.svg": bias_plot(records, shown),
        "round-down-area.svg": area_plot(records),
        "round-down.csv": csv_bytes(records),
    }


def in_short(records: Sequence[Record], shown: Sequence[str], shifts: Sequence[ShiftCost]) -> str:
    """The answer in a paragraph."""
    down, zero = (the_point(records, truncation=mode) for mode in MODES)
    means = {
        kind: [interval(point, name, kind)[0] for name in shown if is_biased(point, name, kind)]
        for kind, point in (("bias", down), ("magnitude_bias", zero))
    }
    of_down, of_zero = (f"up to {max(map(abs, each)):.2g} ulp" if each else "none that is seen" for each in means.values())
    larger = [
        number(the_point(records, encoding=each, truncation="RD"), "cost", "area_um2")
        / number(the_point(records, encoding=each, truncation="RZ"), "cost", "area_um2")
        for each in ENCODINGS
    ]
    return (
        f"**In short.** The bias that RD brings: {of_down} of the row's magnitude, downwards. What RZ brings instead, "
        f"results that are too small: {of_zero}. Area saved by RD: none in the project's units, where it takes "
        f"{min(larger) - 1:.1%} to {max(larger) - 1:.1%} more than RZ; where a sum stays in two's complement, "
        f"{share_saved(records, shifts):.1%} of a unit for the shift of T."
    )


def interval(record: Record, workload: str, kind: str) -> tuple[float, float, float]:
    """Mean, lower and upper end of a bias, one of `KINDS`."""
    mean, low, high = (number(record, "accuracy", workload, kind, key) for key in ("mean_ulp", "low95", "high95"))
    return mean, low, high


def is_biased(record: Record, workload: str, kind: str) -> bool:
    """Whether the interval leaves zero out."""
    _, low, high = interval(record, workload, kind)
    return not low <= 0 <= high


def bias_table(records: Sequence[Record], shown: Sequence[str]) -> str:
    """Bias and error by workload and rounding mode."""
    rows = []
    for workload in shown:
        for mode in MODES:
            point = the_point(records, truncation=mode)
            cells = [workload, mode]
            for kind in KINDS:
                mean, low, high = interval(point, workload, kind)
                cells += [f"{mean:+.2g}", f"{low:+.2g} … {high:+.2g}"]
            rows.append([*cells, f"{number(point, 'accuracy', workload, 'ulp', 'mean'):.4g}"])
    columns = [what for name in KINDS.values() for what in (f"{name} (ulp)", "95 % interval")]
    return markdown.table(["workload", "rounding", *columns, "error (ulp)"], rows)


def bias_findings(records: Sequence[Record], shown: Sequence[str]) -> list[str]:
    """The conclusions from the table."""
    points = {mode: the_point(records, truncation=mode) for mode in MODES}
    found = []
    for kind, name in KINDS.items():
        modes = []
        for mode, point in points.items():
            biased = [workload for workload in shown if is_biased(point, workload, kind)]
            means = [interval(point, workload, kind)[0] for workload in biased]
            furthest = f" (furthest {max(means, key=abs):+.2g} ulp)" if means else ""
            modes.append(f"with {mode} on {len(biased)} of {len(shown)} workloads{furthest}")
        found.append(f"The interval of the {name} leaves zero out {' and '.join(modes)}.")
    errors = {mode: [number(point, "accuracy", name, "ulp", "mean") for name in shown] for mode, point in points.items()}
    ratios = [down / zero for down, zero in zip(errors["RD"], errors["RZ"], strict=True)]
    found.append(f"The mean error with RD is {min(ratios):.4f} to {max(ratios):.4f} times that with RZ.")
    return found


def area_findings(records: Sequence[Record]) -> list[str]:
    """The conclusions from the table of costs."""
    costs = []
    for encoding in ENCODINGS:
        down, zero = (the_point(records, encoding=encoding, truncation=mode) for mode in MODES)
        area, delay = (percent(number(down, "cost", key), number(zero, "cost", key)) for key in ("area_um2", "delay_ns"))
        costs.append(f"{encoding} {area} area and {delay} delay")
    return [f"RD against RZ in these units: {'; '.join(costs)}."]


def shift_table(shifts: Sequence[ShiftCost]) -> str:
    """The variants of the shift of T in two's complement, with their costs."""
    rows = [(each.variant, VARIANTS[each.variant], f"{each.area_um2:,.0f}", f"{each.delay_ns:.2f}") for each in shifts]
    return markdown.table(("shift", "how", "area (µm²)", "delay (ns)"), rows)


def shift_finding(records: Sequence[Record], shifts: Sequence[ShiftCost]) -> str:
    """How much of a whole unit rounding down can save there."""
    unit = number(the_point(records, encoding="twos-complement", truncation="RZ"), "cost", "area_um2")
    least = saving(shifts, "toward zero")
    share = share_saved(records, shifts)
    return (
        f"- Dropping the bits saves {least:,.0f} µm² of the shift of T against the cheaper way to RZ, {share:.1%} of "
        f"the area of the unit in two's complement ({unit:,.0f} µm²). The cut of the normalised sum and the shift of c come "
        "on top; they were not measured."
    )


def share_saved(records: Sequence[Record], shifts: Sequence[ShiftCost]) -> float:
    """Area that the shift of T saves by rounding down, as a share of the unit in two's complement."""
    unit = number(the_point(records, encoding="twos-complement", truncation="RZ"), "cost", "area_um2")
    return saving(shifts, "toward zero") / unit


def bias_plot(records: Sequence[Record], shown: Sequence[str]) -> bytes:
    """Both kinds of bias by workload."""
    panels = []
    for kind, name in KINDS.items():
        series = []
        for mode in MODES:
            found = [interval(the_point(records, truncation=mode), workload, kind) for workload in shown]
            series.append(Bars(mode, [mean for mean, _, _ in found], [(low, high) for _, low, high in found]))
        panels.append(partial(points_with_intervals, groups=shown, series=series, label=f"{name} (ulp)", title=name))
    return figures.panels(panels)


def area_plot(records: Sequence[Record]) -> bytes:
    """Area and delay by encoding."""
    panels = []
    for key, label in (("area_um2", "area (µm²)"), ("delay_ns", "delay (ns)")):
        series = [
            Bars(mode, [number(the_point(records, encoding=each, truncation=mode), "cost", key) for each in ENCODINGS])
            for mode in MODES
        ]
        panels.append(partial(bars, groups=ENCODINGS, series=series, label=label, title=label))
    return figures.panels(panels)
