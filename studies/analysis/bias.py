"""Figure 3 of paper 000: CDNA3 rounds its fused sums down, so that its results lie below the exact ones on average."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import golden
from golden.arrays import bits_dtype, float_dtype
from golden.checks import check_least
from golden.formats import Format
from golden.instruction import Instruction
from golden.operations import Operation
from golden.unit import Unit
from mmau.report import figures, markdown
from studies.analysis import PAPER
from studies.pages import Files, made_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values = npt.NDArray[np.float64]

INSTRUCTION = ("gfx942", "v_mfma_f32_32x32x8_f16")
"""The paper's."""

SPREAD = 1000.0
"""Standard deviation of the elements of A and B; that of C is 1."""

TILES = 200
"""32×32 results each."""

BINS = 81

CONFIDENCE = 0.99

PAPER_FIGURE_3 = (
    "with RD biased toward the negative direction, with RZ symmetric (section 6.2.4, figure 3; no figures are given)"
)


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """Statistics of many results.

    Elements of one tile share rows of A and columns of B, so that they are no independent draws: the interval is that of the
    tiles' means, which are.

    Attributes:
        results, tiles: how many. mean: of d − exact. low, high: its confidence interval (`CONFIDENCE`).
        rms: root of the mean square. below, above: shares of the results that lie below and above the exact ones.
    """

    results: int
    tiles: int
    mean: float
    low: float
    high: float
    rms: float
    below: float
    above: float

    @property
    def is_biased(self) -> bool:
        """Whether the interval leaves zero out."""
        return not self.low <= 0 <= self.high


def statistic(deviations: Values) -> Statistic:
    """Of deviations [tiles, …].

    Raises:
        ValueError: fewer than two tiles.
    """
    check_least("tiles", len(deviations), 2)
    means = deviations.reshape(len(deviations), -1).mean(axis=1)
    mean = float(means.mean())
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * float(means.std(ddof=1)) / math.sqrt(len(means))
    return Statistic(
        results=deviations.size, tiles=len(deviations), mean=mean, low=mean - half, high=mean + half,
        rms=float(np.sqrt((deviations**2).mean())), below=float((deviations < 0).mean()),
        above=float((deviations > 0).mean()),
    )  # fmt: skip


@dataclass(frozen=True)
class Tiles:
    """Matrices as floats of the operands' own formats: a [tiles, m, k], b [tiles, n, k] (columns), c [tiles, m, n]."""

    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    c: npt.NDArray[Any]

    def exact_minus(self, d: npt.NDArray[Any]) -> Values:
        """d − (A·B + C), each rounded to fp64 once: `math.fsum` adds exact products exactly."""
        a, b = self.a.astype(np.float64), self.b.astype(np.float64)
        rest = d.astype(np.float64), -self.c.astype(np.float64)
        found = np.empty(d.shape)
        for tile, i, j in np.ndindex(*d.shape):
            products = (-a[tile, i] * b[tile, j]).tolist()  # of two fp16 or bf16 numbers: exact in fp64
            found[tile, i, j] = math.fsum((*products, float(rest[0][tile, i, j]), float(rest[1][tile, i, j])))
        return found


def native_dtype(operand: Format) -> np.dtype[Any]:
    """The float dtype of a format.

    Raises:
        ValueError: there is none, as of tf32.
    """
    floats = float_dtype(operand)
    if floats is None:
        raise ValueError(f"{operand} has no float dtype; take bit patterns")
    return floats


def drawn(i: Instruction, tiles: int, seed: int, spread: float = SPREAD) -> Tiles:
    """Matrices as the paper draws them: A and B normal with that deviation, C normal with deviation 1."""
    rng = np.random.default_rng(seed)
    a, b = (spread * rng.standard_normal((tiles, size, i.k)) for size in (i.m, i.n))
    c = rng.standard_normal((tiles, i.m, i.n))
    return Tiles(*(x.astype(native_dtype(operand)) for x, operand in ((a, i.a), (b, i.b), (c, i.c))))


def results(operation: Operation, tiles: Tiles) -> npt.NDArray[Any]:
    """D of each tile, as floats."""
    shape = (*tiles.c.shape, tiles.a.shape[-1])
    a, b = np.broadcast_to(tiles.a[:, :, None, :], shape), np.broadcast_to(tiles.b[:, None, :, :], shape)
    d: npt.NDArray[Any] = Unit(name="unit", operation=operation).dot(a, b, tiles.c)
    return d if d.dtype != bits_dtype(operation.d) else d.view(native_dtype(operation.d))


def deviations(operation: Operation, tiles: Tiles) -> Values:
    """d − exact of every element [tiles, m, n]."""
    return tiles.exact_minus(results(operation, tiles))


def histograms(series: Mapping[str, Values], x_label: str, title: str) -> bytes:
    """An SVG of distributions over common bins, from the smallest to the largest of all values but the outermost
    thousandth, a dotted line at each mean.

    Raises:
        ValueError: a distribution without values. ModuleNotFoundError: matplotlib is not installed.
    """
    if not series or any(values.size == 0 for values in series.values()):
        raise ValueError("a histogram needs at least one value of each distribution")
    every = np.concatenate(list(series.values()))
    edges = np.linspace(float(np.quantile(every, 0.0005)), float(np.quantile(every, 0.9995)), BINS + 1)

    def fill(axes: "Axes") -> None:
        for number, (name, values) in enumerate(series.items()):
            axes.hist(values, bins=edges.tolist(), histtype="step", label=name, color=f"C{number}")
            axes.axvline(float(values.mean()), color=f"C{number}", linestyle=":")
        axes.set(xlabel=x_label, ylabel="results", title=title)
        axes.legend()

    return figures.panels([fill], 7.0)


def page(seed: int) -> Files:
    """Figure 3, and the statistic of what it shows."""
    i = golden.instruction(*INSTRUCTION)
    tiles = drawn(i, TILES, seed)
    rounded = {mode: deviations(i.operation.changed(truncation=mode), tiles) for mode in ("RD", "RZ")}
    found = {mode: statistic(values) for mode, values in rounded.items()}
    header = ("rounding inside", "results", "mean of d − exact", f"{CONFIDENCE:.0%} interval", "rms", "below", "above")
    rows = [
        (
            f"{mode} ({'CDNA3' if mode == 'RD' else 'hypothetical'})", f"{one.results:,}", f"{one.mean:+.5f}",
            f"{one.low:+.5f} … {one.high:+.5f}", f"{one.rms:.4f}", f"{one.below:.2%}", f"{one.above:.2%}",
        )
        for mode, one in found.items()
    ]  # fmt: skip
    series = {f"{mode}: mean {one.mean:+.4f}": rounded[mode].ravel() for mode, one in found.items()}
    verdict = {mode: "leaves zero out" if one.is_biased else "holds zero" for mode, one in found.items()}
    text = markdown.document(
        "The bias of rounding down",
        made_by("analysis-bias"),
        f"Figure 3 of {PAPER}: {i.arch} `{i.name}`, which rounds down (RD) where it aligns its sum with c and where it cuts "
        "the normalised sum, beside a hypothetical instruction that rounds toward zero (RZ) there. A and B are drawn from "
        f"{SPREAD:.0f}·N(0, 1), C from N(0, 1); {TILES} tiles, seed {seed}. The deviation of each result from the exact one "
        "is computed exactly and rounded once.",
        "![Distributions of the deviation with RD and with RZ](bias.svg)",
        markdown.table(header, rows),
        f"The paper: {PAPER_FIGURE_3}. Here: the interval of the mean with RD {verdict['RD']}, with RZ it {verdict['RZ']}. "
        "The interval is that of the tiles' means, for the elements of one tile share operands. Dotted lines are the means.",
    )
    data = json.dumps({mode: asdict(one) for mode, one in found.items()}, indent=1) + "\n"
    figure = histograms(series, "d − exact", f"{i.name}: rounding inside the fused sum")
    return {"bias.md": text.encode(), "bias.svg": figure, "bias.json": data.encode()}
