"""Table 10 of paper 000: designs that put accuracy at risk, found from an operation's parameters alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from golden.chain import Chain
from golden.formats import FP32
from golden.operations import Operation

INPUT_FTZ = "input FTZ"
SMALL_F = "small F"
LOW_PRECISION_RHO = "ρ below FP32"
ASYMMETRY = "asymmetry"

RISKS: Mapping[str, str] = {
    INPUT_FTZ: "subnormal operands count as zeros, in a format whose smallest normal number lies above that of FP32",
    SMALL_F: "the fused summation keeps fewer fraction bits than FP32 has",
    LOW_PRECISION_RHO: "the output conversion keeps fewer fraction bits than FP32 has",
    ASYMMETRY: "terms, or the sum, are rounded in a direction that depends on the sign: RD or RU, or the "
    "one's complement of a step that begins from a zero, which is +0 whatever the signs of the products before",
}
"""Each risk with its rule."""


@dataclass(frozen=True)
class Risk:
    """A risky design of an operation: which, and by which parameter."""

    name: str
    parameter: str


def risks(operation: Operation) -> list[Risk]:
    """The risky designs of an operation, from its parameters."""
    found = []
    structure, last = operation.structure, operation.structure.last
    if any(operand in structure.flushed and operand.e_min > FP32.e_min for operand in (operation.a, operation.b)):
        found.append(Risk(INPUT_FTZ, f"{operation.name} of {operation.a}"))
    F, h = last.terms[-1].F, structure.headroom
    if F is not None and FP32.man_bits > F - (h or 0):
        found.append(Risk(SMALL_F, f"F = {F}" if h is None else f"F = {F}, h = {h}"))
    if last.truncation == "RD":
        found.append(Risk(ASYMMETRY, "truncation = RD" if h is None else f"{operation.name} rounds down"))
    if structure.rho is not None:
        rho = structure.rho
        if min(rho.rounding_format.man_bits, rho.d.man_bits) < FP32.man_bits:
            found.append(Risk(LOW_PRECISION_RHO, f"ρ = {rho.name}"))
        if rho.mode in ("RD", "RU"):
            found.append(Risk(ASYMMETRY, f"ρ = {rho.name}"))
    return found


def risks_of_chain(chain: Chain, K: int) -> list[Risk]:
    """Those of the operation that the chain runs, a converted chain's operands are fp16 by then, and of its steps."""
    operation = chain.operation
    found = risks(operation)
    if operation.structure.last.in_frame and operation.length < K:
        found.append(Risk(ASYMMETRY, f"{operation.name} in {K // operation.length} steps"))
    return found
