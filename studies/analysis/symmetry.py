"""Which instructions are not symmetric, and the smallest input of each that shows it."""

from golden.instruction import Instruction
from mmau.analysis.exact_value import Arithmetic
from mmau.analysis.input_row import value_of
from mmau.analysis.risks import ASYMMETRY, risks_of_chain
from mmau.analysis.side_by_side import shown
from mmau.analysis.symmetry import Asymmetry, search
from mmau.report import markdown
from studies.analysis import PAPER
from studies.analysis.distinct_arithmetics import arithmetics, numbers
from studies.pages import Files, made_by

ROWS = 300
"""Rows of the stimulus for each arithmetic."""


def page(seed: int) -> Files:
    """Which units are asymmetric, beside the paper's table 10."""
    found = {i: search(Arithmetic.of_instruction(i), ROWS, seed) for i in arithmetics()}
    examples = {i: described(i, example) for i, (example, _) in found.items() if example is not None}
    rows = [(f"`{i.arch} {i.name}`", i.operation.name, *example) for i, example in examples.items()]
    wrong = [i.name for i in found if (i in examples) != predicted(i)]
    verdict = "agrees with what was found for every one of them" if not wrong else f"is wrong for {', '.join(wrong)}"
    tried = sum(count for _, count in found.values())
    architectures = ", ".join(dict.fromkeys(f"`{i.arch}`" for i in examples))
    text = markdown.document(
        "Symmetry",
        made_by("analysis-symmetry"),
        f"A unit is symmetric where Φ(−A, B, −C) = −Φ(A, B, C) for every input. {PAPER}, section 6.2.4 and table 10, finds "
        "AMD CDNA3's BF16, FP16 and FP8 instructions asymmetric, for they round down.",
        f"{len(found)} distinct arithmetics of the catalogue were searched, {tried:,} rows in all, seed {seed}; zeros of "
        f"both signs count as one. {len(examples)} are asymmetric, all of {architectures}. What "
        f"`mmau.analysis.risks` says from the parameters alone {verdict}.",
        "Each with the smallest input that was found: fewest terms, then simplest values. Elements that are not named "
        "are 0.",
        markdown.table(("instruction", "operation", "input", "d", "d of −A and −C"), rows),
    )
    return {"symmetry.md": text.encode()}


def described(i: Instruction, example: Asymmetry) -> tuple[str, str, str]:
    """The input and both results."""
    d, mirrored = (shown(value_of(code, i.d)) for code in (example.d, example.mirrored))
    return numbers(Arithmetic.of_instruction(i), example.row), d, mirrored


def predicted(i: Instruction) -> bool:
    """Whether its parameters make an instruction asymmetric."""
    return any(risk.name == ASYMMETRY for risk in risks_of_chain(i.chain, i.k))
