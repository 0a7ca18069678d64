"""How many fraction bits the accumulation of FP8 training needs, docs/evidence/explore/fp8-accumulation.md."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from mmau.report import figures, markdown
from studies.pages import Files, made_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]
"""A training, as the campaign's outcome has it."""

Group = tuple[int, int]
"""L, and the steps after which sums are promoted."""

PUBLISHED = {
    "sm_89": "Ada: L = 16, F = 13, RZ-E8M13",
    "sm_90": "Hopper: L = 32, F = 13, RZ-E8M13",
    "sm_100": "Blackwell: L = 32, F = 25, RZ-FP32",
    "gfx942": "CDNA3: GTR-FDPA, L = 16, F = 24, F2 = 31, RNE-FP32",
}
"""Of each reference, what P. Xie et al. found (paper 000, tables 4, 5 and 7)."""


def page(outcome: Mapping[str, Any]) -> Files:
    """The page and its plot."""
    rows: Sequence[Row] = outcome["trainings"]
    points = [row for row in rows if ":" not in row["unit"]]
    losses = [row["loss"] for row in outcome["fp32"]]
    spread = stdev(losses)
    groups = sorted({group_of(row) for row in points})
    seeds = len({row["seed"] for row in points})
    texts = outcome["fp32"][0]["settings"]
    text = markdown.document(
        "How many fraction bits FP8 training needs",
        made_by("answers-fp8"),
        "A unit of the T-FDPA kind adds L products and c after it has cut each to F bits below the largest. How large must "
        "F be to train a network in FP8? The space "
        "[examples/spaces/fp8-accumulation.toml](../../../examples/spaces/fp8-accumulation.toml) has units with F from "
        f"{min(row['F'] for row in points)} to {max(row['F'] for row in points)}, in steps of 16 and of 32 products. On "
        "each a small network was trained with every matrix product on the unit, forward and backward, bit for bit as the "
        "unit computes it.",
        "## The network",
        "The network reads texts of 4,096 tokens and finds which of ten tokens is too frequent: learned queries attend to "
        "all positions, and two linear layers classify what they gather (`mmau/explore/network/training.py`). The texts are "
        "generated. Its longest sums have 4,096 products in the forward pass, one for each position, and "
        f"{points[0]['longest_sum']['backward']:,} in the backward pass, one for each position of the batch. Terms of the "
        "forward sum have much the same size and often one sign, so that the sum outgrows its terms: this is hard for an "
        f"accumulator. A training takes {texts['steps']} steps of Adam on {texts['batch']} texts, and is tested on "
        f"{texts['tests']} others. Operands are e4m3, each tensor scaled by the power of two that makes the most of the "
        "format without overflow ([explore-network.md](../../guides/explore-network.md)); d is fp32, rounded toward "
        "zero. Partial sums stay in the unit, or are added to an fp32 accumulator after every fourth step (promotion).",
        f"Each figure is the mean of {seeds} seeds, of weights and texts together. The yardstick is what a seed does: "
        f"{len(losses)} trainings in fp32 end with a loss of {fmean(losses):.3f}, with a standard deviation of "
        f"{spread:.3f} between seeds. Δ loss is the difference from the fp32 training of the same seed. The error of the "
        "sum is that of the longest forward sums in the trained network, against exact sums of the same FP8 operands, "
        "relative to what they should be (root mean square); quantising the operands alone costs "
        f"{fmean(row['quantisation_error'] for row in points):.1%}.",
        "## Result",
        "![Loss and the error of the sum by fraction bits](fp8-accumulation.svg)",
        f_table(points, groups),
        "\n".join(f"- {line}" for line in findings(points, groups, spread)),
        "Errors that the table gives as 0 are none at all: the sums were exact.",
        "## The units that exist",
        reference_table([row for row in rows if ":" in row["unit"]]),
        "P. Xie et al. (*Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units*, arXiv 2511.10909, sections 2.2 and "
        "6.2) call F = 13 the main reason for what FP8 training loses on Hopper. They cite DeepSeek's developers, who found "
        "training less accurate there and added partial sums in fp32 outside the tensor cores, and advise FP16 or Blackwell "
        "instead. The instructions run here in steps of their own L, so that promotion after 4 steps is after 128 products "
        "on Hopper and Blackwell, and after 64 on Ada and CDNA3, whose FP8 is e4m3fnuz.",
        "## What this does not say",
        "This is one small network, trained for a short time on generated texts. Larger networks add up more errors one "
        "after another. A sum of one sign outgrows its terms in proportion to its length, so that longer contexts should "
        "need more bits, and sums of mixed signs fewer; neither was measured here. Losses repeat bit for bit on one "
        "processor with one version of PyTorch, whose own fp32 (softmax, normalisation, optimiser) may differ on another. "
        "[fp8-accumulation.json](fp8-accumulation.json) has every training, and what it was made with.",
    )
    return {"fp8-accumulation.md": text.encode(), "fp8-accumulation.svg": plot(points, groups, fmean(losses), spread)}


def group_of(row: Row) -> Group:
    return row["L"], row["settings"]["promote_every"]


def named(group: Group) -> str:
    """A group in words."""
    L, every = group
    return f"L = {L}, in the unit" if not every else f"L = {L}, promoted after {every} steps"


def means(rows: Sequence[Row], value: Callable[[Row], float | None]) -> dict[int, float]:
    """F to the mean of a value over the seeds; without those where a training has none, for it diverged."""
    found: dict[int, list[float | None]] = {}
    for row in rows:
        found.setdefault(row["F"], []).append(value(row))
    whole = {F: [one for one in each if one is not None] for F, each in sorted(found.items())}
    return {F: fmean(each) for F, each in whole.items() if len(each) == len(found[F])}


def of(points: Sequence[Row], group: Group) -> list[Row]:
    return [row for row in points if group_of(row) == group]


def difference(row: Row) -> float | None:
    """Δ loss."""
    return None if row["loss"] is None else row["loss"] - row["loss_fp32"]


def f_table(points: Sequence[Row], groups: Sequence[Group]) -> str:
    """Δ loss, accuracy and the error of the sum by F and group."""
    by_group = [
        [
            means(of(points, group), value)
            for value in (difference, lambda row: row["accuracy"], lambda row: row["sum_error"])
        ]
        for group in groups
    ]
    rows = []
    for F in sorted({row["F"] for row in points}):
        cells = [str(F)]
        for loss, accuracy, error in by_group:
            cells += [_cell(loss.get(F), "{:+.3f}"), _cell(accuracy.get(F), "{:.1%}"), _cell(error.get(F), "{:.1e}")]
        rows.append(cells)
    header = ["F", *(f"{named(group)}: {what}" for group in groups for what in ("Δ loss", "accuracy", "error of the sum"))]
    return markdown.table(header, rows)


def _cell(value: float | None, shape: str) -> str:
    return "–" if value is None else shape.format(value)


def enough(found: Mapping[int, float], limit: float) -> int | None:
    """The smallest F from which on a value stays below a limit; None where it does not at the largest."""
    bits = None
    for F in sorted(found, reverse=True):
        if found[F] > limit:
            break
        bits = F
    return bits


def findings(points: Sequence[Row], groups: Sequence[Group], spread: float) -> list[str]:
    """For each group, from which F on the loss is fp32's, as far as seeds tell, and the sum better than its operands."""
    lines = []
    for group in groups:
        rows = of(points, group)
        loss = enough(means(rows, difference), spread)
        ratio = means(rows, lambda row: row["sum_error"] and row["sum_error"] / row["quantisation_error"])
        error, first, same = enough(ratio, 1.0), min(row["F"] for row in rows), unchanged(rows)
        lines.append(
            f"{named(group)}: Δ loss is within one standard deviation of seeds {_from(loss, first)}, and the sum's error "
            f"below that of quantisation {_from(error, first)}. Trainings are the same, bit for bit, {_from(same, first)}."
        )
    return lines


def unchanged(rows: Sequence[Row]) -> int | None:
    """The smallest F from which on further bits change no loss of any seed; None where the largest two differ."""
    losses = {F: sorted((row["seed"], row["loss"]) for row in rows if row["F"] == F) for F in {row["F"] for row in rows}}
    same = enough({F: float(losses[F] != losses[max(losses)]) for F in losses}, 0.0)
    return None if same == max(losses) else same


def _from(F: int | None, first: int) -> str:
    if F is None:
        return "for no F here"
    return f"from F = {F} on" + (", the smallest here" if first == F else "")


def reference_table(rows: Sequence[Row]) -> str:
    """The instructions of the catalogue, with and without promotion."""
    cells = []
    for unit in dict.fromkeys(row["unit"] for row in rows):
        for every in sorted({group_of(row)[1] for row in rows}):
            each = [row for row in rows if row["unit"] == unit and group_of(row)[1] == every]
            values = (
                (difference, "{:+.3f}"), (lambda row: row["accuracy"], "{:.1%}"), (lambda row: row["sum_error"], "{:.1e}"),
            )  # fmt: skip
            shown = [_cell(next(iter(means(each, value).values()), None), shape) for value, shape in values]
            cells.append([f"`{unit}`", PUBLISHED[unit.partition(":")[0]], str(every) if every else "never", *shown])
    header = ("instruction", "published", "promoted after steps", "Δ loss", "accuracy", "error of the sum")
    return markdown.table(header, cells)


def plot(points: Sequence[Row], groups: Sequence[Group], loss: float, spread: float) -> bytes:
    """Loss, with the range of the seeds, beside fp32's; and the error of the sum beside that of quantisation."""
    return figures.panels([partial(_losses, points, groups, loss, spread), partial(_sums, points, groups)], width=5.2)


def _losses(points: Sequence[Row], groups: Sequence[Group], loss: float, spread: float, axes: "Axes") -> None:
    axes.axhspan(loss - spread, loss + spread, color="#888888", alpha=0.25, label="fp32: mean ± standard deviation")
    for number, group in enumerate(groups):
        rows = of(points, group)
        mean = means(rows, lambda row: row["loss"])
        each = {F: [row["loss"] for row in rows if row["F"] == F] for F in mean}
        sides = [[mean[F] - min(each[F]) for F in mean], [max(each[F]) - mean[F] for F in mean]]
        places = [F + 0.12 * (number - (len(groups) - 1) / 2) for F in mean]
        axes.errorbar(places, list(mean.values()), yerr=sides, fmt="o-", markersize=3, capsize=2, label=named(group))
    _finish(axes, points)
    axes.set(xlabel="fraction bits F", ylabel="test loss (nats)", title="Loss: mean and range of the seeds")
    axes.legend(fontsize="x-small")


def _sums(points: Sequence[Row], groups: Sequence[Group], axes: "Axes") -> None:
    for group in groups:
        error = {F: value for F, value in means(of(points, group), lambda row: row["sum_error"]).items() if value > 0}
        axes.plot(list(error), list(error.values()), "o-", markersize=3, label=named(group))
    quantisation = fmean(row["quantisation_error"] for row in points)
    axes.axhline(quantisation, color="#888888", linestyle=":", label="quantisation of the operands")
    axes.set_yscale("log")
    _finish(axes, points)
    axes.set(xlabel="fraction bits F", ylabel="relative error (rms)", title="Error of sums of 4,096 products")
    axes.legend(fontsize="x-small")


def _finish(axes: "Axes", points: Sequence[Row]) -> None:
    even = [F for F in sorted({row["F"] for row in points}) if F % 2 == 0]
    axes.set_xticks(even, list(map(str, even)))
    axes.grid(alpha=0.3)
