"""Table 10 of paper 000: designs that put accuracy at risk, found from an operation's parameters alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import golden
from analysis.page import PAPER, Page, document, markdown_table
from golden.catalogue import PROCESSORS, marketing_names
from golden.chain import Chain, ConvertedChain
from golden.formats import FP32
from golden.instruction import Instruction
from golden.operations import FTZAddMul, Operation
from golden.operations.fused import FusedOperation
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA

INPUT_FTZ = "input FTZ"
SMALL_F = "small F"
LOW_PRECISION_RHO = "ρ below FP32"
ASYMMETRY = "asymmetry"

RISKS: Mapping[str, str] = {
    INPUT_FTZ: "subnormal operands count as zeros, in a format whose smallest normal number lies above that of FP32",
    SMALL_F: "the fused summation keeps fewer fraction bits than FP32 has",
    LOW_PRECISION_RHO: "the output conversion keeps fewer fraction bits than FP32 has",
    ASYMMETRY: "terms, or the sum, are rounded in a direction that depends on the sign: RD or RU",
}
"""Each risk with its rule."""

TYPES: Mapping[str, str] = {
    "tf32": "TF32", "bf16": "BF16", "fp16": "FP16", "e4m3": "FP8", "e5m2": "FP8", "e4m3fnuz": "FP8", "e5m2fnuz": "FP8",
    "e3m2": "FP6", "e2m3": "FP6", "e2m1": "FP4", "fp32": "FP32", "fp64": "FP64",
}  # fmt: skip
"""Formats by the paper's names of types."""


@dataclass(frozen=True)
class Risk:
    """A risky design of an operation: which, and by which parameter."""

    name: str
    parameter: str


def risks(operation: Operation) -> list[Risk]:
    """The risky designs of an operation, from its parameters."""
    found = []
    flushes = isinstance(operation, FTZAddMul) or (isinstance(operation, FusedOperation) and operation.flush_inputs)
    if flushes and max(operation.a.e_min, operation.b.e_min) > FP32.e_min:
        found.append(Risk(INPUT_FTZ, f"{operation.name} of {operation.a}"))
    if isinstance(operation, (TruncatedFDPA, RoundedFDPA)):
        if FP32.man_bits > operation.F:
            found.append(Risk(SMALL_F, f"F = {operation.F}"))
        if operation.truncation == "RD":
            found.append(Risk(ASYMMETRY, "truncation = RD"))
    if isinstance(operation, FusedOperation):
        rho = operation.conversion
        if rho.rounding_format.man_bits < FP32.man_bits:
            found.append(Risk(LOW_PRECISION_RHO, f"ρ = {rho.name}"))
        if rho.mode in ("RD", "RU"):
            found.append(Risk(ASYMMETRY, f"ρ = {rho.name}"))
    return found


def risks_of_chain(chain: Chain | ConvertedChain) -> list[Risk]:
    """Those of the operation that the chain runs: a converted chain's operands are fp16 by then."""
    return risks(chain.operation)


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
        if i.arch not in PROCESSORS:
            types = " × ".join(dict.fromkeys((TYPES[i.a.name], TYPES[i.b.name])))
            for risk in risks_of_chain(i.chain):
                found[Affected(risk, i.arch, types, i.name.split(".")[0].partition("_f")[0])] = None
    return list(found)


FP8_TYPES = frozenset({"FP8"})

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


def found_for(line: str) -> frozenset[tuple[str, str]]:
    """Architectures and single input types that a line's risk is found for in the catalogue."""
    return frozenset(
        (one.arch, types)
        for one in affected(golden.instructions())
        if line in (one.risk.name, one.risk.parameter)
        for types in one.types.split(" × ")
    )


def page(seed: int) -> Page:
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
    text = document(
        "Risky designs",
        "analysis-risks",
        f"Table 10 of {PAPER}, found from the parameters alone by `analysis.risks`, for any unit:",
        markdown_table(("risk", "rule"), list(RISKS.items())),
        "Beside the paper's table:",
        markdown_table(("risky design", "affected, paper", "affected, here", "here alone", "paper alone"), rows),
        "CDNA3's TF32 instructions (`xf32`) round down as its BF16 and FP16 ones do: the paper's section 6.2.4 names them, "
        "its table does not.",
        "Everything that is found, by the parameter that makes it:",
        markdown_table(("risk", "parameter", "architecture", "input types (family)"), all_rows),
    )
    return Page({"risks.md": text})


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    by_arch: dict[str, list[str]] = {}
    for arch, types in pairs:
        by_arch.setdefault(arch, []).append(types)
    order = [arch for arch in golden.ARCHITECTURES if arch in by_arch]
    return "; ".join(f"{marketing_names(arch)[0]}: {', '.join(sorted(by_arch[arch]))}" for arch in order)
