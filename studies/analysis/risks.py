"""Table 10 of paper 000 beside the risky designs that `mmau.analysis.risks` finds from parameters alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import golden
from golden.catalogue import PROCESSORS, marketing_names
from golden.formats import INTEGERS
from golden.instruction import Instruction
from mmau.analysis.risks import ASYMMETRY, INPUT_FTZ, RISKS, SMALL_F, Risk, risks_of_chain
from mmau.report import markdown
from studies.analysis import PAPER
from studies.pages import Files, made_by

TYPES: Mapping[str, str] = {
    "tf32": "TF32", "bf16": "BF16", "fp16": "FP16", "e4m3": "FP8", "e5m2": "FP8", "e4m3fnuz": "FP8", "e5m2fnuz": "FP8",
    "e3m2": "FP6", "e2m3": "FP6", "e2m1": "FP4", "fp32": "FP32", "fp64": "FP64",
}  # fmt: skip
"""Formats by the paper's names of types."""


@dataclass(frozen=True)
class Affected:
    """Instructions of one architecture, input and output type that share a risk."""

    risk: Risk
    arch: str
    types: str
    family: str


def affected(instructions: Iterable[Instruction]) -> list[Affected]:
    """Each risk of each architecture, type and instruction family, once, in the catalogue's order."""
    found: dict[Affected, None] = {}
    for i in instructions:
        if i.arch not in PROCESSORS and i.a.name not in INTEGERS:  # whose sums are exact
            types = " × ".join(dict.fromkeys((TYPES[i.a.name], TYPES[i.b.name])))
            for risk in risks_of_chain(i.chain, i.k):
                found[Affected(risk, i.arch, types, i.name.split(".")[0].partition("_f")[0])] = None
    return list(found)


PAPER_TABLE_10: tuple[tuple[str, str, frozenset[tuple[str, str]]], ...] = (
    (INPUT_FTZ, "AMD CDNA2, FP16 input", frozenset({("gfx90a", "FP16")})),
    (SMALL_F, "NVIDIA Ada Lovelace and Hopper, FP8 input", frozenset({("sm_89", "FP8"), ("sm_90", "FP8")})),
    (
        "ρ = RZ-E8M13", "NVIDIA Ada Lovelace and Hopper, FP8 input", frozenset({("sm_89", "FP8"), ("sm_90", "FP8")}),
    ),
    (
        "ρ = RNE-FP16", "All NVIDIA architectures, FP16 output",
        frozenset({
            *((arch, "FP16") for arch in ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120")),
            *((arch, "FP8") for arch in ("sm_89", "sm_90", "sm_100", "sm_120")),
            *((arch, types) for arch in ("sm_100", "sm_120") for types in ("FP6", "FP4")),
        }),
    ),
    (ASYMMETRY, "AMD CDNA3, BF16/FP16/FP8 input", frozenset({("gfx942", "BF16"), ("gfx942", "FP16"), ("gfx942", "FP8")})),
)  # fmt: skip
"""The paper's lines: what it calls the risk, whom it says to be affected, and these as architecture and input type."""


RDNA = ("gfx1100", "gfx1151", "gfx1201")
"""Architectures that the paper does not examine."""


def found_for(line: str) -> frozenset[tuple[str, str]]:
    """Architectures and single input types that a line's risk is found for in the catalogue, among the paper's."""
    return frozenset(
        (one.arch, types)
        for one in affected(golden.instructions())
        if line in (one.risk.name, one.risk.parameter) and one.arch not in RDNA
        for types in one.types.split(" × ")
    )


def page(seed: int) -> Files:
    """Table 10 beside what the rules find. There is nothing random in it."""
    rows = []
    for line, whom, published in PAPER_TABLE_10:
        found = found_for(line)
        rows.append((line, whom, _listed(found), _listed(found - published) or "–", _listed(published - found) or "–"))
    where: dict[tuple[Risk, str], dict[str, None]] = {}
    for one in affected(golden.instructions()):
        where.setdefault((one.risk, one.arch), {})[f"{one.types} (`{one.family}`)"] = None
    all_rows = [
        (risk.name, risk.parameter, f"{marketing_names(arch)[0]} `{arch}`", ", ".join(types))
        for (risk, arch), types in sorted(where.items(), key=lambda item: list(RISKS).index(item[0][0].name))
    ]
    text = markdown.document(
        "Risky designs",
        made_by("analysis-risks"),
        f"Table 10 of {PAPER}, found from the parameters alone by `mmau.analysis.risks`, for any unit:",
        markdown.table(("risk", "rule"), list(RISKS.items())),
        "Beside the paper's table:",
        markdown.table(("risky design", "affected, paper", "affected, here", "here alone", "paper alone"), rows),
        "CDNA3's TF32 instructions (`xf32`) round down as its BF16 and FP16 ones do: the paper's section 6.2.4 names them, "
        "its table does not.",
        "Everything that is found, by the parameter that makes it:",
        markdown.table(("risk", "parameter", "architecture", "input types (family)"), all_rows),
    )
    return {"risks.md": text.encode()}


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    by_arch: dict[str, list[str]] = {}
    for arch, types in pairs:
        by_arch.setdefault(arch, []).append(types)
    order = [arch for arch in golden.ARCHITECTURES if arch in by_arch]
    return "; ".join(f"{marketing_names(arch)[0]}: {', '.join(sorted(by_arch[arch]))}" for arch in order)
