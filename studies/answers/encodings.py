"""Sign and magnitude against complements, cut against sticky, docs/evidence/explore/encodings.md."""

from collections.abc import Mapping, Sequence
from functools import partial

from mmau.explore.records import Record, value_at, workloads
from mmau.explore.report_files import csv_bytes
from mmau.report import figures, markdown
from studies.answers.drawing import Bars, bars
from studies.answers.results import cost_table, measured_with, number, percent, points_with, the_point, without_results
from studies.pages import Files, made_by

ENCODINGS = ("ones-complement", "twos-complement", "sign-magnitude")

FRACTIONS = (24, 26)
"""One fraction bit below the last of the result, and three."""

LOSSES: Mapping[str, Mapping[str, object]] = {
    "cut": {"truncation": "RZ", "sticky": False},
    "sticky": {"truncation": "RZ", "sticky": True},
    "round to odd": {"truncation": "RO", "sticky": False},
}
"""Treatments of bits below F: lost; a sticky bit of the sum's rounding; a one in the last place of their term."""


def page(records: Sequence[Record]) -> Files:
    """The page, its plots and the table of all results."""
    first = the_point(records)
    shown = [name for name in workloads(records) if value_at(first, "accuracy", name, "ulp") is not None]
    parts = (
        "The space [examples/spaces/encodings.toml](../../../examples/spaces/encodings.toml) is a unit of four fp16 "
        "products and an fp32 accumulator (T-FDPA, RNE-FP32), with F = 24 and F = 26, in every encoding of negative terms, "
        "with each way to treat what a term loses where it is aligned: it is cut; it sets one sticky bit, which the "
        "rounding of the sum sees; or it leaves a one in the term's last place (round to odd). Every figure on this "
        "page comes from [encodings.csv](encodings.csv).",
        in_short(records, shown),
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
        "Mean and p99 (what 99 % of the results stay below) are of |d − exact| in ulps of the exact result. Bias is the "
        "mean of |d| − |exact| in ulps of the row's magnitude, above zero where results are too large "
        "([explore-accuracy.md](../../guides/explore-accuracy.md)).",
        "\n".join(f"- {line}" for line in error_findings(records, shown)),
        without_results(records),
    )
    text = markdown.document("Sign and magnitude or complements, cut or sticky", made_by("answers-encodings"), *parts)
    return {
        "encodings.md": text.encode(),
        "encodings-cost.svg": cost_plot(records),
        "encodings-error.svg": error_plot(records, shown),
        "encodings.csv": csv_bytes(records),
    }


def in_short(records: Sequence[Record], shown: Sequence[str]) -> str:
    """The answer in a paragraph."""
    more = {each: [larger_by(records, each, F) for F in FRACTIONS] for each in ENCODINGS[1:]}
    twos, sign = (f"{min(each):.0f} to {max(each):.0f} %" for each in more.values())
    outward = [
        number(the_point(records, F=F, **LOSSES["sticky"]), "accuracy", name, "magnitude_bias", "mean_ulp")
        for F in FRACTIONS
        for name in shown
    ]
    positive = sum(each > 0 for each in outward)
    return (
        f"**In short.** Against ones' complement, two's complement takes {twos} more area, sign and magnitude {sign}. A "
        "sticky bit rounds a tie away from zero whichever term lost the bits ([numerics.md](../../numerics.md), "
        f"section 13): results come out too large on {positive} of {len(outward)} workloads, by up to {max(outward):+.2g} "
        "ulp of the row's magnitude. What it costs, and what it does to the errors, is below."
    )


def larger_by(records: Sequence[Record], encoding: str, F: int) -> float:
    """By how much a unit that cuts is larger than in ones' complement (percent)."""
    area, base = (
        number(the_point(records, F=F, encoding=each, **LOSSES["cut"]), "cost", "area_um2")
        for each in (encoding, ENCODINGS[0])
    )
    return 100 * (area / base - 1)


def cost_findings(records: Sequence[Record]) -> list[str]:
    """The conclusions from the table of costs."""
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
                outward = number(point, "accuracy", workload, "magnitude_bias", "mean_ulp")
                cells += [f"{mean:.4g}", f"{p99:.4g}", f"{outward:+.2g}"]
            rows.append(cells)
    header = ["F", "workload"] + [f"{loss}: {what}" for loss in LOSSES for what in ("mean", "p99", "bias")]
    return markdown.table(header, rows)


def error_findings(records: Sequence[Record], shown: Sequence[str]) -> list[str]:
    """The conclusions from the table of errors."""
    found = []
    for F in FRACTIONS:
        cut = the_point(records, F=F, **LOSSES["cut"])
        for loss in list(LOSSES)[1:]:
            other = the_point(records, F=F, **LOSSES[loss])
            ratios = {
                name: number(other, "accuracy", name, "ulp", "mean") / number(cut, "accuracy", name, "ulp", "mean")
                for name in shown
            }
            least, most = (choose(ratios, key=lambda name: ratios[name]) for choose in (min, max))
            found.append(
                f"F = {F}: the mean error with {loss} is {ratios[least]:.3f} ({least}) to {ratios[most]:.3f} ({most}) times "
                "that of cut terms."
            )
    return found


def cost_plot(records: Sequence[Record]) -> bytes:
    """Area and delay by encoding, with F = 24."""
    panels = []
    for key, label in (("area_um2", "area (µm²)"), ("delay_ns", "delay (ns)")):
        series = [
            Bars(loss, [number(the_point(records, F=24, encoding=each, **keys), "cost", key) for each in ENCODINGS])
            for loss, keys in LOSSES.items()
        ]
        panels.append(partial(bars, groups=ENCODINGS, series=series, label=label, title="F = 24"))
    return figures.panels(panels)


def error_plot(records: Sequence[Record], shown: Sequence[str]) -> bytes:
    """Mean error by workload, a panel for each F."""
    panels = []
    for F in FRACTIONS:
        series = [
            Bars(loss, [number(the_point(records, F=F, **keys), "accuracy", name, "ulp", "mean") for name in shown])
            for loss, keys in LOSSES.items()
        ]
        panels.append(partial(bars, groups=shown, series=series, label="mean error (ulp)", title=f"F = {F}", log=True))
    return figures.panels(panels)
