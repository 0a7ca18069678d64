"""Which instructions are not monotonic, and the smallest input of each that shows it."""

import json

from golden.instruction import Instruction
from mmau.analysis.exact_value import Arithmetic
from mmau.analysis.input_row import value_of
from mmau.analysis.monotonicity import Fall, search
from mmau.analysis.side_by_side import shown
from mmau.report import markdown
from studies.analysis import PAPER
from studies.analysis.distinct_arithmetics import arithmetics, numbers
from studies.pages import Files, made_by

ROWS = 20
"""Rows of the stimulus for each arithmetic."""


def page(seed: int) -> Files:
    """Which units are not monotonic, and the smallest input of each that shows it."""
    found = {i: search(Arithmetic.of_instruction(i), ROWS, seed) for i in arithmetics()}
    examples = {i: described(i, fallen) for i, (fallen, _) in found.items() if fallen is not None}
    alike: dict[tuple[str, ...], list[str]] = {}
    for i, example in examples.items():
        alike.setdefault((i.operation.name, *example), []).append(f"{i.arch} {i.name}")
    rows = [(f"`{names[0]}`" + (f" and {len(names) - 1} more" if names[1:] else ""), *key) for key, names in alike.items()]
    quiet: dict[str, list[int]] = {}
    for i, (fallen, tried) in found.items():
        if fallen is None:
            keys = [f"{key}={i.operation.parameters()[key]}" for key in ("F", "rho") if key in i.operation.parameters()]
            quiet.setdefault(" ".join([i.operation.name, *keys]), []).append(tried)
    none_found = [(name, str(len(counts)), f"{sum(counts):,}") for name, counts in quiet.items()]
    on_volta = next(example for i, example in examples.items() if i.arch == "sm_70")
    text = markdown.document(
        "Monotonicity",
        made_by("analysis-monotonicity"),
        "A sum is monotonic where raising an operand never lowers it. M. Fasi et al. (*Numerical behavior of NVIDIA tensor "
        "cores*, PeerJ CS 7:e330) found that the tensor cores of V100, T4 and A100 are not. Their example for Volta: c = "
        "1 − 2^−24 with four products 2^−24 gives 1 + 2^−23, and c = 1 gives 1.",
        f"Here every distinct arithmetic of the catalogue was searched ({len(found)}, seed {seed}): first rows with a term "
        "just below a power of two beside small products, fewest products first; then rows of the stimulus with c and "
        f"elements of A and B raised to the next number. {len(examples)} are not monotonic. Each with the smallest input "
        f"found: fewest terms, then simplest values; on Volta that has {on_volta[0]} products. Elements that are not "
        "named are 0. [monotonicity.json](monotonicity.json) has every one by name.",
        markdown.table(("instruction", "operation", "products", "input", "raised", "d falls from"), rows),
        "Where none was found:",
        markdown.table(("operation", "arithmetics", "cases tried"), none_found),
        "FMA, E-FDPA, FTZ-AddMul and the processors' operations are monotonic by what they are, for each rounds an exact "
        "sum, or one after the other, and rounding is monotonic. For the others a search that finds nothing proves nothing. "
        f"The models are those of {PAPER}.",
    )
    columns = ("products", "input", "raised", "d")
    table = {f"{i.arch} {i.name}": dict(zip(columns, example, strict=True)) for i, example in examples.items()}
    return {"monotonicity.md": text.encode(), "monotonicity.json": (json.dumps(table, indent=1) + "\n").encode()}


def described(i: Instruction, example: Fall) -> tuple[str, str, str, str]:
    """How many products, the input, what is raised, and what the result does."""
    arithmetic = Arithmetic.of_instruction(i)
    operand = i.c if example.place.name == "c" else i.a
    return (
        str(sum(1 for p, q in zip(example.row.a, example.row.b, strict=True) if p and q)),
        numbers(arithmetic, example.row),
        f"{example.place} to {shown(value_of(example.raised, operand))}",
        f"{shown(value_of(example.d, i.d))} to {shown(value_of(example.after, i.d))}",
    )
