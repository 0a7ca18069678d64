"""python -m studies.model FOLDER: run the model under every arithmetic and write model.md and model.svg."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golden.files import write_atomically
from mmau.report.figures import COLOURS, panels
from mmau.report.markdown import document, table
from studies.model.arithmetics import Outcome, outcomes
from studies.model.transformer import Size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEED = 1

TEXT = """\
`make model` writes this page. A transformer of {layers} layers, width {width}, hidden width {hidden} and {heads} heads, its
weights in bf16 drawn from a seed, reads {prompt} tokens and writes {written}, the likeliest each time. All but the matrix
products is the same in all rows: the differences are those of the parts' arithmetic, and of the order in which K is
spent. The parts are models of the catalogue; nothing ran on silicon."""

READING = """\
Logits of the prompt: the share whose bits differ from the first row's, and the largest distance to those of the same
model with products in fp64. Tokens: the first one written that is another than the first row's. The split-K of cuBLAS
rounds the parts of each linear layer to bf16. FP8 quantises linear layers to e4m3, with a power of two for each row and
column; without promotion a sum of all K products keeps 13 fraction bits."""


def page(size: Size, found: list[Outcome]) -> str:
    """The page."""
    rows = [
        [outcome.name, f"{outcome.differing:.1%}", f"{outcome.furthest:.2g}",
         "none" if outcome.first is None else f"{outcome.first + 1} of {size.written}"]
        for outcome in found
    ]  # fmt: skip
    return document(
        "A model under several arithmetics",
        TEXT.format(**vars(size)),
        table(["arithmetic", "logits with other bits", "furthest from fp64", "first other token"], rows, (1, 2, 3)),
        READING,
        "![Distances of logits to those in fp64](model.svg)",
    )


def picture(distances: dict[str, Any]) -> bytes:
    """The shares of logits within a distance, a line for each arithmetic."""

    def fill(axes: "Axes") -> None:
        for number, (name, away) in enumerate(distances.items()):
            share = np.arange(1, len(away) + 1) / len(away)
            every = max(1, len(away) // 200)
            axes.semilogx(np.sort(away)[::every], share[::every], label=name, color=COLOURS[number % len(COLOURS)])
        axes.set(xlabel="distance of a logit to that in fp64", ylabel="share within", xlim=(1e-4, None))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")

    return panels([fill], 7.0)


def write(folder: Path, size: Size, seed: int) -> None:
    """Run the model and write its page and picture; the folder is made first, and not after the minutes that this takes."""
    folder.mkdir(parents=True, exist_ok=True)
    results, away = outcomes(size, seed)
    write_atomically(folder / "model.md", page(size, results).encode())
    write_atomically(folder / "model.svg", picture(away))


if __name__ == "__main__":
    write(Path(sys.argv[1]), Size(), SEED)
