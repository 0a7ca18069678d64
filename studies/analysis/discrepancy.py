"""Table 8 of paper 000: one input, and what the instructions of each architecture make of it."""

from collections.abc import Mapping
from functools import cache

import golden
from golden.catalogue import marketing_names
from mmau.analysis.input_row import Input
from mmau.analysis.side_by_side import Comparison, Result, compare, shown
from mmau.report import markdown
from studies.analysis import PAPER
from studies.pages import Files, made_by

EQUATION_10 = Input(a=(-(2.0**13), -0.5, -0.25, -0.125), b=(2.0**10, 1.0, 1.0, 1.0), c=2.0**23)
"""The paper's input; its exact result is −0.875."""

COLUMNS: Mapping[str, frozenset[str]] = {
    "TF32/BF16": frozenset({"tf32", "bf16"}),
    "FP16": frozenset({"fp16"}),
    "FP8": frozenset({"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"}),
    "FP64/FP32": frozenset({"fp64", "fp32"}),
}
"""The paper's columns by the formats of A and B; the last is its caption's. Of FP8, E5M2 alone holds the input."""

PAPER_TABLE_8: Mapping[str, tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]] = {
    "sm_70": ((), (0.0,), ()),
    "sm_75": ((), (-0.5,), ()),
    "sm_80": ((-0.5,), (-0.5,), ()),
    "sm_89": ((-0.5,), (-0.5,), (0.0,)),
    "sm_90": ((-0.75,), (-0.75,), (0.0,)),
    "sm_100": ((-0.75,), (-0.75,), (-0.75,)),
    "sm_120": ((-0.75,), (-0.75,), (-0.75,)),
    "gfx908": ((-0.875,), (-0.875,), ()),
    "gfx90a": ((-0.375, 0.0), (0.0,), ()),
    "gfx942": ((-0.5,), (-0.5,), (-1.0,)),
}
"""Table 8: the results in the first three columns; empty where the architecture has no such instruction."""

PAPER_FP64_FP32 = -0.875
"""The caption of table 8: the result of all FP64 and FP32 instructions."""


@cache
def equation_10() -> Comparison:
    """The paper's input on every instruction of its architectures."""
    return compare(EQUATION_10, [i for i in golden.instructions() if i.arch in PAPER_TABLE_8])


def cell(arch: str, column: str) -> dict[float, list[Result]]:
    """The results of an architecture's unscaled instructions of a column, each with what gives it."""
    found: dict[float, list[Result]] = {}
    for result in equation_10().results:
        i = result.instruction
        if i.arch == arch and {i.a.name, i.b.name} <= COLUMNS[column] and i.scale is None:
            found.setdefault(result.value, []).append(result)
    return found


def beyond_paper(arch: str, column: str, published: tuple[float, ...]) -> dict[float, list[Result]]:
    """Results of a cell that the paper's table lacks."""
    return {value: found for value, found in cell(arch, column).items() if value not in published}


@cache
def shortest() -> Comparison:
    """The same on one instruction, that of fewest products, for each result of an architecture's operation and formats."""
    found: dict[object, Result] = {}
    for result in equation_10().results:
        i = result.instruction
        key = (i.arch, i.a, i.operation.name, result.value)
        if key not in found or i.k < found[key].instruction.k:
            found[key] = result
    return compare(EQUATION_10, [result.instruction for result in found.values()])


def page(seed: int) -> Files:
    """Table 8 beside the paper's. There is nothing random in it."""
    columns = list(COLUMNS)[:3]
    rows, notes = [], []
    for arch, published in PAPER_TABLE_8.items():
        row = [f"{marketing_names(arch)[0]} `{arch}`"]
        for column, paper in zip(columns, published, strict=True):
            row += [_values(paper), _values(tuple(cell(arch, column)))]
            for value, results in beyond_paper(arch, column, paper).items():
                names = ", ".join(f"`{name}`" for result in results for name in result.names[:2])
                notes.append(
                    f"- `{arch}`, {column}: {shown(value)} comes of {names}, which the paper's table does not have."
                )
        rows.append(row)
    header = ["architecture", *(f"{column}, {whose}" for column in columns for whose in ("paper", "here"))]
    fused = {value for arch in PAPER_TABLE_8 for value in cell(arch, "FP64/FP32")}
    text = markdown.document(
        "One input, many results",
        made_by("analysis-discrepancy"),
        f"Table 8 of {PAPER}, its section 5: d of one dot product, c = 2^23, a = (−2^13, −0.5, −0.25, −0.125, 0 …) and "
        "b = (2^10, 1, 1, 1, 0 …). The exact sum is −0.875.",
        markdown.table(header, rows),
        f"All FP64 and FP32 instructions give {_values(tuple(fused))}; the paper has {shown(PAPER_FP64_FP32)}.",
        "\n".join(notes),
        "Why they differ: each row names what its terms and roundings lost, of the shortest instruction that has it. "
        "[discrepancy-steps.html](discrepancy-steps.html) is the same with every step of each, "
        "and `mmau compare` makes both of any input:",
        "```sh\nmmau compare --a=-2^13,-0.5,-0.25,-0.125 --b=2^10,1,1,1 --c=2^23 --html discrepancy-steps.html\n```",
        "```text\n" + shortest().text().rstrip() + "\n```",
    )
    return {"discrepancy.md": text.encode(), "discrepancy-steps.html": shortest().html("One input, many results").encode()}


def _values(values: tuple[float, ...]) -> str:
    return " or ".join(shown(value) for value in sorted(values)) or "–"
